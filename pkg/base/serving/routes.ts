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

/** Maximum length of a name in Kubernetes; a path may be longer. */
const longestFact = 256

/** Passes the subject of a request to the access log and the audit log. Texts are cut, because they come from its path. */
export function note(c: Context<ServingEnv>, facts: RequestFacts): void {
  const known = c.env?.facts
  if (known === undefined) return
  const cut = Object.entries(facts).map(([name, fact]) => [
    name,
    typeof fact === 'string' ? fact.slice(0, longestFact) : fact,
  ])
  Object.assign(known, Object.fromEntries(cut))
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

/** Paths that every URL parser reads the same: no escapes, no empty parts, no dots that lead elsewhere. */
const plainPath = /^(?:\/(?!\.\.?(?:\/|$))[\w.~+-]+)+$/

export type RouteParameters = Readonly<Record<string, string>>

export interface PlainRoute<T> {
  readonly target: T
  readonly path: RouteParameters
}

/** Routes for plain paths, found without the framework. Paths that are not plain are left to its router. */
export class PlainRoutes<T> {
  /** Routes without parameters. */
  readonly #fixed = new Map<string, PlainRoute<T>>()
  readonly #patterns: { readonly words: readonly string[]; readonly target: T }[] = []

  /** @param targets by the pattern of their route, where `:name` is a parameter */
  constructor(targets: Iterable<readonly [pattern: string, target: T]>) {
    for (const [pattern, target] of targets) {
      if (pattern.includes(':')) this.#patterns.push({ words: pattern.split('/'), target })
      else this.#fixed.set(pattern, { target, path: {} })
    }
  }

  find(url: string): PlainRoute<T> | undefined {
    const fixed = this.#fixed.get(url)
    if (fixed !== undefined) return fixed
    if (!plainPath.test(url)) return undefined
    const segments = url.split('/')
    for (const { words, target } of this.#patterns) {
      const path = parametersOf(words, segments)
      if (path !== undefined) return { target, path }
    }
    return undefined
  }
}

function parametersOf(
  words: readonly string[],
  segments: readonly string[],
): RouteParameters | undefined {
  const isFitting = (word: string, index: number) => word[0] === ':' || word === segments[index]
  if (words.length !== segments.length || !words.every(isFitting)) return undefined
  const path: Record<string, string> = {}
  for (const [index, word] of words.entries()) {
    if (word[0] === ':') path[word.slice(1)] = segments[index] ?? ''
  }
  return path
}
