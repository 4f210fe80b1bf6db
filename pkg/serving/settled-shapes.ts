import { IncomingMessage } from 'node:http'
import { Socket } from 'node:net'
import { settleShape } from '../memory/memory.ts'
import { IdentifiedResponse } from './identified-response.ts'

/** Of what each request is made of, so that no full collection between the first of them makes all others dearer. */
export function settleShapes(): void {
  settleShape(() => new Socket())
  const socket = new Socket()
  settleShape(() => new IncomingMessage(socket))
  const request = new IncomingMessage(socket)
  settleShape(() => new IdentifiedResponse(request))
}
