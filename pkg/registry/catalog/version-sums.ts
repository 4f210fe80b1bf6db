import type { FindingTable } from './findings.ts'
import type { Parent } from './parent.ts'
import type { VersionChunk } from './version-chunk.ts'
import { addUp, Summing, type VersionSum } from './version-sum.ts'

/** Number of chunks whose sums can be added at the cost of reading one Version. */
const chunksPerVersion = 4

/** The fields of the parent on which sums depend: a sum is valid as long as they do not change. */
interface Basis {
  readonly hasStorage: boolean
  readonly isDisplaced: boolean
  /** The lifecycle of its versions. */
  readonly rules: string | undefined
  readonly holdsUnscanned: boolean | undefined
}

/** The sum of a chunk, or its state so far. */
export type ChunkSum = Basis & { readonly summing: Summing }

/**
 * The sum over the Versions of a parent. The sum of a chunk is kept as long as the chunk, so that the cost of a change depends
 * on the size of a chunk, and many changes can be applied in parts.
 */
export class VersionSums {
  readonly #findings: FindingTable

  constructor(findings: FindingTable) {
    this.#findings = findings
  }

  /**
   * @param maxRows maximum number of Versions that are read because they have no sum yet
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

  #summingOf(chunk: VersionChunk, basis: Basis): Summing {
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
