import type { ServerResponse } from 'node:http'

/** Fields of Node's own: the head as text, and whether it was handed over. */
interface Inside {
  _header: string | null
  _headerSent: boolean
}

/** Larger answers take two buffers of the kernel: that costs less than a copy. */
const capacity = 8 * 1024
/** Memory for a head and its body, used again and again, and replaced if the kernel does not take all of an answer at once. */
let scratch = Buffer.allocUnsafeSlow(capacity)

/**
 * Sends an answer on a connection that is kept alive. It goes past `writeHead`, which checks and joins the same headers
 * every time, and hands the head and a short body to the kernel in one piece.
 *
 * @param head of one byte a character, with the empty line at its end
 */
export function sendRaw(response: ServerResponse, head: string, body: Buffer): void {
  const inside = response as unknown as Inside
  const { socket } = response
  const size = head.length + body.length
  inside._header = head
  const mustWait = socket === null || socket.writableLength > 0 || !socket.writable
  if (mustWait || size > capacity || 'encrypted' in socket) {
    response.end(body)
    return
  }
  inside._headerSent = true
  scratch.write(head, 'latin1')
  scratch.set(body, head.length)
  socket.write(scratch.subarray(0, size))
  if (socket.writableLength > 0) {
    scratch = Buffer.allocUnsafeSlow(capacity)
    response.end()
  } else if (!socket.writable) response.end()
  else {
    response.finished = true
    response.emit('finish')
  }
}
