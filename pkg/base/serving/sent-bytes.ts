import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/**
 * Counts the bytes of one response, including headers. With pipelining, several responses share a connection. The bytes of a
 * response are those between the moment when it gets the connection and the moment when all of it is sent.
 *
 * @param response nothing of it is sent yet
 * @returns a function to call when the response is over, complete or not
 */
export function countSentBytes(response: ServerResponse): () => number {
  let socket: Socket | undefined
  let before = 0
  let after: number | undefined
  const begin = (given: Socket): void => {
    socket = given
    before = given.bytesWritten
  }
  if (response.socket === null) response.once('socket', begin)
  else begin(response.socket)
  response.once('prefinish', () => {
    after = socket?.bytesWritten
  })
  return () => (after ?? socket?.bytesWritten ?? 0) - before
}
