import { lowerBound } from './orders.ts'
import { newestFirst } from './semver-order.ts'
import { isSameArchive, type VersionRow, versionOrder } from './version-row.ts'
import type { ChunkSum } from './version-sums.ts'

/** Maximum number of rows, which are summed up in about half a millisecond. */
const maxRows = 256
/** A smaller chunk is merged with its neighbour. */
const minRows = 64

/**
 * Neighbours in a list of Versions. All rows of one version are in the same chunk. So the part of a chunk in the sums of its
 * list, and its duplicates, are known without reading other chunks.
 */
export class VersionChunk {
  readonly #rows: VersionRow[]
  /** The sum over the rows; undefined after a change of them. */
  sum: ChunkSum | undefined = undefined

  /** @param rows in order, at least one */
  constructor(rows: VersionRow[]) {
    this.#rows = rows
  }

  /** In order. */
  get rows(): readonly VersionRow[] {
    return this.#rows
  }

  /** The newest version that is in it. */
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

  /** The rows of one version. */
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

  /** Finds the duplicates again. */
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

  /** Index of the first row behind those of a version. */
  #endOf(version: string): number {
    return this.#lowerBound((row) => newestFirst(row.version, version) <= 0)
  }

  #lowerBound(isBefore: (row: VersionRow) => boolean): number {
    return lowerBound(this.#rows, isBefore)
  }
}

/** Cuts sorted rows into chunks. */
export function chunksOf(rows: readonly VersionRow[]): VersionChunk[] {
  const chunks: VersionChunk[] = []
  for (let start = 0; start < rows.length; ) {
    let end = Math.min(start + maxRows / 2, rows.length)
    while (end < rows.length && rows[end]?.version === rows[end - 1]?.version) end += 1
    chunks.push(new VersionChunk(rows.slice(start, end)).markAll())
    start = end
  }
  return chunks
}
