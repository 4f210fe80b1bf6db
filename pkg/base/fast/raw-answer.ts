import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** Internal fields of Node: the head as text, and whether it was sent. */
interface Inside {
  _header: string | null
  _headerSent: boolean
}

/** Node writes a text of up to 16 KiB without memory of its own, at up to three bytes a character. */
const largestText = 12 * 1024

/** Bytes that are kept in front of a body for its head. */
const headBytes = 512

/** The body of an answer that is sent many times, with memory in front of it where its head is written each time. */
export class SendableBody {
  readonly length: number
  /** Undefined while its text is not copied. */
  bytes: Buffer<ArrayBuffer> | undefined
  /** Undefined once it is copied. */
  #text: string | undefined
  #isSent = false
  #memory: Buffer<ArrayBuffer> | undefined
  /** The body and its last head. */
  #whole: Buffer | undefined
  /** The last connection that did not take everything at once. */
  #slow: Socket | undefined

  private constructor(length: number) {
    this.length = length
  }

  /**
   * Text is copied by `copied`, or when it is sent again, because most answers that are made for a request are sent
   * once. The first head must be ASCII.
   */
  static ofText(text: string): SendableBody {
    const body = new SendableBody(Buffer.byteLength(text))
    body.#text = text
    return body
  }

  static copyOf(content: string | Uint8Array): SendableBody {
    const body = new SendableBody(Buffer.byteLength(content))
    body.#copy(content)
    return body
  }

  /** Its head is written separately. @param bytes must stay as they are */
  static sharing({ buffer, byteOffset, length }: Uint8Array<ArrayBuffer>): SendableBody {
    const body = new SendableBody(length)
    body.bytes = Buffer.from(buffer, byteOffset, length)
    return body
  }

  /** The bytes, copied now if they are not yet. */
  copied(): Buffer<ArrayBuffer> {
    return this.bytes ?? this.#copy(this.#text ?? '')
  }

  #copy(content: string | Uint8Array): Buffer<ArrayBuffer> {
    this.#memory = Buffer.allocUnsafeSlow(headBytes + this.length)
    const bytes = this.#memory.subarray(headBytes)
    if (typeof content === 'string') bytes.write(content)
    else bytes.set(content)
    this.#text = undefined
    this.bytes = bytes
    return bytes
  }

  /** Passes head and body to the kernel in one call. */
  writeTo(socket: Socket, head: string): void {
    if (this.#text !== undefined && !this.#isSent && this.length <= largestText) {
      this.#isSent = true
      socket.write(head + this.#text)
      return
    }
    const bytes = this.copied()
    const memory = this.#memory
    if (memory === undefined || head.length > headBytes || this.#isBeingRead()) {
      socket.cork()
      socket.write(head, 'latin1')
      socket.write(bytes)
      socket.uncork()
      return
    }
    const start = headBytes - head.length
    if (this.#whole?.length !== head.length + this.length) this.#whole = memory.subarray(start)
    memory.write(head, start, 'latin1')
    socket.write(this.#whole)
    if (socket.writableLength > 0) this.#slow = socket
  }

  #isBeingRead(): boolean {
    if (this.#slow === undefined) return false
    if (this.#slow.writableLength > 0 && !this.#slow.destroyed) return true
    this.#slow = undefined
    return false
  }
}

/**
 * Sends an answer on a keep-alive connection. It bypasses `writeHead`, which would check and join the same headers each
 * time, and passes head and body to the kernel in one call.
 *
 * @param head in Latin-1, including the empty line at its end
 * @param body default: none
 */
export function sendRaw(response: ServerResponse, head: string, body?: SendableBody): void {
  const inside = response as unknown as Inside
  const { socket } = response
  inside._header = head
  if (socket === null || socket.writableLength > 0 || !socket.writable || 'encrypted' in socket) {
    response.end(body?.copied())
    return
  }
  inside._headerSent = true
  if (body === undefined) socket.write(head, 'latin1')
  else body.writeTo(socket, head)
  if (socket.writableLength > 0 || !socket.writable) response.end()
  else {
    response.finished = true
    response.emit('finish')
  }
}
