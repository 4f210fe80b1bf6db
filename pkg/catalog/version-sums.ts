import type { StorageConfig } from '../apis/v1alpha1/v1alpha1.ts'
import type { FindingTable } from './findings.ts'
import { Interner } from './interner.ts'
import type { Parent } from './parent.ts'
import { type ScanCounts, scanCounts } from './scans.ts'
import type { VersionRow } from './version-row.ts'
import { statesOf, type VersionStates } from './version-states.ts'

/** What one version, all its platforms together, adds to the sums of its parent. */
export interface VersionSum {
  /** What was summed up. */
  readonly rows: readonly VersionRow[]
  readonly states: VersionStates
  readonly health: Record<VersionRow['health'], number>
  readonly storageBytes: number
  /** Undefined where it was not scanned. */
  readonly scanCounts: ScanCounts | undefined
  /** In milliseconds since 1970. */
  readonly lastScannedAt: number | undefined
  /** `linux/amd64`, each once. */
  readonly platforms: readonly string[]
  /** Of the first row that says one. */
  readonly storage: StorageConfig | undefined
}

/** What rows ask of their parent: their sums hold as long as this is the same. */
interface Basis {
  readonly hasStorage: boolean
  readonly isDisplaced: boolean
}

type Known = Basis & {
  readonly sums: Map<string, VersionSum>
  readonly isWhole: boolean
}

/** How far summing up has come with a parent that has not changed since. */
interface Progress {
  readonly parent: Parent
  /** Another one after each change. */
  readonly state: object
  readonly sums: VersionSum[]
  /** Index of the first Version that is not in the sums. */
  next: number
}

/** Parents with fewer Versions are summed up as a whole, which takes less than a millisecond. */
const fewVersions = 500
/** To find again what was summed up before takes a tenth of the time. */
const knownPerNew = 10
/**
 * Of all parents: some three megabytes. The sums of the parent that was asked for last are kept however many they are,
 * and those that are not whole yet: what was done for them would be lost.
 */
const maxSums = 10_000

/**
 * The sums of each version of large parents, so that a change costs what its version costs. A sum holds for exactly the
 * rows that it was made of, and rows never change, so nobody has to say what changed.
 */
export class VersionSums {
  readonly #findings: FindingTable
  readonly #platforms = new Interner<string>()
  /** Those that were asked for longest ago come first. */
  readonly #known = new Map<Parent, Known>()
  /** How many are known of parents that are whole. */
  #size = 0
  /** Of one parent whose sums are not whole. */
  #progress: Progress | undefined

  constructor(findings: FindingTable) {
    this.#findings = findings
  }

