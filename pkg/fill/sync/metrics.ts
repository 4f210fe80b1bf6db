import type { Spool } from '../../archives/spool/spool.ts'
import type { Reason } from '../../base/errors/errors.ts'
import { counter, gauge, type Metrics } from '../../base/telemetry/telemetry.ts'

/** What is looked at with each scrape. */
interface Shown {
  /** How many Versions are in each state. */
  readonly states: () => ReadonlyMap<string, number>
  readonly spool: Pick<Spool, 'reservedBytes'>
}
export type SyncMetrics = ReturnType<typeof create>['metrics']

/** Metrics exist once in a process, and reconcilers each time that it may write. */
const known = new WeakMap<Metrics, ReturnType<typeof create>>()

export function syncMetrics(registry: Metrics, shown: Shown): SyncMetrics {
  const made = known.get(registry) ?? create(registry)
  known.set(registry, made)
  made.show(shown)
  return made.metrics
}

function create(registry: Metrics) {
  let shown: Shown | undefined
  const total = counter(registry, {
    name: 'sync_total',
    help: 'Objects that were brought to an end, by how it went.',
    labels: ['kind', 'reason'],
  })
  const verifyFailures = counter(registry, {
    name: 'verify_failures_total',
    help: 'Archives that were refused, or found to be altered in storage.',
    labels: ['reason'],
  })
  const orphans = gauge(registry, {
    name: 'sync_orphan_archives',
    help: 'Archives in storage that no Version refers to, as the last sweep found them.',
  })
  gauge(
    registry,
    { name: 'versions', help: 'Versions by their state.', labels: ['state'] },
    (versions) => {
      for (const [state, count] of shown?.states() ?? []) versions.set({ state }, count)
    },
  )
  gauge(
    registry,
    {
      name: 'spool_bytes',
      help: 'Room of the spool that archives on their way have, of --spool-size.',
    },
    (bytes) => bytes.set(shown?.spool.reservedBytes ?? 0),
  )
  return {
    show: (now: Shown) => {
      shown = now
    },
    metrics: {
      ended: (kind: string, reason: Reason) => total.inc({ kind, reason }),
      verifyFailed: (reason: Reason) => verifyFailures.inc({ reason }),
      orphans: (count: number) => orphans.set(count),
    },
  }
}
