import type { IncomingMessage } from 'node:http'
import type { Context } from 'hono'
import type { ServingEnv } from './env.ts'

/** Maximum time in which an upload arrives, in milliseconds. */
export const uploadMs = 1_800_000

const deadlines = new WeakMap<object, NodeJS.Timeout>()

/**
 * Limits the time in which the body of a request arrives: Node has one limit for all routes, which is that of uploads.
 *
 * @param late ends the request
 */
export function limitBody(request: IncomingMessage, ms: number, late: () => void): void {
  const { 'content-length': length, 'transfer-encoding': encoding } = request.headers
  if (length === undefined && encoding === undefined) return
  const deadline = setTimeout(() => {
    if (!request.complete) late()
  }, ms).unref()
  deadlines.set(request, deadline)
  request.once('close', () => clearTimeout(deadline))
}

/** Lets the body of a request arrive as slowly as an upload, and be answered after long work. */
export function awaitUpload(c: Context<ServingEnv>): void {
  const request = c.env?.incoming
  if (request !== undefined) clearTimeout(deadlines.get(request))
  awaitWork(c)
}

/** Maximum time in which nothing is sent while an upload is stored, in milliseconds. */
export const workMs = 600_000

/** Keeps the connection of a request open while it is worked on. Node sets the usual deadline for the next request. */
export function awaitWork(c: Context<ServingEnv>): void {
  c.env?.incoming?.socket.setTimeout(workMs)
}
