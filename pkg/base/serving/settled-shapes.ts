import { IncomingMessage, type ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import { TLSSocket } from 'node:tls'
import { settleShape } from '../memory/memory.ts'

/**
 * Settles what V8 makes of requests, responses and connections, so that no full collection between the first of them makes
 * all others dearer.
 *
 * @param respond makes a response of the class that the server uses
 * @param isTls whether connections are encrypted
 */
export function settleShapes(
  respond: (request: IncomingMessage) => ServerResponse,
  isTls = false,
): void {
  settleShape(() => new Socket())
  if (isTls) settleShape(() => new TLSSocket(new Socket()))
  const socket = new Socket()
  settleShape(() => new IncomingMessage(socket))
  const request = new IncomingMessage(socket)
  settleShape(() => respond(request))
}
