import { type Bits, comparePrecedence, compareText, newestFirst } from './collections.ts'
import { type DownloadTable, mostDownloadedOf } from './downloads.ts'
import { severities } from './findings.ts'
import type { Listed, Summary } from './summary.ts'

interface SortKey {
  /** Compares two entries that have the key, ascending. */
  readonly compare: (a: Summary, b: Summary) => number
  /** True if the key is missing; such entries come last in both directions. */
  readonly isMissing?: (summary: Summary) => boolean
}

const amount = (of: (summary: Summary) => number | undefined): SortKey => ({
  compare: (a, b) => (of(a) ?? 0) - (of(b) ?? 0),
  isMissing: (summary) => of(summary) === undefined,
})

/** The sort keys of lists. */
export const sortKeys = {
  name: { compare: (a, b) => compareText(a.name, b.name) },
  namespace: { compare: (a, b) => compareText(a.namespace, b.namespace) },
  kind: { compare: (a, b) => compareText(a.kind, b.kind) },
  latestVersion: {
    compare: (a, b) => comparePrecedence(a.latestVersion ?? '', b.latestVersion ?? ''),
    isMissing: (summary) => summary.latestVersion === undefined,
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
    isMissing: (summary) => summary.scanCounts === undefined,
  },
  totalDownloads: amount((summary) => summary.downloads),
  lastDownloadedAt: amount((summary) => summary.lastDownloadedAt),
  lastScanned: amount((summary) => summary.lastScannedAt),
  news: amount((summary) => summary.newsAt || undefined),
} satisfies Record<string, SortKey>

export type SortBy = keyof typeof sortKeys

/** By the most downloaded version, for the list of those. */
export const bestDownloads: SortKey = amount((summary) => summary.bestDownloads || undefined)

/** Most downloads first, then by name, for search. */
export const popularity: SortKey = {
  compare: (a, b) => b.downloads - a.downloads || compareText(a.name, b.name),
}

/** Every entry, kept sorted by one key. Ties are ascending by namespace, kind and name. */
export class SortOrder {
  readonly #key: SortKey
  readonly #entries: readonly (Listed | undefined)[]
  /** Numbers of entries. Moving thousands of them takes microseconds. */
  #numbers = new Uint32Array(16)
  #length = 0
  /** Number of entries with the key. The other entries follow. */
  #present = 0

  /** @param entries by number; they must exist as long as they are in the order */
  constructor(key: SortKey, entries: readonly (Listed | undefined)[]) {
    this.#key = key
    this.#entries = entries
  }

  insert(entry: Listed): void {
    const position = this.#positionOf(entry.summary)
    if (this.#length === this.#numbers.length) {
      const grown = new Uint32Array(this.#length * 2)
      grown.set(this.#numbers)
      this.#numbers = grown
    }
    this.#numbers.copyWithin(position + 1, position, this.#length)
    this.#numbers[position] = entry.number
    this.#length += 1
    if (!this.#isMissing(entry.summary)) this.#present += 1
  }

  /** Call it while the entry still has the summary with which it was inserted. */
  remove(entry: Listed): void {
    const position = this.#positionOf(entry.summary)
    if (position >= this.#length || this.#numbers[position] !== entry.number) return
    this.#numbers.copyWithin(position, position + 1, this.#length)
    this.#length -= 1
    if (!this.#isMissing(entry.summary)) this.#present -= 1
  }

  /** Whether an entry keeps its position when its summary changes. */
  isSamePlace(a: Summary, b: Summary): boolean {
    return this.#compare(a, b) === 0
  }

  /** The numbers of the entries, ascending by the key. */
  get numbers(): Uint32Array {
    return this.#numbers.subarray(0, this.#length)
  }

  /** Up to `limit` entries of a set, after the first `offset`. */
  page(set: Bits, descending: boolean, offset: number, limit: number): Listed[] {
    const page: Listed[] = []
    let left = offset
    for (const [start, end] of descending ? this.#descending() : [[0, this.#length] as const]) {
      for (let index = start; index < end; index += 1) {
        const number = this.#numbers[index] as number
        if (!set.has(number)) continue
        if (left > 0) left -= 1
        else if (page.push(this.#entries[number] as Listed) >= limit) return page
      }
    }
    return page
  }

  /** The entries of a set with the key, largest first. */
  *largest(set: Bits): Generator<Listed> {
    for (const [start, end] of this.#descending()) {
      if (start >= this.#present) return
      for (let index = start; index < end; index += 1) {
        const number = this.#numbers[index] as number
        if (set.has(number)) yield this.#entries[number] as Listed
      }
    }
  }

  /** The ranges of ties, largest first, then the entries without the key. Each range is read ascending. */
  *#descending(): Generator<readonly [start: number, end: number]> {
    for (let end = this.#present; end > 0; ) {
      const start = this.#startOfTie(end - 1)
      yield [start, end]
      end = start
    }
    yield [this.#present, this.#length]
  }

  /** Index of the first entry that ties with the one at `index`. Most have no ties; some tie with half of all. */
  #startOfTie(index: number): number {
    const summary = this.#summaryAt(index)
    const ties = (at: number): boolean =>
      at >= 0 && this.#key.compare(this.#summaryAt(at), summary) === 0
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

  #positionOf(summary: Summary): number {
    const isMissing = this.#isMissing(summary)
    let [low, high] = isMissing ? [this.#present, this.#length] : [0, this.#present]
    while (low < high) {
      const middle = (low + high) >>> 1
      const other = this.#summaryAt(middle)
      const order = isMissing ? 0 : this.#key.compare(other, summary)
      if ((order || compareAddress(other, summary)) < 0) low = middle + 1
      else high = middle
    }
    return low
  }

  #summaryAt(index: number): Summary {
    return (this.#entries[this.#numbers[index] as number] as Listed).summary
  }

  #isMissing(summary: Summary): boolean {
    return this.#key.isMissing?.(summary) ?? false
  }

  #compare(a: Summary, b: Summary): number {
    const [aMissing, bMissing] = [this.#isMissing(a), this.#isMissing(b)]
    if (aMissing !== bMissing) return aMissing ? 1 : -1
    return (aMissing ? 0 : this.#key.compare(a, b)) || compareAddress(a, b)
  }
}

/** Downloads of one version, summed over its platforms. */
export interface MostDownloaded {
  readonly entry: Listed
  readonly version: string
  readonly count: number
  /** In milliseconds since 1970. */
  readonly lastAt: number
}

/**
 * The most downloaded versions of some entries, most first; ties by namespace, kind, name, then newest first.
 *
 * @param best the `limit` entries with the most downloaded versions, because no other entry can be in the result
 */
export function mostDownloaded(
  best: readonly Listed[],
  limit: number,
  downloads: DownloadTable,
): MostDownloaded[] {
  return best
    .flatMap((entry) => {
      const { kind, namespace, name } = entry.parent
      const known = downloads.of(kind, namespace, name)
      return mostDownloadedOf(entry.parent, known, limit).map((found) => ({ entry, ...found }))
    })
    .toSorted(
      (a, b) =>
        b.count - a.count ||
        compareAddress(a.entry.summary, b.entry.summary) ||
        newestFirst(a.version, b.version),
    )
    .slice(0, limit)
}

/** Compares by namespace, kind and name. The result is never 0 for two entries. */
export function compareAddress(a: Summary, b: Summary): number {
  return (
    compareText(a.namespace, b.namespace) ||
    compareText(a.kind, b.kind) ||
    compareText(a.name, b.name)
  )
}
