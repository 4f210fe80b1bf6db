import type { ServerResponse } from 'node:http'

/** Internal fields of Node: the head as text, and whether it was sent. */
interface Inside {
  _header: string | null
  _headerSent: boolean
}

/** Node writes a text of up to 16 KiB without memory of its own. Latin-1 gives each byte back as it was. */
const largestText = 12 * 1024

/**
 * Sends an answer on a keep-alive connection. It bypasses `writeHead`, which would check and join the same headers each
 * time, and passes head and body to the kernel in one call.
 *
 * @param head in Latin-1, including the empty line at its end
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
  if (body.length <= largestText) socket.write(head + body.toString('latin1'), 'latin1')
  else {
    socket.cork()
    socket.write(head, 'latin1')
    socket.write(body)
    socket.uncork()
  }
  if (socket.writableLength > 0 || !socket.writable) response.end()
  else {
    response.finished = true
    response.emit('finish')
  }
}
