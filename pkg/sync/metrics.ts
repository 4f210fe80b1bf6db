import { counter, gauge, type Metrics } from '../telemetry/telemetry.ts'
import type { SyncReason } from './conditions.ts'

export type SyncMetrics = ReturnType<typeof createSyncMetrics>

/** Metrics exist once in a process, which may begin to work again and again. */
const known = new WeakMap<Metrics, SyncMetrics>()

/** @param states how many Versions are in each state, asked at each scrape */
export function syncMetrics(
  metrics: Metrics,
  states: () => ReadonlyMap<string, number>,
): SyncMetrics {
  const made = known.get(metrics) ?? createSyncMetrics(metrics, states)
  known.set(metrics, made)
  return made
}

function createSyncMetrics(metrics: Metrics, states: () => ReadonlyMap<string, number>) {
  const total = counter(metrics, {
    name: 'sync_total',
    help: 'Objects that were brought to an end, by how it went.',
    labels: ['kind', 'reason'],
  })
  const verifyFailures = counter(metrics, {
    name: 'verify_failures_total',
    help: 'Archives that were refused, or found to be altered in storage.',
    labels: ['reason'],
  })
  const orphans = gauge(metrics, {
    name: 'sync_orphan_archives',
    help: 'Archives in storage that no Version refers to, as the last sweep found them.',
  })
  gauge(
    metrics,
    { name: 'versions', help: 'Versions by their state.', labels: ['state'] },
    (versions) => {
      for (const [state, count] of states()) versions.set({ state }, count)
    },
  )
  return {
    ended: (kind: string, reason: SyncReason) => total.inc({ kind, reason }),
    verifyFailed: (reason: SyncReason) => verifyFailures.inc({ reason }),
    orphans: (count: number) => orphans.set(count),
  }
}
