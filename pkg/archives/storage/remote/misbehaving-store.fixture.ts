import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** How a fake S3 answers one request for bytes `start` to `end` of an object. */
export type Behaviour = (
  response: ServerResponse,
  request: IncomingMessage,
  part: { readonly start: number; readonly end: number },
) => void

export interface MisbehavingStore {
  readonly endpoint: string
  readonly port: number
  /** Requests so far. */
  readonly requests: number
  behave(behaviour: Behaviour): void
  stop(): void
}

/** Listens on a free port of 127.0.0.1 and serves one object under every name. */
export async function startMisbehavingStore(bytes: Buffer): Promise<MisbehavingStore> {
  let requests = 0
  let behaviour: Behaviour = serve(bytes)
  const server = createServer((request, response) => {
    requests += 1
    const [, start = '0', end = ''] = /bytes=(\d+)-(\d*)/.exec(request.headers.range ?? '') ?? []
    const last = bytes.length - 1
    const part = { start: Number(start), end: Math.min(end === '' ? last : Number(end), last) }
    behaviour(response, request, part)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    endpoint: `http://127.0.0.1:${port}`,
    port,
    get requests() {
      return requests
    },
    behave(next) {
      requests = 0
      behaviour = next
    },
    stop() {
      server.close()
      server.closeAllConnections()
    },
  }
}

/** Answers correctly. */
export const serve =
  (bytes: Buffer): Behaviour =>
  (response, request, part) => {
    writeHead(response, request, part, bytes.length)
    response.end(bytes.subarray(part.start, part.end + 1))
  }

/** Promises the rest, sends only some bytes of it, then does something else. */
export const serveSome =
  (bytes: Buffer, sentBytes: number, then: (response: ServerResponse) => void): Behaviour =>
  (response, request, part) => {
    writeHead(response, request, part, bytes.length)
    const end = Math.min(part.start + sentBytes, part.end + 1)
    const whole = end > part.end
    response.write(bytes.subarray(part.start, end), () => {
      if (whole) response.end()
      else then(response)
    })
  }

function writeHead(
  response: ServerResponse,
  { headers }: IncomingMessage,
  { start, end }: { start: number; end: number },
  sizeBytes: number,
): void {
  response.writeHead(headers.range === undefined ? 200 : 206, {
    ETag: '"one"',
    'Content-Length': end + 1 - start,
    ...(headers.range !== undefined && { 'Content-Range': `bytes ${start}-${end}/${sizeBytes}` }),
  })
}
