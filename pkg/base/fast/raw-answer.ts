import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** Internal fields of Node: the head as text, and whether it was sent. */
interface Inside {
  _header: string | null
  _headerSent: boolean
}

/** Bytes that are kept in front of a body for its head. */
const headBytes = 512

/** The body of an answer that is sent many times, with memory in front of it where its head is written each time. */
export class SendableBody {
  readonly bytes: Buffer<ArrayBuffer>
  readonly #memory: Buffer<ArrayBuffer> | undefined
  /** The body and its last head. */
  #whole: Buffer
  /** The last connection that did not take everything at once. */
  #slow: Socket | undefined

  private constructor(bytes: Buffer<ArrayBuffer>, memory?: Buffer<ArrayBuffer>) {
    this.bytes = bytes
    this.#whole = bytes
    this.#memory = memory
  }

  static copyOf(content: string | Uint8Array): SendableBody {
    const memory = Buffer.allocUnsafeSlow(headBytes + Buffer.byteLength(content))
    const bytes = memory.subarray(headBytes)
    if (typeof content === 'string') bytes.write(content)
    else bytes.set(content)
    return new SendableBody(bytes, memory)
  }

  /** Its head is written separately. @param bytes must stay as they are */
  static sharing({ buffer, byteOffset, length }: Uint8Array<ArrayBuffer>): SendableBody {
    return new SendableBody(Buffer.from(buffer, byteOffset, length))
  }

  /** Passes head and body to the kernel in one call. */
  writeTo(socket: Socket, head: string): void {
    const memory = this.#memory
    if (memory === undefined || head.length > headBytes || this.#isBeingRead()) {
      socket.cork()
      socket.write(head, 'latin1')
      socket.write(this.bytes)
      socket.uncork()
      return
    }
    const start = headBytes - head.length
    if (this.#whole.length !== head.length + this.bytes.length) {
      this.#whole = memory.subarray(start)
    }
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
    response.end(body?.bytes)
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
