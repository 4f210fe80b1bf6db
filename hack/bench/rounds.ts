import type { LoadResult } from './load.ts'

/** Medians of one server in one case, over its rounds. */
export interface Figures {
  readonly requestsPerSecond: number
  readonly p50Ms: number
  readonly p99Ms: number
  /** To the bare server in the same round. */
  readonly ratio: number
}

/**
 * Measures servers in turns, forwards and backwards (A B C C B A), so that what else the machine does falls on all of
 * them. A ratio is taken within one turn, and the median over all turns.
 *
 * @param servers the first is the one that the others are compared with
 */
export async function measure(
  servers: readonly (() => Promise<LoadResult>)[],
  turns: number,
): Promise<Figures[]> {
  const results: LoadResult[][] = servers.map(() => [])
  for (let turn = 0; turn < turns; turn++) {
    const order = servers.map((_, index) => index)
    for (const index of turn % 2 === 0 ? order : order.toReversed()) {
      const result = await servers[index]?.()
      if (result !== undefined) results[index]?.push(result)
    }
  }
  return results.map((own) => ({
    requestsPerSecond: median(own.map((result) => result.requestsPerSecond)),
    p50Ms: median(own.map((result) => result.p50Ms)),
    p99Ms: median(own.map((result) => result.p99Ms)),
    ratio: median(
      own.map((result, turn) => {
        const bare = results[0]?.[turn]?.requestsPerSecond ?? Number.NaN
        return result.requestsPerSecond / bare
      }),
    ),
  }))
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted.length >> 1
  const upper = sorted[middle] ?? Number.NaN
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2
}
