import { type ServerResponse, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import type { Logger } from '../telemetry/telemetry.ts'

const answers: Readonly<Record<string, readonly [status: number, message: string]>> = {
  HPE_HEADER_OVERFLOW: [431, 'the headers of the request are too long'],
  ERR_HTTP_REQUEST_TIMEOUT: [408, 'the request took too long to arrive'],
}

/** True while an answer is being sent; Node's own handler checks the same. */
const isAnswering = (socket: Socket & { readonly _httpMessage?: ServerResponse | null }): boolean =>
  socket._httpMessage?.headersSent === true

/**
 * Answers input that is not an HTTP request, if the connection still takes an answer.
 *
 * @param closeAfterMs time for the client to close its side afterwards, whatever it sends. Default: 5000
 */
export function refuseMalformed(log: Logger, closeAfterMs = 5_000) {
  return (error: NodeJS.ErrnoException, socket: Socket): void => {
    // In the middle of an answer, clients would read it as a part of that answer.
    if (error.code === 'ECONNRESET' || !socket.writable || isAnswering(socket)) {
      socket.destroy()
      return
    }
    const [status, message] = answers[error.code ?? ''] ?? [400, 'this is not an HTTP request']
    const { remoteAddress: remoteAddr } = socket
    log.info({ component: 'http', status, remoteAddr, reason: error.code }, 'malformed request')
    const body = JSON.stringify({ errors: [message] })
    const length = Buffer.byteLength(body)
    socket.end(
      `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nConnection: close\r\nX-Content-Type-Options: nosniff\r\nContent-Type: application/json\r\nContent-Length: ${length}\r\n\r\n${body}`,
    )
    // The timer of the socket would start again at each byte, so a client could keep the connection.
    const closing = setTimeout(() => socket.destroy(), closeAfterMs)
    socket.once('close', () => clearTimeout(closing))
  }
}
