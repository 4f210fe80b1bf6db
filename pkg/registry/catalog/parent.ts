import type { ParentKind } from '../../api/v1alpha1/v1alpha1.ts'
import { comparePrecedence, isPrerelease, lowerBound, newestFirst } from './collections.ts'
import type { ResourceRow } from './resource-row.ts'
import {
  isSameArchive,
  type ParentOfVersion,
  type VersionRow,
  versionOrder,
} from './version-row.ts'
import type { ChunkSum } from './version-sums.ts'

const noRows: readonly VersionRow[] = []

/**
 * The Versions of one parent, newest first, then by platform. Versions that are not semver come last. Among Versions with the
 * same version and platform, the one that was created first comes first, and the others are its duplicates.
 *
 * The list has chunks, so that the cost of a change only depends on the size of a chunk.
 */
export class VersionList {
  /** No chunk is empty. */
  #chunks: VersionChunk[] = []
  /** All rows in one array, if there are several chunks. */
  #whole: readonly VersionRow[] | undefined

  /** Newest first, then by platform. Versions that are not semver come last. */
  get versions(): readonly VersionRow[] {
    if (this.#chunks.length < 2) return this.#chunks[0]?.rows ?? noRows
    this.#whole ??= this.#chunks.flatMap(({ rows }) => rows)
    return this.#whole
  }

  /** The same rows in chunks. A chunk has all rows of its versions. */
  get chunks(): readonly VersionChunk[] {
    return this.#chunks
  }

  get size(): number {
    return this.#chunks.reduce((sum, { rows }) => sum + rows.length, 0)
  }

  insert(row: VersionRow): void {
    row.parent = this.parent
    const index = Math.max(0, this.#indexOf(row.version))
    const chunk = this.#chunks[index]
    this.#whole = undefined
    if (chunk === undefined) {
      // Most lists have one chunk; `push` would allocate 17.
      this.#chunks = [new VersionChunk([row])]
      return
    }
    chunk.insert(row)
    const half = chunk.split()
    if (half !== undefined) this.#chunks.splice(index + 1, 0, half)
  }

  /** @returns whether it existed */
  remove(row: VersionRow): boolean {
    const index = this.#indexOf(row.version)
    const chunk = this.#chunks[index]
    if (chunk?.remove(row) !== true) return false
    row.parent = undefined
    this.#whole = undefined
    if (chunk.rows.length === 0) this.#chunks.splice(index, 1)
    else if (!this.#joinAt(index)) this.#joinAt(index - 1)
    return true
  }

  /** Removes rows that belong to other lists now. @returns them by list, in sorted chunks */
  release(homeOf: (row: VersionRow) => VersionList): Map<VersionList, VersionChunk[]> {
    const homes = new Map<VersionList, VersionChunk[]>()
    const give = (home: VersionList, chunk: VersionChunk): void => {
      const given = homes.get(home)
      if (given === undefined) homes.set(home, [chunk])
      else given.push(chunk)
    }
    for (const chunk of this.#chunks) {
      const home = homeOf(chunk.rows[0] as VersionRow)
      if (chunk.rows.every((row) => homeOf(row) === home)) give(home, chunk)
      else {
        for (const [of, rows] of Map.groupBy(chunk.rows, homeOf)) {
          give(of, new VersionChunk(rows).markAll())
        }
      }
    }
    this.#chunks = homes.get(this) ?? []
    this.#whole = undefined
    homes.delete(this)
    return homes
  }

  /** Adds chunks of another list. @param more sorted chunks */
  absorb(more: readonly VersionChunk[]): void {
    const others = more.flatMap(({ rows }) => rows)
    for (const row of others) row.parent = this.parent
    this.#chunks = this.#chunks.length === 0 ? [...more] : chunksOf(merged(this.versions, others))
    this.#whole = undefined
  }

  /** The rows of one version, platform by platform. */
  rowsOf(version: string): readonly VersionRow[] {
    return this.#chunks[this.#indexOf(version)]?.rowsOf(version) ?? noRows
  }

  /** The row that a duplicate repeats. */
  originalOf(row: VersionRow): VersionRow | undefined {
    return this.#chunks[this.#indexOf(row.version)]?.originalOf(row)
  }

  /** The parent of the Versions; undefined if they have none. */
  protected get parent(): ParentOfVersion | undefined {
    return undefined
  }

  #joinAt(index: number): boolean {
    const [chunk, next] = [this.#chunks[index], this.#chunks[index + 1]]
    if (chunk === undefined || next === undefined || !chunk.join(next)) return false
    this.#chunks.splice(index + 1, 1)
    return true
  }

  /** Index of the chunk for a version; -1 if the version is newer than all. */
  #indexOf(version: string): number {
    return lowerBound(this.#chunks, (chunk) => newestFirst(chunk.version, version) <= 0) - 1
  }
}

function merged(a: readonly VersionRow[], b: readonly VersionRow[]): VersionRow[] {
  const rows: VersionRow[] = []
  let next = 0
  for (const row of a) {
    while (next < b.length && versionOrder(b[next] as VersionRow, row) < 0) {
      rows.push(b[next] as VersionRow)
      next += 1
    }
    rows.push(row)
  }
  return [...rows, ...b.slice(next)]
}

/** Maximum number of rows. They are summed up in about half a millisecond. */
const maxRows = 256
/** A smaller chunk is merged with its neighbour. */
const minRows = 64

/**
 * Neighbours in a list of Versions. All rows of one version are in the same chunk. So its duplicates, and its part in the sums
 * of the list, are known without reading other chunks.
 */
export class VersionChunk {
  readonly #rows: VersionRow[]
  /** The sum over the rows; undefined after a change of them. */
  sum: ChunkSum | undefined = undefined

  /** @param rows at least one, in order */
  constructor(rows: VersionRow[]) {
    this.#rows = rows
  }

  /** In order. */
  get rows(): readonly VersionRow[] {
    return this.#rows
  }

  /** The newest version in the chunk. */
  get version(): string {
    return (this.#rows[0] as VersionRow).version
  }

  insert(row: VersionRow): void {
    const index = this.#indexOf(row)
    this.#rows.splice(index, 0, row)
    this.#changed(index, index + 1)
  }

  /** @returns whether it existed */
  remove(row: VersionRow): boolean {
    const index = this.#indexOf(row)
    if (this.#rows[index] !== row) return false
    this.#rows.splice(index, 1)
    row.isDuplicate = false
    this.#changed(index, index)
    return true
  }

  rowsOf(version: string): readonly VersionRow[] {
    const start = this.#lowerBound((row) => newestFirst(row.version, version) < 0)
    return this.#rows.slice(start, this.#endOf(version))
  }

  /** The row that a duplicate repeats. */
  originalOf(row: VersionRow): VersionRow | undefined {
    return this.#rows[
      this.#lowerBound((other) => !isSameArchive(other, row) && versionOrder(other, row) < 0)
    ]
  }

  /** Recomputes the duplicates. */
  markAll(): this {
    for (let index = 0; index < this.#rows.length; index += 1) this.#mark(index)
    return this
  }

  /** Splits off the older half if the chunk is too large and has more than one version. */
  split(): VersionChunk | undefined {
    const { length } = this.#rows
    if (length <= maxRows) return undefined
    const { version } = this.#rows[length >>> 1] as VersionRow
    const start = this.#lowerBound((row) => newestFirst(row.version, version) < 0)
    const at = start > 0 ? start : this.#endOf(version)
    if (at === length) return undefined
    this.sum = undefined
    return new VersionChunk(this.#rows.splice(at))
  }

  /** Merges the next chunk into this one if both are small. @returns whether it did */
  join(next: VersionChunk): boolean {
    const length = this.#rows.length + next.rows.length
    if (Math.min(this.#rows.length, next.rows.length) >= minRows || length > maxRows / 2)
      return false
    for (const row of next.rows) this.#rows.push(row)
    this.sum = undefined
    return true
  }

  #changed(...indexes: readonly number[]): void {
    this.sum = undefined
    for (const index of indexes) this.#mark(index)
  }

  #mark(index: number): void {
    const row = this.#rows[index]
    if (row === undefined) return
    const before = this.#rows[index - 1]
    row.isDuplicate = before !== undefined && isSameArchive(before, row)
  }

  #indexOf(row: VersionRow): number {
    return this.#lowerBound((other) => versionOrder(other, row) < 0)
  }

  /** Index of the first row after those of a version. */
  #endOf(version: string): number {
    return this.#lowerBound((row) => newestFirst(row.version, version) <= 0)
  }

  #lowerBound(isBefore: (row: VersionRow) => boolean): number {
    return lowerBound(this.#rows, isBefore)
  }
}

/** Cuts sorted rows into chunks. */
function chunksOf(rows: readonly VersionRow[]): VersionChunk[] {
  const chunks: VersionChunk[] = []
  for (let start = 0; start < rows.length; ) {
    let end = Math.min(start + maxRows / 2, rows.length)
    while (end < rows.length && rows[end]?.version === rows[end - 1]?.version) end += 1
    chunks.push(new VersionChunk(rows.slice(start, end)).markAll())
    start = end
  }
  return chunks
}

/** A Module or Provider with its Versions. It may outlive its object. */
export class Parent extends VersionList {
  readonly kind: ParentKind
  readonly namespace: string
  /** `metadata.name` */
  readonly name: string
  resource: ResourceRow | undefined
  /** Name of the older parent with the same address. Then the Versions of this one are not served. */
  displacedBy: string | undefined
  /** Whether it has the address of its config, in addition to its `metadata.name`. */
  hasAddress = true
  #memo: Map<string, unknown> | undefined
  #refusals: Map<string, number> | undefined

  readonly #onRefuse: (() => void) | undefined

  constructor(kind: ParentKind, namespace: string, name: string, onRefuse?: () => void) {
    super()
    this.#onRefuse = onRefuse
    this.kind = kind
    this.namespace = namespace
    this.name = name
  }

  /** Remembers a computed value until the parent or one of its Versions changes. */
  memo<T>(key: string, compute: () => T): T {
    this.#memo ??= new Map()
    if (!this.#memo.has(key)) this.#memo.set(key, compute())
    return this.#memo.get(key) as T
  }

  /** Counts a request for a version that is held back. */
  refuse(version: string): void {
    this.#refusals ??= new Map()
    this.#refusals.set(version, this.refusalsOf(version) + 1)
    this.#onRefuse?.()
  }

  /** Number of refused requests for a version since the start. */
  refusalsOf(version: string): number {
    return this.#refusals?.get(version) ?? 0
  }

  /** Call it after each change. */
  forgetMemo(): void {
    this.#memo = undefined
  }

  /** Whether a newer release of the same minor version is served and active. */
  hasNewerActive(version: string): boolean {
    const newest = this.memo('activeReleases', () => this.#newestActive()).get(minorOf(version))
    return newest !== undefined && comparePrecedence(newest, version) > 0
  }

  /** The newest active release of each minor version. */
  #newestActive(): ReadonlyMap<string, string> {
    const newest = new Map<string, string>()
    for (const row of this.versions) {
      const { version } = row
      if (newest.has(minorOf(version)) || isPrerelease(version)) continue
      if (row.downloadable && row.lifecycle === undefined) newest.set(minorOf(version), version)
    }
    return newest
  }

  protected override get parent(): Parent {
    return this
  }
}

/** `1.2` of `1.2.3`. */
const minorOf = (version: string): string => version.split('.', 2).join('.')
