import type { FindingTable } from './findings.ts'
import type { Parent } from './parent.ts'
import type { VersionChunk } from './version-chunk.ts'
import { addUp, Summing, type VersionSum } from './version-sum.ts'

/** Chunks whose sums are put together for what it costs to look at one Version. */
const chunksPerVersion = 4

/** The fields of the parent that sums depend on: a sum is valid as long as they are the same. */
interface Basis {
  readonly hasStorage: boolean
  readonly isDisplaced: boolean
}

/** The sum of a chunk, or its state so far. */
export type ChunkSum = Basis & { readonly summing: Summing }

/**
 * The sum over the Versions of a parent. The sum of a chunk is kept as long as the chunk, so that a change costs what a
 * chunk costs, and what many changes leave can be done a part at a time.
 */
export class VersionSums {
  readonly #findings: FindingTable

  constructor(findings: FindingTable) {
    this.#findings = findings
  }

  /**
   * @param maxRows how many Versions may be looked at that were not summed up before
   * @returns no sum where these were not enough; what was done is kept for the next time. What it cost is in Versions that
   *   were not summed up before.
   */
  of(
    parent: Parent,
    maxRows: number,
  ): { readonly sum: VersionSum | undefined; readonly cost: number } {
    const { chunks } = parent
    const basis = {
      hasStorage: parent.resource?.storage !== undefined,
      isDisplaced: parent.displacedBy !== undefined,
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
    // Others are made again as fast as they are found, and most parents have no others.
    if (chunks.length === 1 && chunks[0] !== undefined) chunks[0].sum = undefined
    return { sum: addUp(sums), cost }
  }

  #summingOf(chunk: VersionChunk, basis: Basis): Summing {
    const { sum: known } = chunk
    const { hasStorage, isDisplaced } = basis
    const holds = known?.hasStorage === hasStorage && known.isDisplaced === isDisplaced
    if (holds) return known.summing
    const summing = new Summing(chunk.rows, this.#findings)
    chunk.sum = { ...basis, summing }
    return summing
  }
}
