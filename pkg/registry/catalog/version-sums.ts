import type { Lifecycle } from '../../api/lifecycle/lifecycle.ts'
import type { StorageConfig } from '../../api/v1alpha1/v1alpha1.ts'
import { isPrerelease } from './collections.ts'
import { type FindingList, type FindingTable, severities } from './findings.ts'
import type { ResourceRow } from './resource-row.ts'
import type { VersionRow } from './version-row.ts'

/** Number of Versions in each state. `duplicate` and the lifecycle states count some of them again. */
export type VersionStates = Record<VersionRow['state'] | 'duplicate' | Lifecycle['state'], number>

export const noStates = (): VersionStates => ({
  synced: 0,
  unsynced: 0,
  failed: 0,
  unservable: 0,
  duplicate: 0,
  Deprecated: 0,
  Yanked: 0,
  Quarantined: 0,
})

/** Adds `some` to `sum`, or subtracts it if the sign is -1. */
export function addStates<K extends string>(
  sum: Record<K, number>,
  some: Record<K, number>,
  sign: 1 | -1,
): void {
  for (const state of Object.keys(sum) as K[]) {
    // A product could be -0, for which V8 needs an object in every field.
    if (sign === 1) sum[state] += some[state]
    else sum[state] -= some[state]
  }
}

/** Adds each number to the one in the same place. */
export function accumulate(sum: number[], some: readonly number[]): void {
  for (let index = 0; index < sum.length; index += 1) {
    sum[index] = (sum[index] as number) + (some[index] as number)
  }
}

/** The sum over some versions of one parent, with all platforms of each. */
export interface VersionSum {
  /** Number of Versions. */
  count: number
  readonly states: VersionStates
  readonly health: Record<VersionRow['health'], number>
  storageBytes: number
  /** Number of findings in the order of `severities`; within a version, distinct ones count. */
  readonly findings: number[]
  /** In milliseconds since 1970. */
  lastScannedAt: number | undefined
  /** Time of the last news about any version, or later, in seconds since 1970. */
  newsAt: number
  /** `linux/amd64`, each once. */
  readonly platforms: Set<string>
  /** Storage of the first row that has one. */
  storage: StorageConfig | undefined
  /** The newest release, and the newest version, that a CLI can install. */
  newestRelease: string | undefined
  newest: string | undefined
}

const noSum = (): VersionSum => ({
  count: 0,
  states: noStates(),
  health: { synced: 0, unsynced: 0, failed: 0 },
  storageBytes: 0,
  findings: severities.map(() => 0),
  lastScannedAt: undefined,
  newsAt: 0,
  platforms: new Set(),
  storage: undefined,
  newestRelease: undefined,
  newest: undefined,
})

/** @param sums of newer versions first */
function addUp(sums: readonly VersionSum[]): VersionSum {
  const all = noSum()
  for (const sum of sums) {
    addStates(all.states, sum.states, 1)
    addStates(all.health, sum.health, 1)
    all.count += sum.count
    all.storageBytes += sum.storageBytes
    accumulate(all.findings, sum.findings)
    all.newsAt = Math.max(all.newsAt, sum.newsAt)
    all.lastScannedAt = later(all.lastScannedAt, sum.lastScannedAt)
    for (const platform of sum.platforms) all.platforms.add(platform)
    all.storage ??= sum.storage
    all.newestRelease ??= sum.newestRelease
    all.newest ??= sum.newest
  }
  return all
}

/** Sums up rows in parts, because the number of rows of one version is not bounded. */
export class Summing {
  readonly #rows: readonly VersionRow[]
  readonly #table: FindingTable
  readonly #sum = noSum()
  #scannedAt: string | undefined
  /** Findings of the version in progress, by subject. */
  #worst: Map<number, number> | undefined
  #isServable = false

  /** @param rows all rows of some versions, sorted */
  constructor(rows: readonly VersionRow[], table: FindingTable) {
    this.#rows = rows
    this.#table = table
  }

