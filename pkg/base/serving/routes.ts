import type { Context, Hono } from 'hono'
import type { RequestFacts } from '../telemetry/telemetry.ts'
import type { ServingEnv } from './env.ts'

/**
 * Adds a route for GET and HEAD and names it for log and metrics, so that its pattern is written once.
 *
 * @param prefix of the path before the pattern, without a trailing slash
 */
export function get<P extends string>(
  app: Hono<ServingEnv>,
  prefix: string,
  pattern: P,
  handler: (c: Context<ServingEnv, P>) => Response | Promise<Response>,
): void {
  const route = prefix + pattern
  app.get(route, (c) => {
    note(c, { route })
    return handler(c)
  })
}

/** Tells the access log what a request is about. */
export function note(c: Context<ServingEnv>, facts: RequestFacts): void {
  const known = c.env?.facts
  if (known !== undefined) Object.assign(known, facts)
}

/** Continues with a value, synchronously if it is not a promise: an `await` costs more than most answers. */
export function after<T, R>(value: T | Promise<T>, goOn: (value: T) => R): R | Promise<Awaited<R>> {
  return value instanceof Promise ? (value.then(goOn) as Promise<Awaited<R>>) : goOn(value)
}

/**
 * True if the client already has the answer, by its `If-None-Match`.
 *
 * @param ifNoneMatch the header: `*`, or a list of tags, which are compared weakly
 * @param etag of the answer, with its quotes
 * @see https://www.rfc-editor.org/rfc/rfc9110#section-13.1.2
 */
export function matchesEtag(ifNoneMatch: string | undefined, etag: string): boolean {
  if (ifNoneMatch === undefined) return false
  if (ifNoneMatch === etag) return true
  return ifNoneMatch.split(',').some((tag) => {
    const trimmed = tag.trim()
    return trimmed === '*' || trimmed === etag || trimmed === `W/${etag}`
  })
}
