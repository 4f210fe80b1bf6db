import { newestFirst } from './semver-order.ts'
import { isSameArchive, type VersionRow, versionOrder } from './version-row.ts'

/**
 * Versions of one parent, newest first, then by platform, those that are no semver last. Of several that are the same
 * version for the same platform the one created first stands first, and the others count as duplicates of it.
 */
export class VersionList {
  #rows: VersionRow[] = []

  get rows(): readonly VersionRow[] {
    return this.#rows
  }

  /** @param more in order */
  insert(more: readonly VersionRow[]): void {
    const [only, ...others] = more
    if (only === undefined || others.length > 0) return this.#merge(more)
    const index = this.#indexOf(only)
    this.#rows.splice(index, 0, only)
    this.#mark(index)
    this.#mark(index + 1)
  }

  remove(row: VersionRow): void {
    const index = this.#indexOf(row)
    if (this.#rows[index] !== row) return
    this.#rows.splice(index, 1)
    row.isDuplicate = false
    this.#mark(index)
  }

  /** Gives up all that do not stay. @returns them, in order */
  release(stays: (row: VersionRow) => boolean): readonly VersionRow[] {
    const kept: VersionRow[] = []
    const gone: VersionRow[] = []
    for (const row of this.#rows) (stays(row) ? kept : gone).push(row)
    if (gone.length > 0) this.#replace(kept)
    for (const row of gone) row.isDuplicate = false
    return gone
  }

  /** The rows of one version, platform by platform. */
  rowsOf(version: string): readonly VersionRow[] {
    const start = this.#lowerBound((row) => newestFirst(row.version, version) < 0)
    let end = start
    while (this.#rows[end]?.version === version) end += 1
    return this.#rows.slice(start, end)
  }

  /** The one that a duplicate is a duplicate of. */
  originalOf(row: VersionRow): VersionRow | undefined {
    return this.#rows[
      this.#lowerBound((other) => !isSameArchive(other, row) && versionOrder(other, row) < 0)
    ]
  }

  #merge(more: readonly VersionRow[]): void {
    const merged: VersionRow[] = []
    let next = 0
    for (const row of this.#rows) {
      while (next < more.length && versionOrder(more[next] as VersionRow, row) < 0) {
        merged.push(more[next] as VersionRow)
        next += 1
      }
      merged.push(row)
    }
    this.#replace([...merged, ...more.slice(next)])
  }

  #replace(rows: VersionRow[]): void {
    this.#rows = rows
    for (let index = 0; index < rows.length; index += 1) this.#mark(index)
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

  /** Index of the first row that is not before the place looked for. */
  #lowerBound(isBefore: (row: VersionRow) => boolean): number {
    let [low, high] = [0, this.#rows.length]
    while (low < high) {
      const middle = (low + high) >>> 1
      if (isBefore(this.#rows[middle] as VersionRow)) low = middle + 1
      else high = middle
    }
    return low
  }
}
