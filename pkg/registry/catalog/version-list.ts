import { lowerBound } from './orders.ts'
import type { Parent } from './parent.ts'
import { newestFirst } from './semver-order.ts'
import { chunksOf, VersionChunk } from './version-chunk.ts'
import { type VersionRow, versionOrder } from './version-row.ts'

const noRows: readonly VersionRow[] = []

/**
 * The Versions of one parent, newest first, then by platform. Versions that are not semver come last. If several have the same
 * version and platform, the one created first comes first, and the others are its duplicates.
 *
 * They are in chunks, so that the cost of a change depends on the size of a chunk only.
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

  /** The same in pieces, each with all rows of its versions. */
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
      // Most lists have one chunk; `push` would make room for 17.
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

  /** Removes the rows that belong to other lists now. @returns them by list, in sorted chunks */
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
  protected get parent(): Parent | undefined {
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
