import { randomBytes } from 'node:crypto'
import {
  type IncomingMessage,
  type OutgoingHttpHeader,
  type OutgoingHttpHeaders,
  ServerResponse,
  STATUS_CODES,
} from 'node:http'

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
    const [start, head, end] = [starts[status], answer.head(isKnown), endOfHead()]
    const body = isKnown ? '' : answer.body
    const headSize = start.length + requestId.length + head.length + end.length
    const size = headSize + body.length
    // Behind other answers, over TLS, or to a client that does not read, Node keeps what has to wait.
    const isFree = socket !== null && socket.writableLength === 0 && socket.writable
    const isDirect = isFree && !('encrypted' in socket)
    const room = isDirect && !isKnown && headSize <= roomBytes ? answer.room : undefined
    const hasRoom = room?.isFree === true
    const isCopied = !hasRoom && isDirect && size <= capacity
    // Where Node is given text of it, its bytes are only needed for a moment.
    const isBrief = isCopied || (!isDirect && headSize <= capacity)
    let bytes = scratch
    if (hasRoom) bytes = withHead(body as Buffer<ArrayBuffer>, headSize)
    else if (!isBrief) bytes = Buffer.allocUnsafe(headSize)
    bytes.set(start, 0)
    bytes.set(requestId, start.length)
    if (typeof head === 'string') bytes.write(head, start.length + requestId.length, 'latin1')
    else bytes.set(head, start.length + requestId.length)
    bytes.set(end, headSize - end.length)
    if (!isDirect) {
      this._header = bytes.toString('latin1', 0, headSize)
      if (typeof body === 'string') this.end(body, 'latin1')
      else this.end(body)
      this.isTaken = socket !== null && socket.writableLength === 0
      return size
    }
    // Node asks whether there is one.
    this._header = sentAlready
    this._headerSent = true
    if (hasRoom) {
      socket.write(bytes)
      if (socket.writableLength > 0) occupy(room, this)
    } else if (isCopied) {
      if (typeof body === 'string') scratch.write(body, headSize, 'latin1')
      else scratch.set(body, headSize)
      socket.write(scratch.subarray(0, size))
      // The client reads slowly, and the rest is still to be written from there.
      if (socket.writableLength > 0) scratch = Buffer.allocUnsafeSlow(capacity)
    } else {
      socket.cork()
      socket.write(bytes)
      socket.write(body, 'latin1')
      socket.uncork()
    }
    if (socket.writableLength > 0 || !socket.writable) this.end()
    else {
      this.finished = true
      this.isTaken = true
      this.emit('finish')
    }
    return size
  }
}

/** A body and the room for a head of so many bytes in front of it. */
const withHead = ({ buffer, byteOffset, length }: Buffer<ArrayBuffer>, headSize: number) =>
  Buffer.from(buffer, byteOffset - headSize, headSize + length)

/** Until a client that reads slowly has all of an answer, no other head may be put in front of its body. */
function occupy(room: Room, response: ServerResponse): void {
  room.isFree = false
  response.once('close', () => {
    room.isFree = true
  })
}

/** What is longer is not copied behind its head: copying it costs more than the second buffer of the kernel. */
const capacity = 24 * 1024
/**
 * Where heads and bodies are put together: one piece takes one buffer of the kernel's instead of two, and it leaves no
 * garbage to use the same memory again: where the kernel does not take all at once, there is another one from then on.
 */
let scratch = Buffer.allocUnsafeSlow(capacity)

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

const [dash, zero, nine] = [0x2d, 0x30, 0x39]
const safeRequestId = /^[\w.:-]{1,64}$/

/**
 * Names requests: by the client's own id where it is harmless, else by a new one. New ones share a random beginning that no
 * other process has, and are counted from there.
 */
export class RequestIds {
  /** The last new one; counted on in place, as every request has one. */
  #last = Buffer.from(`${randomBytes(9).toString('base64url')}-0`)

  textOf(own: string | undefined): string {
    return this.bytesOf(own).toString('latin1')
  }

  /** @returns what is good until the next request */
  bytesOf(own: string | undefined): Buffer {
    if (own !== undefined && safeRequestId.test(own)) return Buffer.from(own)
    for (let place = this.#last.length - 1; ; place -= 1) {
      const digit = this.#last[place] as number
      if (digit === dash) return this.#lengthen(place)
      if (digit < nine) {
        this.#last[place] = digit + 1
        return this.#last
      }
      this.#last[place] = zero
    }
  }

  /** After 99 comes 100. @param place of the dash before the digits */
  #lengthen(place: number): Buffer {
    const prefix = this.#last.subarray(0, place + 1)
    const zeros = this.#last.subarray(place + 1)
    this.#last = Buffer.concat([prefix, Buffer.from('1'), zeros])
    return this.#last
  }
}
