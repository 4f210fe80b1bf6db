import type { Lifecycle } from '../../api/lifecycle/lifecycle.ts'
import type { StorageConfig } from '../../api/v1alpha1/v1alpha1.ts'
import { addLists, type FindingList, type FindingTable, severities } from './findings.ts'
import { isPrerelease } from './semver-order.ts'
import { accumulate } from './totals.ts'
import type { VersionRow } from './version-row.ts'

/** Number of Versions in each state; `duplicate` and the states of their lifecycle count some of them once more. */
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
  /** The newest release, and the newest version, of those that a CLI can install. */
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
export function addUp(sums: readonly VersionSum[]): VersionSum {
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
    // A yanked version is listed below a newer one only.
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
