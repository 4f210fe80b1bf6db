import {
  type IncomingMessage,
  type OutgoingHttpHeader,
  type OutgoingHttpHeaders,
  ServerResponse,
  STATUS_CODES,
} from 'node:http'

/** How long an idle connection stays open, in milliseconds. */
export const keepAliveMs = 65_000

const endOfHead = `Connection: keep-alive\r\nKeep-Alive: timeout=${keepAliveMs / 1000}\r\n\r\n`

/**
 * Sends the id of its request along, and that browsers must not guess what a body is. `setHeader` would do too, but then
 * Node puts all headers together once more, which costs as much as finding the answer.
 */
export class IdentifiedResponse<
  R extends IncomingMessage = IncomingMessage,
> extends ServerResponse<R> {
  requestId = ''
  /** Node's own: the head as text, once it is made. */
  declare _header: string | null

  override writeHead(
    status: number,
    reason?: string | OutgoingHttpHeaders | OutgoingHttpHeader[],
    headers?: OutgoingHttpHeaders | OutgoingHttpHeader[],
  ): this {
    if (typeof reason === 'string')
      return super.writeHead(status, reason, this.#identified(headers))
    return super.writeHead(status, this.#identified(reason ?? headers))
  }

  /**
   * Sends an answer whose headers are text already, on a connection that is kept alive. It goes past `writeHead`, which
   * would check and put together again what is the same every time; that the bytes are those of `writeHead` is tested.
   *
   * @param head lines that end with a line break
   * @param body text of one byte a character, or bytes
   * @returns how many bytes that is
   */
  sendReady(status: 200 | 304, head: string, body: string | Uint8Array): number {
    this.statusCode = status
    const start = `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nX-Request-Id: ${this.requestId}\r\nX-Content-Type-Options: nosniff\r\n`
    const whole = `${start}${head}Date: ${httpDate()}\r\n${endOfHead}`
    if (typeof body === 'string') {
      // In one piece with the head, which saves a second write.
      this._header = whole + body
      this.end()
    } else {
      this._header = whole
      this.end(body)
    }
    return whole.length + body.length
  }

  #identified(headers?: OutgoingHttpHeaders | OutgoingHttpHeader[]) {
    if (Array.isArray(headers)) {
      return ['X-Request-Id', this.requestId, 'X-Content-Type-Options', 'nosniff', ...headers]
    }
    return { 'X-Request-Id': this.requestId, 'X-Content-Type-Options': 'nosniff', ...headers }
  }
}

let dateSeconds = 0
let date = ''

/** As the Date header says it (RFC 9110, section 5.6.7); made once a second. */
function httpDate(): string {
  const seconds = Math.floor(Date.now() / 1000)
  if (seconds !== dateSeconds) {
    dateSeconds = seconds
    date = new Date(seconds * 1000).toUTCString()
  }
  return date
}
