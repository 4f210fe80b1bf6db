/** Bounded maps, results that callers share, and copies of texts and bytes that keep nothing else in memory. */

export { Bounded } from './bounded.ts'
export { CappedMap } from './capped-map.ts'
export { characterBytes, keptBytes, keptText } from './kept.ts'
export { SharedResults } from './shared-results.ts'
