import { randomBytes } from 'node:crypto'
import {
  type IncomingMessage,
  type OutgoingHttpHeader,
  type OutgoingHttpHeaders,
  ServerResponse,
  STATUS_CODES,
} from 'node:http'
import type { Socket } from 'node:net'
import { flat } from '../telemetry/telemetry.ts'

/** How long an idle connection stays open, in milliseconds. */
export const keepAliveMs = 65_000

const connectionLines = `Connection: keep-alive\r\nKeep-Alive: timeout=${keepAliveMs / 1000}\r\n`
const startOf = (status: 200 | 304) =>
  `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nX-Request-Id: `
const starts = { 200: startOf(200), 304: startOf(304) }

/**
 * Sends the id of its request along, and that browsers must not guess what a body is. `setHeader` would do too, but then
 * Node puts all headers together once more, which costs as much as finding the answer.
 */
export class IdentifiedResponse<
  R extends IncomingMessage = IncomingMessage,
> extends ServerResponse<R> {
  requestId = ''
  /** Whether the kernel had all of a ready answer when `sendReady` was over. */
  isTaken = false
  /** Node's own: the head as text, once it is made, and whether it was handed over. */
  declare _header: string | null
  declare _headerSent: boolean

  override writeHead(
    status: number,
    reason?: string | OutgoingHttpHeaders | OutgoingHttpHeader[],
    headers?: OutgoingHttpHeaders | OutgoingHttpHeader[],
  ): this {
    if (typeof reason === 'string')
      return super.writeHead(status, reason, identified(this.requestId, headers))
    return super.writeHead(status, identified(this.requestId, reason ?? headers))
  }

  /**
   * Sends an answer whose headers are text already, on a connection that is kept alive. It goes past `writeHead`, which
   * would check and put together again what is the same every time; that the bytes are those of `writeHead` is tested.
   *
   * @param head what follows the id of the request, as `headLines` makes it
   * @param body text of one byte a character, or bytes
   * @returns how many bytes that is
   */
  sendReady(status: 200 | 304, head: string, body: string | Uint8Array): number {
    this.statusCode = status
    const { socket } = this
    const whole = starts[status] + this.requestId + head + endOfHead()
    // Behind other answers, over TLS, or to a client that does not read, Node keeps what has to wait.
    const isFree = socket !== null && socket.writableLength === 0 && socket.writable
    if (isFree && !('encrypted' in socket)) return sendNow(this, socket, whole, body)
    if (typeof body === 'string') {
      // In one piece with the head, which saves a second write.
      this._header = whole + body
      this.end()
    } else {
      this._header = whole
      this.end(body)
    }
    this.isTaken = socket !== null && socket.writableLength === 0
    return whole.length + body.length
  }
}

/**
 * Writes to the connection itself. An answer that the kernel has taken whole is over at once, which saves Node's way of
 * learning that through its streams, and two ticks.
 *
 * @param whole the head
 * @returns how many bytes that is
 */
function sendNow(
  response: IdentifiedResponse,
  socket: Socket,
  whole: string,
  body: string | Uint8Array,
): number {
  response._header = whole
  response._headerSent = true
  writeJoined(socket, whole, body)
  if (socket.writableLength > 0 || !socket.writable) response.end()
  else {
    response.finished = true
    response.isTaken = true
    response.emit('finish')
  }
  return whole.length + body.length
}

/** What is longer is not copied behind its head: copying it costs more than the second buffer of the kernel. */
const capacity = 24 * 1024
let scratch = Buffer.allocUnsafeSlow(capacity)

/**
 * Writes a head and a body in one piece, which takes one buffer of the kernel's instead of two, and leaves no garbage: the
 * bytes are put together where those of the answer before were, which the kernel has by now.
 *
 * @param socket on which nothing waits to be written
 * @param head text of one byte a character
 * @param body the same, or bytes
 */
function writeJoined(socket: Socket, head: string, body: string | Uint8Array): void {
  const size = head.length + body.length
  if (size > capacity) {
    socket.cork()
    // As bytes: beside text, Node would put all parts of a write together once more.
    socket.write(Buffer.from(head, 'latin1'))
    socket.write(body)
    socket.uncork()
    return
  }
  scratch.write(head, 0, 'latin1')
  if (typeof body === 'string') scratch.write(body, head.length, 'latin1')
  else scratch.set(body, head.length)
  socket.write(scratch.subarray(0, size))
  // The client reads slowly, and the rest is still to be written from there.
  if (socket.writableLength > 0) scratch = Buffer.allocUnsafeSlow(capacity)
}

/** A function and no private method, which would mark every response. */
function identified(requestId: string, headers?: OutgoingHttpHeaders | OutgoingHttpHeader[]) {
  if (Array.isArray(headers)) {
    return ['X-Request-Id', requestId, 'X-Content-Type-Options', 'nosniff', ...headers]
  }
  return { 'X-Request-Id': requestId, 'X-Content-Type-Options': 'nosniff', ...headers }
}

/** What follows the id of a request in a head. @param lines that end with a line break */
export const headLines = (lines: string): string =>
  `\r\nX-Content-Type-Options: nosniff\r\n${lines}`

let end = ''

/** The end of a head, with the date as RFC 9110 (section 5.6.7) wants it; made once a second, as Node does. */
function endOfHead(): string {
  if (end !== '') return end
  const now = new Date()
  setTimeout(forgetEnd, 1000 - now.getUTCMilliseconds()).unref()
  end = flat(`Date: ${now.toUTCString()}\r\n${connectionLines}\r\n`)
  return end
}

function forgetEnd(): void {
  end = ''
}

const safeRequestId = /^[\w.:-]{1,64}$/

/**
 * Makes what names requests: the client's own id where it is harmless, else a new one. New ones share a random beginning
 * that no other process has, and are counted from there.
 */
export function createRequestIds(): (own: string | undefined) => string {
  const prefix = randomBytes(9).toString('base64url')
  let count = 0
  return (own) => {
    if (own !== undefined && safeRequestId.test(own)) return own
    count += 1
    return `${prefix}-${count}`
  }
}
