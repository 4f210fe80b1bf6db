import type { Bits } from './bits.ts'
import type { Entry } from './entry.ts'
import type { Facts } from './facts.ts'
import { comparePrecedence, compareText } from './semver-order.ts'
import { severities } from './severity.ts'

interface SortKey {
  /** Ascending, of two that have the key. */
  readonly compare: (a: Facts, b: Facts) => number
  /** Whether there is nothing to compare: those come last in both directions. */
  readonly isMissing?: (facts: Facts) => boolean
}

const amount = (of: (facts: Facts) => number | undefined): SortKey => ({
  compare: (a, b) => (of(a) ?? 0) - (of(b) ?? 0),
  isMissing: (facts) => of(facts) === undefined,
})

/** What lists can be sorted by. */
export const sortKeys = {
  name: { compare: (a, b) => compareText(a.name, b.name) },
  namespace: { compare: (a, b) => compareText(a.namespace, b.namespace) },
  kind: { compare: (a, b) => compareText(a.kind, b.kind) },
  latestVersion: {
    compare: (a, b) => comparePrecedence(a.latestVersion ?? '', b.latestVersion ?? ''),
    isMissing: (facts) => facts.latestVersion === undefined,
  },
  synced: { compare: (a, b) => Number(a.synced) - Number(b.synced) },
  severity: {
    compare: (a, b) => {
      for (const severity of severities) {
        const difference = (a.scanCounts?.[severity] ?? 0) - (b.scanCounts?.[severity] ?? 0)
        if (difference !== 0) return difference
      }
      return 0
    },
    isMissing: (facts) => facts.scanCounts === undefined,
  },
  totalDownloads: amount((facts) => facts.downloads),
  lastDownloadedAt: amount((facts) => facts.lastDownloadedAt),
  lastScanned: amount((facts) => facts.lastScannedAt),
} satisfies Record<string, SortKey>

export type SortBy = keyof typeof sortKeys

/** By the most downloaded version, for the list of those. */
export const bestDownloads: SortKey = amount((facts) => facts.bestDownloads || undefined)

/** Every entry, sorted by one key and kept so. Ties are ascending by namespace, kind and name. */
export class SortOrder {
  readonly #key: SortKey
  readonly #entries: readonly (Entry | undefined)[]
  /** Numbers of entries: moving thousands of them to make room is a matter of microseconds. */
  #numbers = new Uint32Array(16)
  #length = 0
  /** How many of the entries have the key; the others stand behind them. */
  #present = 0

  /** @param entries by number; one must be there for as long as it is in the order */
  constructor(key: SortKey, entries: readonly (Entry | undefined)[]) {
    this.#key = key
    this.#entries = entries
  }

  insert(entry: Entry): void {
    const position = this.#positionOf(entry.facts)
    if (this.#length === this.#numbers.length) {
      const grown = new Uint32Array(this.#length * 2)
      grown.set(this.#numbers)
      this.#numbers = grown
    }
    this.#numbers.copyWithin(position + 1, position, this.#length)
    this.#numbers[position] = entry.number
    this.#length += 1
    if (!this.#isMissing(entry.facts)) this.#present += 1
  }

  /** To be called while the entry still has the facts that it was inserted with. */
  remove(entry: Entry): void {
    const position = this.#positionOf(entry.facts)
    if (position >= this.#length || this.#numbers[position] !== entry.number) return
    this.#numbers.copyWithin(position, position + 1, this.#length)
    this.#length -= 1
    if (!this.#isMissing(entry.facts)) this.#present -= 1
  }

  /** Whether an entry stays where it is when its facts change from one to the other. */
  isSamePlace(a: Facts, b: Facts): boolean {
    return this.#compare(a, b) === 0
  }

  /** Up to `limit` entries of a set, after `offset` of them were passed over. */
  page(set: Bits, descending: boolean, offset: number, limit: number): Entry[] {
    const page: Entry[] = []
    let left = offset
    for (const index of descending ? this.#descending() : this.#ascending()) {
      const number = this.#numbers[index] as number
      if (!set.has(number)) continue
      if (left > 0) left -= 1
      else if (page.push(this.#entries[number] as Entry) >= limit) break
    }
    return page
  }

  /** The first few of a set, largest first; only what has the key. */
  largest(set: Bits, limit: number): Entry[] {
    const largest: Entry[] = []
    for (const index of this.#descending()) {
      if (index >= this.#present) break
      const number = this.#numbers[index] as number
      if (set.has(number) && largest.push(this.#entries[number] as Entry) >= limit) break
    }
    return largest
  }

  *#ascending(): Generator<number> {
    for (let index = 0; index < this.#length; index += 1) yield index
  }

  /** Largest first, but ties and what is missing as ever. */
  *#descending(): Generator<number> {
    for (let end = this.#present; end > 0; ) {
      const start = this.#startOfTie(end - 1)
      for (let index = start; index < end; index += 1) yield index
      end = start
    }
    for (let index = this.#present; index < this.#length; index += 1) yield index
  }

  /** Index of the first entry that ties with the one at `index`: most have none, some have half of all. */
  #startOfTie(index: number): number {
    const facts = this.#factsAt(index)
    const ties = (at: number): boolean =>
      at >= 0 && this.#key.compare(this.#factsAt(at), facts) === 0
    let step = 1
    while (ties(index - step)) step *= 2
    let [low, high] = [Math.max(-1, index - step), index - (step >> 1)]
    while (high - low > 1) {
      const middle = (low + high) >> 1
      if (ties(middle)) high = middle
      else low = middle
    }
    return high
  }

  #positionOf(facts: Facts): number {
    let [low, high] = [0, this.#length]
    while (low < high) {
      const middle = (low + high) >>> 1
      if (this.#compare(this.#factsAt(middle), facts) < 0) low = middle + 1
      else high = middle
    }
    return low
  }

  #factsAt(index: number): Facts {
    return (this.#entries[this.#numbers[index] as number] as Entry).facts
  }

  #isMissing(facts: Facts): boolean {
    return this.#key.isMissing?.(facts) ?? false
  }

  #compare(a: Facts, b: Facts): number {
    const [aMissing, bMissing] = [this.#isMissing(a), this.#isMissing(b)]
    if (aMissing !== bMissing) return aMissing ? 1 : -1
    return (aMissing ? 0 : this.#key.compare(a, b)) || compareAddress(a, b)
  }
}

/** By namespace, kind and name: never 0 for two entries. */
export function compareAddress(a: Facts, b: Facts): number {
  return (
    compareText(a.namespace, b.namespace) ||
    compareText(a.kind, b.kind) ||
    compareText(a.name, b.name)
  )
}
