import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/**
 * Counts what one response sends, headers included. On a connection whose client does not wait for answers, others come
 * before and after it: its own bytes are those between the moment when the connection is given to it and the moment when
 * all of it is handed over, at which the next one gets the connection.
 *
 * @param response one of which nothing is sent yet
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
