import { once } from 'node:events'
import { connect, type Socket } from 'node:net'

/** An answer as it came over the wire, in which the Date is left out. */
export interface RawAnswer {
  readonly status: number
  readonly text: string
}

/** A connection for requests that are written byte by byte; answers come back in the order of the requests. */
export class RawConnection {
  readonly #port: number
  #socket: Socket | undefined
  #received = ''
  #wake: (() => void) | undefined

  constructor(port: number) {
    this.#port = port
  }

  /** @param requests as they are to be sent, together with their methods */
  async send(
    requests: readonly { readonly method: string; readonly text: string }[],
  ): Promise<RawAnswer[]> {
    const socket = await this.#open()
    socket.write(requests.map(({ text }) => text).join(''), 'latin1')
    const answers: RawAnswer[] = []
    for (const { method } of requests) {
      const answer = await this.#next(method)
      if (answer === undefined) break
      answers.push(answer)
    }
    return answers
  }

  /** Sends what ends a connection on one of its own. @returns everything that came back until it was closed */
  async sendLast(text: string): Promise<string> {
    const socket = connect(this.#port, '127.0.0.1')
    let received = ''
    socket.setEncoding('latin1').on('data', (chunk: string) => {
      received += chunk
    })
    // A server that closes while it is sent something resets the connection.
    socket.on('error', () => {})
    socket.write(text, 'latin1')
    await once(socket, 'close')
    return received.replaceAll(/\r\nDate: [^\r]+/g, '')
  }

  close(): void {
    this.#socket?.destroy()
  }

  async #open(): Promise<Socket> {
    if (this.#socket?.writable) return this.#socket
    this.#socket?.destroy()
    const socket = connect(this.#port, '127.0.0.1')
    this.#socket = socket
    this.#received = ''
    socket.setEncoding('latin1')
    socket.on('data', (chunk: string) => {
      if (this.#socket !== socket) return
      this.#received += chunk
      this.#wake?.()
    })
    const ended = (): void => {
      if (this.#socket === socket) this.#socket = undefined
      this.#wake?.()
    }
    socket.on('end', ended).on('close', ended).on('error', ended)
    await once(socket, 'connect')
    return socket
  }

  async #next(method: string): Promise<RawAnswer | undefined> {
    for (;;) {
      const end = this.#received.indexOf('\r\n\r\n') + 4
      const head = this.#received.slice(0, end)
      const status = Number(head.slice(9, 12))
      const bodyless = method === 'HEAD' || status === 204 || status === 304
      const length = bodyless ? 0 : bodyLength(head, this.#received.slice(end))
      if (end > 3 && length !== undefined && this.#received.length >= end + length) {
        const text = this.#received.slice(0, end + length).replace(/\r\nDate: [^\r]+/, '')
        this.#received = this.#received.slice(end + length)
        return { status, text }
      }
      if (this.#socket === undefined) return undefined
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
    }
  }
}

const lastChunk = '0\r\n\r\n'

/** @returns undefined if that is not known yet */
function bodyLength(head: string, received: string): number | undefined {
  if (!/\r\ntransfer-encoding: chunked/i.test(head)) {
    return Number(/\r\ncontent-length: (\d+)/i.exec(head)?.[1] ?? 0)
  }
  const end = received.indexOf(lastChunk)
  return end === -1 ? undefined : end + lastChunk.length
}