  /** @returns the number of rows that were read, at most `maxRows` */
  advance(maxRows: number): number {
    const start = this.#sum.count
    const end = Math.min(start + maxRows, this.#rows.length)
    while (this.#sum.count < end) this.#addSome(end)
    return end - start
  }

  /** Undefined until it is complete. */
  get sum(): VersionSum | undefined {
    return this.#sum.count < this.#rows.length ? undefined : this.#sum
  }

  /** The rows of one version. @param limit last index */
  #addSome(limit: number): void {
    const [rows, sum] = [this.#rows, this.#sum]
    const version = rows[sum.count]?.version ?? ''
    const lists: FindingList[] = []
    while (sum.count < limit && rows[sum.count]?.version === version) {
      this.#add(rows[sum.count] as VersionRow, lists)
    }
    const isWhole = rows[sum.count]?.version !== version
    if (isWhole && this.#worst === undefined) {
      accumulate(sum.findings, this.#table.countByRank(lists))
    } else {
      this.#worst ??= new Map()
      this.#table.keepWorst(this.#worst, lists)
    }
    if (!isWhole) return
    for (const rank of this.#worst?.values() ?? []) {
      sum.findings[rank] = (sum.findings[rank] as number) + 1
    }
    if (this.#isServable) {
      sum.newest ??= version
      if (!isPrerelease(version)) sum.newestRelease ??= version
    }
    this.#worst = undefined
    this.#isServable = false
  }

  #add(row: VersionRow, lists: FindingList[]): void {
    const sum = this.#sum
    const { state, lifecycle, sizeBytes = 0, os = '', arch = '', common, sourceScannedAt } = row
    sum.count += 1
    sum.states[state] += 1
    if (row.isDuplicate) sum.states.duplicate += 1
    if (lifecycle !== undefined) sum.states[lifecycle.state] += 1
    // A yanked version is listed only if it is below a newer one.
    if (state !== 'unservable' && lifecycle?.state !== 'Yanked') this.#isServable = true
    sum.health[row.health] += 1
    sum.storageBytes += sizeBytes
    sum.storage ??= common.storage
    sum.platforms.add(`${os}/${arch}`.toLowerCase())
    sum.newsAt = Math.max(sum.newsAt, row.publishedAt, row.lifecycleSince, row.criticalSince)
    this.#scanned(sourceScannedAt)
    this.#scanned(row.binaryScannedAt)
    addLists(row, lists)
  }

  #scanned(at: string | undefined): void {
    // One scan covers many Versions.
    if (at === undefined || at === '' || at === this.#scannedAt) return
    this.#scannedAt = at
    const time = Date.parse(at)
    if (!Number.isNaN(time)) this.#sum.lastScannedAt = later(this.#sum.lastScannedAt, time)
  }
}

function later(a: number | undefined, b: number | undefined): number | undefined {
  if (a === undefined || b === undefined) return a ?? b
  return Math.max(a, b)
}

/** Number of chunks whose sums can be added at the cost of reading one Version. */
const chunksPerVersion = 4

/** The fields of the parent on which sums depend. A sum is valid until they change. */
interface Basis {
  readonly hasStorage: boolean
  readonly isDisplaced: boolean
  /** The lifecycle of its versions. */
  readonly rules: string | undefined
  readonly holdsUnscanned: boolean | undefined
}

/** The sum of a chunk, or its state so far. */
export type ChunkSum = Basis & { readonly summing: Summing }

/** Some Versions of a parent. */
interface Chunk {
  /** Sorted, with all rows of each version. */
  readonly rows: readonly VersionRow[]
  /** Dropped when the rows change. */
  sum: ChunkSum | undefined
}

/** The part of a Parent on which the sum of its Versions depends. */
interface Summed {
  readonly chunks: readonly Chunk[]
  readonly resource: ResourceRow | undefined
  readonly displacedBy: string | undefined
}

/**
 * The sum over the Versions of a parent. The sum of a chunk is kept as long as the chunk. So the cost of a change depends on
 * the size of a chunk, and many changes can be applied in parts.
 */
export class VersionSums {
  readonly #findings: FindingTable

  constructor(findings: FindingTable) {
    this.#findings = findings
  }

  /**
   * @param maxRows maximum number of Versions without a sum to read
   * @returns no sum if that was not enough; the work so far is kept for the next time. The cost is in Versions that had no sum
   *   before.
   */
  of(
    parent: Summed,
    maxRows: number,
  ): { readonly sum: VersionSum | undefined; readonly cost: number } {
    const { chunks } = parent
    const basis = {
      hasStorage: parent.resource?.storage !== undefined,
      isDisplaced: parent.displacedBy !== undefined,
      rules: parent.resource?.lifecycle?.text,
      holdsUnscanned: parent.resource?.holdsUnscanned,
    }
    const sums: VersionSum[] = []
    let cost = Math.floor(chunks.length / chunksPerVersion)
    let left = maxRows
    for (const chunk of chunks) {
      const summing = this.#summingOf(chunk, basis)
      const looked = summing.advance(left)
      left -= looked
      cost += looked
      const { sum } = summing
      if (sum === undefined) return { sum, cost }
      sums.push(sum)
    }
    // Other sums are computed as fast as they are found, and most parents have none.
    if (chunks.length === 1 && chunks[0] !== undefined) chunks[0].sum = undefined
    return { sum: addUp(sums), cost }
  }

  #summingOf(chunk: Chunk, basis: Basis): Summing {
    const { sum: known } = chunk
    const { hasStorage, isDisplaced, rules, holdsUnscanned } = basis
    const holds =
      known?.hasStorage === hasStorage &&
      known.isDisplaced === isDisplaced &&
      known.rules === rules &&
      known.holdsUnscanned === holdsUnscanned
    if (holds) return known.summing
    const summing = new Summing(chunk.rows, this.#findings)
    chunk.sum = { ...basis, summing }
    return summing
  }
}

/** Number of distinct findings of each severity. */
export type ScanCounts = Readonly<Record<(typeof severities)[number], number>>

function isScanned(row: VersionRow): boolean {
  return row.sourceScannedAt !== undefined || row.binaryScannedAt !== undefined
}

/** Counts over the source and binary scans of some rows; undefined if none was scanned. */
export function scanCounts(
  table: FindingTable,
  rows: readonly VersionRow[],
): ScanCounts | undefined {
  if (!rows.some(isScanned)) return undefined
  const lists: FindingList[] = []
  for (const row of rows) addLists(row, lists)
  const [critical = 0, high = 0, medium = 0, low = 0, unknown = 0] = table.countByRank(lists)
  return { critical, high, medium, low, unknown }
}

/** Adds the findings of both scans of a row to others. */
function addLists({ sourceFindings, binaryFindings }: VersionRow, lists: FindingList[]): void {
  if (sourceFindings !== 0) lists.push(sourceFindings)
  if (binaryFindings !== 0) lists.push(binaryFindings)
}
