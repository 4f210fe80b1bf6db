import type { ServerResponse } from 'node:http'

/** Fields of Node's own: the head as text, and whether it was handed over. */
interface Inside {
  _header: string | null
  _headerSent: boolean
}

/** Larger answers are not copied: that costs more than the second buffer of the kernel. */
const capacity = 24 * 1024
/** Where head and body are put together, again and again. If the kernel does not take all at once, the next answer gets another. */
let scratch = Buffer.allocUnsafeSlow(capacity)

/**
 * Sends an answer on a connection that is kept alive. It goes past `writeHead`, which checks and joins the same headers
 * every time, and hands head and body to the kernel in one piece.
 *
 * @param head of one byte a character, with the empty line at its end
 */
export function sendRaw(response: ServerResponse, head: string, body: Buffer): void {
  const inside = response as unknown as Inside
  const { socket } = response
  inside._header = head
  const mustWait = socket === null || socket.writableLength > 0 || !socket.writable
  if (mustWait || 'encrypted' in socket) {
    response.end(body)
    return
  }
  inside._headerSent = true
  const size = head.length + body.length
  if (size <= capacity) {
    scratch.write(head, 'latin1')
    scratch.set(body, head.length)
    socket.write(scratch.subarray(0, size))
    if (socket.writableLength > 0) scratch = Buffer.allocUnsafeSlow(capacity)
  } else {
    socket.cork()
    // As bytes: next to text, Node would join all parts of the write once more.
    socket.write(Buffer.from(head, 'latin1'))
    socket.write(body)
    socket.uncork()
  }
  if (socket.writableLength > 0 || !socket.writable) response.end()
  else {
    response.finished = true
    response.emit('finish')
  }
}
