/*
 * Parameters of a page's URL: their values, and the order in which they are written. Unknown parameters are dropped and bad
 * values become the default, so a printed URL is always the shortest one. Works without DOM, because the server sends the same
 * first request as the page.
 */

export interface Param<T> {
  readonly fallback: T
  /** Undefined for invalid values. */
  parse(values: readonly string[]): T | undefined
}

export type Shape = Readonly<Record<string, Param<unknown>>>
export type Values<S extends Shape> = {
  readonly [K in keyof S]: S[K] extends Param<infer T> ? T : never
}

const longest = 253

/** Undefined for text that is badly encoded. */
export function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}

export const text: Param<string> = {
  fallback: '',
  parse: ([value]) => value?.slice(0, longest),
}

export const texts: Param<readonly string[]> = {
  fallback: [],
  parse: (values) => [...new Set(values.filter((it) => it !== '' && it.length <= longest))],
}

/** One of several words. */
export const oneOf = <const T extends string>(words: readonly T[], fallback: T): Param<T> => ({
  fallback,
  parse: ([value]) => words.find((word) => word === value),
})

const largest = 999_999

export const count = (fallback: number): Param<number> => ({
  fallback,
  parse: ([value = '']) => {
    const number = /^\d{1,9}$/.test(value) ? Number(value) : 0
    return number >= 1 && number <= largest ? number : undefined
  },
})

export const rows = (fallback: number): Param<number> => ({
  fallback,
  parse: ([value]) => pageSizes.find((size) => String(size) === value),
})

export const pageSizes = [10, 20, 50, 100] as const

export function parse<S extends Shape>(shape: S, search: URLSearchParams): Values<S> {
  const entries = Object.entries(shape).map(([name, param]) => {
    const values = search.getAll(name)
    const value = values.length === 0 ? undefined : param.parse(values)
    return [name, value ?? param.fallback]
  })
  return Object.fromEntries(entries) as Values<S>
}

/** @returns the query with its question mark; empty if every value is the default */
export function print<S extends Shape>(
  shape: S,
  values: { readonly [K in keyof S]?: Values<S>[K] | undefined },
): string {
  const search = new URLSearchParams()
  for (const [name, param] of Object.entries(shape)) {
    const value = [values[name] ?? param.fallback].flat()
    if (value.join('\n') === [param.fallback].flat().join('\n')) continue
    for (const it of value) search.append(name, String(it))
  }
  const query = search.toString()
  return query === '' ? '' : `?${query}`
}
