import { parse, type SemVer } from 'semver'

/** A map by namespace and name. It has two levels, so that it needs no combined keys. */
export class NamedRows<R> {
  readonly #namespaces = new Map<string, Map<string, R>>()
  #size = 0

  /** The same map, read-only: rows by namespace, then by name. */
  get byNamespace(): ReadonlyMap<string, ReadonlyMap<string, R>> {
    return this.#namespaces
  }

  get size(): number {
    return this.#size
  }

  get(namespace: string, name: string): R | undefined {
    return this.#namespaces.get(namespace)?.get(name)
  }

  getOrSet(namespace: string, name: string, create: () => R): R {
    const known = this.get(namespace, name)
    if (known !== undefined) return known
    const created = create()
    this.set(namespace, name, created)
    return created
  }

  set(namespace: string, name: string, row: R): void {
    let rows = this.#namespaces.get(namespace)
    if (rows === undefined) {
      rows = new Map()
      this.#namespaces.set(namespace, rows)
    }
    const { size } = rows
    rows.set(name, row)
    this.#size += rows.size - size
  }

  delete(namespace: string, name: string): void {
    const rows = this.#namespaces.get(namespace)
    if (rows?.delete(name) !== true) return
    this.#size -= 1
    if (rows.size === 0) this.#namespaces.delete(namespace)
  }

  *entries(): Iterable<[namespace: string, name: string, row: R]> {
    for (const [namespace, rows] of this.#namespaces) {
      for (const [name, row] of rows) yield [namespace, name, row]
    }
  }
}

/** A set of small whole numbers, with a bit for each. Sets are intersected 32 numbers at a time. */
export class Bits {
  #words: Uint32Array<ArrayBuffer>

  constructor(words = new Uint32Array(4)) {
    this.#words = words
  }

  has(number: number): boolean {
    return (((this.#words[number >>> 5] ?? 0) >>> (number & 31)) & 1) === 1
  }

  add(number: number): void {
    const index = number >>> 5
    if (index >= this.#words.length) this.#grow(Math.max(index + 1, this.#words.length * 2))
    this.#words[index] = (this.#words[index] ?? 0) | (1 << (number & 31))
  }

  delete(number: number): void {
    const index = number >>> 5
    if (index >= this.#words.length) return
    this.#words[index] = (this.#words[index] ?? 0) & ~(1 << (number & 31))
  }

  get empty(): boolean {
    return this.#words.every((word) => word === 0)
  }

  get count(): number {
    let count = 0
    for (let word of this.#words) {
      word -= (word >>> 1) & 0x55555555
      word = (word & 0x33333333) + ((word >>> 2) & 0x33333333)
      count += Math.imul((word + (word >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24
    }
    return count
  }

  copy(): Bits {
    return new Bits(this.#words.slice())
  }

  /** Removes the numbers that do not pass. */
  filter(passes: (number: number) => boolean): void {
    for (let index = 0; index < this.#words.length; index += 1) {
      for (let word = this.#words[index] ?? 0; word !== 0; word &= word - 1) {
        const number = index * 32 + 31 - Math.clz32(word & -word)
        if (!passes(number)) this.delete(number)
      }
    }
  }

  /** Removes the numbers that the other set lacks. */
  keep(other: Bits): this {
    const [words, others] = [this.#words, other.#words]
    for (let index = 0; index < words.length; index += 1) {
      words[index] = (words[index] ?? 0) & (others[index] ?? 0)
    }
    return this
  }

  /** Adds the numbers of the other set. */
  merge(other: Bits): this {
    const others = other.#words
    if (others.length > this.#words.length) this.#grow(others.length)
    const words = this.#words
    for (let index = 0; index < others.length; index += 1) {
      words[index] = (words[index] ?? 0) | (others[index] ?? 0)
    }
    return this
  }

  /** The numbers, ascending. */
  *[Symbol.iterator](): Generator<number> {
    for (let index = 0; index < this.#words.length; index += 1) {
      let word = this.#words[index] ?? 0
      while (word !== 0) {
        const bit = 31 - Math.clz32(word & -word)
        yield index * 32 + bit
        word &= word - 1
      }
    }
  }

  #grow(length: number): void {
    const grown = new Uint32Array(length)
    grown.set(this.#words)
    this.#words = grown
  }
}

/** Whether a CLI accepts this as a version: semver 2.0 without a leading `v`. */
export function isSemver(version: string): boolean {
  return rankOf(version) >= 0 || parsed(version) !== null
}

/** Whether it is like `1.2.3-rc.1`, which a CLI installs only if it is named exactly. */
export function isPrerelease(version: string): boolean {
  return rankOf(version) < 0 && (parsed(version)?.prerelease.length ?? 0) > 0
}

/** Orders newest first by semver precedence, then by build metadata so that the order is total. */
export function newestFirst(a: string, b: string): number {
  if (a === b) return 0
  const ranks = [rankOf(a), rankOf(b)] as const
  if (ranks[0] >= 0 && ranks[1] >= 0) return ranks[1] - ranks[0]
  const [left, right] = [parsed(a), parsed(b)]
  if (left !== null && right !== null) {
    return right.compare(left) || right.compareBuild(left) || compareText(a, b)
  }
  return Number(left === null) - Number(right === null) || compareText(a, b)
}

/** Orders oldest first by semver precedence alone: build metadata makes no difference. */
export function comparePrecedence(a: string, b: string): number {
  const ranks = [rankOf(a), rankOf(b)] as const
  if (ranks[0] >= 0 && ranks[1] >= 0) return ranks[0] - ranks[1]
  const [left, right] = [parsed(a), parsed(b)]
  if (left !== null && right !== null) return left.compare(right)
  return Number(left !== null) - Number(right !== null)
}

/** Ascending by code unit; undefined counts as empty. */
export function compareText(a = '', b = ''): number {
  return a === b ? 0 : a < b ? -1 : 1
}

/**
 * The creation time of an object in seconds since 1970, or its number of arrival if that is unknown. V8 stores whole numbers
 * of this size without an object.
 */
interface Ranked {
  readonly rank: number
  readonly name: string
}

/** Orders by age, then by name, so that every replica gets the same result. */
export const byAge = (a: Ranked, b: Ranked): number =>
  a.rank - b.rank || compareText(a.name, b.name)

export const isOlder = (a: Ranked, b: Ranked): boolean => byAge(a, b) < 0

/** Index of the first row at or after the position. */
export function lowerBound<T>(sorted: readonly T[], isBefore: (one: T) => boolean): number {
  let [low, high] = [0, sorted.length]
  while (low < high) {
    const middle = (low + high) >>> 1
    if (isBefore(sorted[middle] as T)) low = middle + 1
    else high = middle
  }
  return low
}

/** The library also accepts `v1.2.3` and surrounding blanks, which no CLI does. */
const parsed = (version: string): SemVer | null =>
  /^\d(?:.*\S)?$/.test(version) ? parse(version) : null

const partLimit = 2 ** 17

/** One number for versions of the form `1.2.3`, in the order of precedence; -1 for other versions. */
function rankOf(version: string): number {
  let rank = 0
  let part = -1
  let dots = 0
  for (let i = 0; i < version.length; i += 1) {
    const code = version.charCodeAt(i)
    if (code === 46 && part >= 0) {
      rank = rank * partLimit + part
      part = -1
      dots += 1
    } else if (code < 48 || code > 57 || part === 0) return -1
    else part = (part < 0 ? 0 : part * 10) + code - 48
    if (part >= partLimit) return -1
  }
  return dots === 2 && part >= 0 ? rank * partLimit + part : -1
}
