import type { StorageConfig } from '../../api/v1alpha1/v1alpha1.ts'
import type { FindingList, FindingTable } from './findings.ts'
import { addLists } from './scans.ts'
import { isPrerelease } from './semver-order.ts'
import { severities } from './severity.ts'
import { accumulate } from './totals.ts'
import type { VersionRow } from './version-row.ts'
import { addStates, noStates, type VersionStates } from './version-states.ts'

/** The sum over some versions of one parent, with all platforms of each. */
export interface VersionSum {
  /** Number of Versions. */
  readonly count: number
  readonly states: VersionStates
  readonly health: Record<VersionRow['health'], number>
  readonly storageBytes: number
  /** Number of findings in the order of `severities`: of each version those that are distinct. */
  readonly findings: readonly number[]
  /** In milliseconds since 1970. */
  readonly lastScannedAt: number | undefined
  /** `linux/amd64`, each once. */
  readonly platforms: ReadonlySet<string>
  /** Storage of the first row that has one. */
  readonly storage: StorageConfig | undefined
  /** The newest release, and the newest version of all, among those that a CLI can install. */
  readonly newestRelease: string | undefined
  readonly newest: string | undefined
}

const nothing: VersionSum = {
  count: 0,
  states: noStates(),
  health: { synced: 0, unsynced: 0, failed: 0 },
  storageBytes: 0,
  findings: severities.map(() => 0),
  lastScannedAt: undefined,
  platforms: new Set(),
  storage: undefined,
  newestRelease: undefined,
  newest: undefined,
}

/** @param sums of newer versions first */
export function addUp(sums: readonly VersionSum[]): VersionSum {
  const [only = nothing, ...others] = sums
  if (others.length === 0) return only
  const all = {
    ...only,
    states: noStates(),
    health: { synced: 0, unsynced: 0, failed: 0 },
    count: 0,
    storageBytes: 0,
    findings: severities.map(() => 0),
    platforms: new Set<string>(),
  }
  for (const sum of sums) {
    addStates(all.states, sum.states, 1)
    all.health.synced += sum.health.synced
    all.health.unsynced += sum.health.unsynced
    all.health.failed += sum.health.failed
    all.count += sum.count
    all.storageBytes += sum.storageBytes
    accumulate(all.findings, sum.findings)
    all.lastScannedAt = later(all.lastScannedAt, sum.lastScannedAt)
    for (const platform of sum.platforms) all.platforms.add(platform)
    all.storage ??= sum.storage
    all.newestRelease ??= sum.newestRelease
    all.newest ??= sum.newest
  }
  return all
}

/** Sums up rows, a part at a time: how many there are of one version is not bounded. */
export class Summing {
  readonly #rows: readonly VersionRow[]
  readonly #table: FindingTable
  readonly #platforms = new Set<string>()
  readonly #states = noStates()
  readonly #health = { synced: 0, unsynced: 0, failed: 0 }
  readonly #findings = severities.map(() => 0)
  #next = 0
  #storageBytes = 0
  #storage: StorageConfig | undefined
  #lastScannedAt: number | undefined
  #scannedAt: string | undefined
  #newestRelease: string | undefined
  #newest: string | undefined
  /** Findings of the version that was begun, by their subject. */
  #worst: Map<number, number> | undefined
  #isServable = false

  /** @param rows all those of some versions, in order */
  constructor(rows: readonly VersionRow[], table: FindingTable) {
    this.#rows = rows
    this.#table = table
  }

  /** @returns how many rows were looked at, `maxRows` at most */
  advance(maxRows: number): number {
    const start = this.#next
    while (this.#next < this.#rows.length && this.#next - start < maxRows) {
      this.#addSome(maxRows - (this.#next - start))
    }
    return this.#next - start
  }

  /** Undefined as long as it is not done. */
  get sum(): VersionSum | undefined {
    if (this.#next < this.#rows.length) return undefined
    return {
      count: this.#rows.length,
      states: this.#states,
      health: this.#health,
      storageBytes: this.#storageBytes,
      findings: this.#findings,
      lastScannedAt: this.#lastScannedAt,
      platforms: this.#platforms,
      storage: this.#storage,
      newestRelease: this.#newestRelease,
      newest: this.#newest,
    }
  }

  /** Rows of one version, no more than the limit. */
  #addSome(limit: number): void {
    const rows = this.#rows
    const start = this.#next
    const version = rows[start]?.version ?? ''
    const lists: FindingList[] = []
    let end = start
    while (end - start < limit && rows[end]?.version === version) {
      this.#add(rows[end] as VersionRow, lists)
      end += 1
    }
    this.#next = end
    const isWhole = rows[end]?.version !== version
    if (isWhole && this.#worst === undefined) {
      accumulate(this.#findings, this.#table.countByRank(lists))
    } else {
      this.#worst ??= new Map()
      this.#table.keepWorst(this.#worst, lists)
    }
    if (!isWhole) return
    for (const rank of this.#worst?.values() ?? []) {
      this.#findings[rank] = (this.#findings[rank] as number) + 1
    }
    if (this.#isServable) {
      this.#newest ??= version
      if (!isPrerelease(version)) this.#newestRelease ??= version
    }
    this.#worst = undefined
    this.#isServable = false
  }

  #add(row: VersionRow, lists: FindingList[]): void {
    const { state, sizeBytes = 0, os = '', arch = '', common, sourceScannedAt } = row
    this.#states[state] += 1
    if (row.isDuplicate) this.#states.duplicate += 1
    if (state !== 'unservable') this.#isServable = true
    this.#health[row.health] += 1
    this.#storageBytes += sizeBytes
    this.#storage ??= common.storage
    this.#platforms.add(`${os}/${arch}`.toLowerCase())
    this.#scanned(sourceScannedAt)
    this.#scanned(row.binaryScannedAt)
    addLists(row, lists)
  }

  #scanned(at: string | undefined): void {
    // One scan covers many Versions.
    if (at === undefined || at === '' || at === this.#scannedAt) return
    this.#scannedAt = at
    const time = Date.parse(at)
    if (!Number.isNaN(time)) this.#lastScannedAt = later(this.#lastScannedAt, time)
  }
}

function later(a: number | undefined, b: number | undefined): number | undefined {
  if (a === undefined || b === undefined) return a ?? b
  return Math.max(a, b)
}