  /**
   * The sums of all versions, newest first.
   *
   * @param maxRows how many Versions may be looked at that were not summed up before
   * @returns no sums where these were not enough; what was done is kept for the next time. What it cost is in Versions
   *   that were not summed up before.
   */
  of(
    parent: Parent,
    maxRows: number,
  ): { readonly sums: readonly VersionSum[] | undefined; readonly cost: number } {
    const { versions } = parent
    if (versions.length < fewVersions) {
      this.forget(parent)
      const sums = Array.from(runsOf(versions), ({ rows }) => this.#sum(rows))
      return { sums, cost: versions.length }
    }
    const progress = this.#progressOf(parent)
    const known = this.#take(parent)
    const { sums } = progress
    let looked = 0
    let again = 0
    while (progress.next < versions.length) {
      const start = progress.next
      const before = known.get((versions[start] as VersionRow).version)
      if (before !== undefined && isOf(before, versions, start)) {
        sums.push(before)
        progress.next += before.rows.length
        again += before.rows.length
        continue
      }
      if (looked >= maxRows) break
      const sum = this.#sum(runFrom(versions, start))
      known.set(sum.rows[0]?.version ?? '', sum)
      sums.push(sum)
      progress.next += sum.rows.length
      looked += sum.rows.length
    }
    const isWhole = progress.next === versions.length
    if (!isWhole) this.#progress = progress
    if (isWhole) this.#keep(parent, sums)
    return { sums: isWhole ? sums : undefined, cost: looked + Math.floor(again / knownPerNew) }
  }

  /** Where to go on: after a change that is the beginning. */
  #progressOf(parent: Parent): Progress {
    // What a parent remembers is gone after a change of it or of its Versions.
    const state = parent.memo('state', () => ({}))
    const { parent: last, state: before } = this.#progress ?? {}
    if (this.#progress !== undefined && last === parent && before === state) return this.#progress
    return { parent, state, sums: [], next: 0 }
  }

  forget(parent: Parent): void {
    const known = this.#known.get(parent)
    if (known?.isWhole) this.#size -= known.sums.size
    this.#known.delete(parent)
    if (this.#progress?.parent === parent) this.#progress = undefined
  }

  /** The sums of a parent that still hold, as those that were asked for last. */
  #take(parent: Parent): Map<string, VersionSum> {
    const known = this.#known.get(parent)
    const hasStorage = parent.resource?.storage !== undefined
    const isDisplaced = parent.displacedBy !== undefined
    const holds = known?.hasStorage === hasStorage && known.isDisplaced === isDisplaced
    this.forget(parent)
    const sums = (holds ? known.sums : undefined) ?? new Map<string, VersionSum>()
    this.#known.set(parent, { hasStorage, isDisplaced, sums, isWhole: false })
    return sums
  }

  /** Keeps all sums of the parent that was asked for last, and those of others as far as there is room. */
  #keep(last: Parent, sums: readonly VersionSum[]): void {
    const known = this.#known.get(last)
    if (known === undefined) return
    if (known.sums.size > sums.length) dropOthers(known.sums, sums)
    this.#known.set(last, { ...known, isWhole: true })
    this.#size += sums.length
    for (const [parent, { isWhole }] of this.#known) {
      if (this.#size <= maxSums) return
      if (isWhole && parent !== last) this.forget(parent)
    }
  }

  #sum(rows: readonly VersionRow[]): VersionSum {
    const health = { synced: 0, unsynced: 0, failed: 0 }
    let storageBytes = 0
    for (const row of rows) {
      health[row.health] += 1
      storageBytes += row.sizeBytes ?? 0
    }
    return {
      rows,
      states: statesOf(rows),
      health,
      storageBytes,
      scanCounts: scanCounts(this.#findings, rows),
      lastScannedAt: lastScannedAt(rows),
      platforms: [...new Set(rows.map((row) => this.#platformOf(row)))],
      storage: rows.find(({ common }) => common.storage)?.common.storage,
    }
  }

  #platformOf({ os = '', arch = '' }: VersionRow): string {
    const platform = `${os}/${arch}`.toLowerCase()
    return this.#platforms.get(platform, () => platform)
  }
}

/** The rows of each version: they stand together, because they come sorted. */
export function* runsOf(all: readonly VersionRow[]): Generator<{ rows: readonly VersionRow[] }> {
  for (let start = 0; start < all.length; ) {
    const rows = runFrom(all, start)
    yield { rows }
    start += rows.length
  }
}

function runFrom(rows: readonly VersionRow[], start: number): readonly VersionRow[] {
  let end = start + 1
  while (end < rows.length && rows[end]?.version === rows[start]?.version) end += 1
  return rows.slice(start, end)
}

/** Whether a sum is that of the rows that begin there, all of them and no others. */
function isOf({ rows }: VersionSum, all: readonly VersionRow[], start: number): boolean {
  for (let index = 0; index < rows.length; index += 1) {
    if (rows[index] !== all[start + index]) return false
  }
  return all[start + rows.length]?.version !== rows[0]?.version
}

function dropOthers(known: Map<string, VersionSum>, sums: readonly VersionSum[]): void {
  known.clear()
  for (const sum of sums) known.set(sum.rows[0]?.version ?? '', sum)
}

function lastScannedAt(rows: readonly VersionRow[]): number | undefined {
  let last: number | undefined
  let known: string | undefined
  for (const row of rows) {
    for (const scannedAt of [row.sourceScannedAt, row.binaryScannedAt]) {
      // One scan covers many Versions.
      if (scannedAt === undefined || scannedAt === '' || scannedAt === known) continue
      known = scannedAt
      const time = Date.parse(scannedAt)
      if (time > (last ?? Number.NEGATIVE_INFINITY)) last = time
    }
  }
  return last
}
