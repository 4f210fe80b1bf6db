/** Paths that every URL parser reads the same: no escapes, no empty parts, no dots that lead elsewhere. */
const plainPath = /^(?:\/(?!\.\.?(?:\/|$))[\w.~+-]+)+$/

export type RouteParameters = Readonly<Record<string, string>>

export interface PlainRoute<T> {
  readonly target: T
  readonly path: RouteParameters
}

/** Routes for plain paths, found without the framework. Paths that are not plain are left to its router. */
export class PlainRoutes<T> {
  readonly #routes: readonly { readonly words: readonly string[]; readonly target: T }[]

  /** @param targets by the pattern of their route, where `:name` is a parameter */
  constructor(targets: Iterable<readonly [pattern: string, target: T]>) {
    this.#routes = Array.from(targets, ([pattern, target]) => ({
      words: pattern.split('/'),
      target,
    }))
  }

  find(url: string): PlainRoute<T> | undefined {
    if (!plainPath.test(url)) return undefined
    const segments = url.split('/')
    for (const { words, target } of this.#routes) {
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
  if (words.length !== segments.length) return undefined
  const path: Record<string, string> = {}
  for (const [index, word] of words.entries()) {
    const segment = segments[index] ?? ''
    if (word.startsWith(':')) path[word.slice(1)] = segment
    else if (word !== segment) return undefined
  }
  return path
}
