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
