import { connect } from 'node:net'

/*
 * The load generator, a process of its own. Every connection sends its next request when the answer to the previous one is
 * complete. It understands no more of HTTP than it must, so that it costs far less than the servers.
 */

export interface Load {
  readonly port: number
  readonly path: string
  readonly connections: number
  readonly durationMs: number
  /** Values of the Authorization header, one after the other. Default: there is no such header. */
  readonly authorizations?: readonly string[]
}

export interface LoadResult {
  readonly requests: number
  readonly requestsPerSecond: number
  readonly p50Ms: number
  readonly p99Ms: number
  /** Problem, if any; the other figures are then meaningless. */
  readonly problem?: string
}

const bufferBytes = 256 * 1024
const maxLatencies = 2 ** 20
const latenciesMs = new Float64Array(maxLatencies)
const endOfHead = Buffer.from('\r\n\r\n')

function run({ port, path, connections, durationMs, authorizations }: Load): Promise<LoadResult> {
  const headers = authorizations?.map((value) => `Authorization: ${value}\r\n`) ?? ['']
  const sent = headers.map((header) =>
    Buffer.from(`GET ${path} HTTP/1.1\r\nHost: depot.test\r\n${header}\r\n`),
  )
  let next = 0
  const start = performance.now()
  const deadline = start + durationMs
  let requests = 0
  let open = connections
  let end = start
  let problem: string | undefined

  return new Promise((resolve) => {
    const closed = (): void => {
      open -= 1
      if (open > 0) return
      const sorted = latenciesMs.subarray(0, Math.min(requests, maxLatencies)).toSorted()
      const quantile = (share: number) => sorted[Math.floor(sorted.length * share)] ?? Number.NaN
      resolve({
        requests,
        requestsPerSecond: requests / ((end - start) / 1000),
        p50Ms: quantile(0.5),
        p99Ms: quantile(0.99),
        ...(problem !== undefined && { problem }),
      })
    }

    function openConnection(): void {
      let sentAt = 0
      let missingBytes = 0
      let head = ''
      const socket = connect({
        port,
        host: '127.0.0.1',
        noDelay: true,
        onread: { buffer: Buffer.allocUnsafeSlow(bufferBytes), callback: onRead },
      })

      function send(): void {
        sentAt = performance.now()
        socket.write(sent[next] as Buffer)
        next = (next + 1) % sent.length
      }

      function fail(reason: string): boolean {
        problem ??= `GET ${path}: ${reason}`
        socket.destroy()
        return false
      }

      /** Length of the body, of whose bytes `given` are here already. */
      function readHead(bytes: Buffer, given: number): boolean {
        const text = bytes.toString('latin1', 0, bytes.length - given)
        if (!text.startsWith('HTTP/1.1 200')) return fail(text.slice(0, text.indexOf('\r\n')))
        const length = /\r\ncontent-length: (\d+)/i.exec(text)?.[1]
        if (length === undefined) return fail('the answer has no Content-Length')
        missingBytes = Number(length) - given
        return true
      }

      function onRead(size: number, buffer: Uint8Array): boolean {
        if (missingBytes > 0) {
          missingBytes -= size
        } else {
          let bytes = Buffer.from(buffer.buffer, buffer.byteOffset, size)
          if (head !== '') bytes = Buffer.concat([Buffer.from(head, 'latin1'), bytes])
          const headEnd = bytes.indexOf(endOfHead)
          if (headEnd === -1) {
            head = bytes.toString('latin1')
            return true
          }
          head = ''
          if (!readHead(bytes, bytes.length - headEnd - endOfHead.length)) return false
        }
        if (missingBytes > 0) return true
        if (missingBytes < 0) return fail('more bytes than Content-Length says')
        end = performance.now()
        if (requests < maxLatencies) latenciesMs[requests] = end - sentAt
        requests += 1
        if (end < deadline) send()
        else socket.destroy()
        return true
      }

      socket.on('connect', send)
      socket.on('error', (error) => fail(error.message))
      socket.on('end', () => fail('the server closed the connection'))
      socket.on('close', closed)
    }

    for (let index = 0; index < connections; index++) openConnection()
  })
}

process.on('message', (load: Load) => {
  void run(load).then((result) => process.send?.(result))
})
process.on('disconnect', () => process.exit())
