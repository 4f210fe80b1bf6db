import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/**
 * Counts the bytes of one response, headers included. A client that does not wait for answers gets several on one
 * connection: a response's bytes are those between the moment it gets the connection and the moment all of it is handed
 * over, when the next one gets the connection.
 *
 * @param response nothing of it is sent yet
 * @returns a function to be called when the response is over, whole or not
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
