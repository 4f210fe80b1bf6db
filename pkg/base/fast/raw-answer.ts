import type { ServerResponse } from 'node:http'

/** Fields of Node's own: the head as text, and whether it was handed over. */
interface Inside {
  _header: string | null
  _headerSent: boolean
}

/**
 * Sends an answer on a connection that is kept alive. It goes past `writeHead`, which checks and joins the same headers
 * every time, and hands head and body to the kernel in one call.
 *
 * @param head of one byte a character, with the empty line at its end
 */
export function sendRaw(response: ServerResponse, head: string, body: Buffer): void {
  const inside = response as unknown as Inside
  const { socket } = response
  inside._header = head
  if (socket === null || socket.writableLength > 0 || !socket.writable || 'encrypted' in socket) {
    response.end(body)
    return
  }
  inside._headerSent = true
  socket.cork()
  socket.write(head, 'latin1')
  if (body.length > 0) socket.write(body)
  socket.uncork()
  if (socket.writableLength > 0 || !socket.writable) response.end()
  else {
    response.finished = true
    response.emit('finish')
  }
}
