import { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import { TLSSocket } from 'node:tls'
import { isPlain } from './plain.ts'

/** V8 learns from the first seven objects of a constructor how many fields the next ones have. */
const enough = 16

/**
 * Makes the first requests, responses and connections of a process without a collection in between. After a full collection
 * among them, V8 forgets fields that it has seen, and reserves too little memory. Objects whose fields are named by symbols
 * then become hash tables: a request costs half as much again, as long as the process lives.
 *
 * @param isTls true if connections are encrypted
 */
export function settleShapes(isTls: boolean): void {
  if (isPlain()) return
  Array.from({ length: enough }, () => {
    const socket = new Socket()
    return new ServerResponse(new IncomingMessage(isTls ? new TLSSocket(socket) : socket))
  })
}
