import { backoffMs } from '../../../base/pacing/pacing.ts'

/** How long to wait after this many failures in a row: half of it is chance, so that clients of one outage do not come back at once. */
export function backoff(firstMs: number, failures: number): number {
  return backoffMs({ firstMs, capMs: 5000, jitter: 'equal', random: Math.random }, failures)
}
