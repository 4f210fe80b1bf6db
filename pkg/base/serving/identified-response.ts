import {
  type IncomingMessage,
  type OutgoingHttpHeader,
  type OutgoingHttpHeaders,
  ServerResponse,
  STATUS_CODES,
} from 'node:http'
import type { Socket } from 'node:net'
import { type Room, roomBytes } from '../memory/memory.ts'
import type { ReadyAnswer } from './ready-answer.ts'

/** How long an idle connection stays open, in milliseconds. */
export const keepAliveMs = 65_000

const connectionLines = `Connection: keep-alive\r\nKeep-Alive: timeout=${keepAliveMs / 1000}\r\n`
const startOf = (status: 200 | 304): Buffer =>
  Buffer.from(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nX-Request-Id: `)
const sentAlready = 'sent already'
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
  /** Node's own, in milliseconds: what it tells the client, if anything. */
  declare _keepAliveTimeout: number

  override writeHead(
    status: number,
    reason?: string | OutgoingHttpHeaders | OutgoingHttpHeader[],
    headers?: OutgoingHttpHeaders | OutgoingHttpHeader[],
  ): this {
    this._keepAliveTimeout = keepAliveMs
    if (typeof reason === 'string')
      return super.writeHead(status, reason, identified(this.requestId, headers))
    return super.writeHead(status, identified(this.requestId, reason ?? headers))
  }

  /**
   * Sends an answer whose headers are bytes already, on a connection that is kept alive. It goes past `writeHead`, which
   * would check and put together again what is the same every time; that the bytes are those of `writeHead` is tested.
   *
   * @param requestId in ASCII; not kept
   * @param isKnown whether the client has the body already
   * @returns how many bytes that is
   */
  sendReady(requestId: Uint8Array, answer: ReadyAnswer, isKnown: boolean): number {
    const status = isKnown ? 304 : 200
    this.statusCode = status
    const { socket } = this
    const head: Head = [starts[status], requestId, answer.head(isKnown), endOfHead()]
    const body = isKnown ? '' : answer.body
    const headSize = sizeOf(head)
    const size = headSize + body.length
    // Behind other answers, over TLS, or to a client that does not read, Node keeps what has to wait.
    const isFree = socket !== null && socket.writableLength === 0 && socket.writable
    if (!isFree || 'encrypted' in socket) {
      this._header = textOf(head, headSize)
      if (typeof body === 'string') this.end(body, 'latin1')
      else this.end(body)
      this.isTaken = socket !== null && socket.writableLength === 0
      return size
    }
    // Node asks whether there is one.
    this._header = sentAlready
    this._headerSent = true
    writeAnswer(this, socket, head, headSize, body, isKnown ? undefined : answer.room)
    if (socket.writableLength > 0 || !socket.writable) this.end()
    else {
      this.finished = true
      this.isTaken = true
      this.emit('finish')
    }
    return size
  }
}

/** Bytes, or text of one byte a character. */
type Piece = string | Uint8Array

/** What a head is put together of: what is before the id of the request, that id, what follows it, and the end. */
type Head = readonly [Uint8Array, Uint8Array, Piece, Uint8Array]

const sizeOf = ([start, id, lines, end]: Head): number =>
  start.length + id.length + lines.length + end.length

/** Puts a head at the beginning of memory that is long enough for it. */
function put([start, id, lines, end]: Head, bytes: Buffer): void {
  const afterStart = start.length
  const afterId = afterStart + id.length
  bytes.set(start, 0)
  bytes.set(id, afterStart)
  putPiece(lines, bytes, afterId)
  bytes.set(end, afterId + lines.length)
}

function putPiece(piece: Piece, bytes: Buffer, at: number): void {
  if (typeof piece === 'string') bytes.write(piece, at, 'latin1')
  else bytes.set(piece, at)
}

/** What is longer is not copied behind its head: copying it costs more than the second buffer of the kernel. */
const capacity = 24 * 1024
/**
 * Where heads and bodies are put together: one piece takes one buffer of the kernel's instead of two, and to use the same
 * memory again leaves no garbage. Where the kernel does not take all at once, there is another one from then on.
 */
let scratch = Buffer.allocUnsafeSlow(capacity)

/** A head as text of one byte a character. */
function textOf(head: Head, size: number): string {
  const bytes = size > capacity ? Buffer.allocUnsafe(size) : scratch
  put(head, bytes)
  return bytes.toString('latin1', 0, size)
}

/**
 * Writes an answer to a connection on which nothing waits to be written.
 *
 * @param response which owns the connection
 * @param room in front of the body, if there is any
 */
function writeAnswer(
  response: ServerResponse,
  socket: Socket,
  head: Head,
  headSize: number,
  body: Piece,
  room: Room | undefined,
): void {
  const size = headSize + body.length
  if (room?.isFree === true && headSize <= roomBytes) {
    writeInFront(response, socket, head, headSize, body as Buffer<ArrayBuffer>, room)
  } else if (size <= capacity) {
    put(head, scratch)
    putPiece(body, scratch, headSize)
    socket.write(scratch.subarray(0, size))
    if (socket.writableLength > 0) scratch = Buffer.allocUnsafeSlow(capacity)
  } else {
    const bytes = Buffer.allocUnsafe(headSize)
    put(head, bytes)
    socket.cork()
    // The head as bytes: beside text, Node would put all parts of a write together once more.
    socket.write(bytes)
    socket.write(body, 'latin1')
    socket.uncork()
  }
}

/** Puts a head in front of a body. Until the client has both, no other head may be put there. */
function writeInFront(
  response: ServerResponse,
  socket: Socket,
  head: Head,
  headSize: number,
  { buffer, byteOffset, length }: Buffer<ArrayBuffer>,
  room: Room,
): void {
  const bytes = Buffer.from(buffer, byteOffset - headSize, headSize + length)
  put(head, bytes)
  socket.write(bytes)
  if (socket.writableLength === 0) return
  room.isFree = false
  response.once('close', () => {
    room.isFree = true
  })
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

let end: Buffer | undefined

/** The end of a head, with the date as RFC 9110 (section 5.6.7) wants it; made once a second, as Node does. */
function endOfHead(): Buffer {
  if (end !== undefined) return end
  const now = new Date()
  setTimeout(forgetEnd, 1000 - now.getUTCMilliseconds()).unref()
  end = Buffer.from(`Date: ${now.toUTCString()}\r\n${connectionLines}\r\n`)
  return end
}

function forgetEnd(): void {
  end = undefined
}
