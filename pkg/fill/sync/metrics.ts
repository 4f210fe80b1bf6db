import type { Reason } from '../../base/errors/errors.ts'
import { counter, gauge, type Metrics } from '../../base/telemetry/telemetry.ts'

/** Values that are read at each scrape. */
interface ScrapedValues {
  /** Number of Versions in each state. */
  readonly states: () => ReadonlyMap<string, number>
  /** Number of Modules and Providers whose Versions stay until a person confirms their removal. */
  readonly heldRemovals: () => number
  /** Number of versions that the policy of their Depot holds back. */
  readonly heldBack: () => number
  /** Number of other contents of the last hour, by the kind of version. */
  readonly substitutions: () => ReadonlyMap<string, number>
}
export type SyncMetrics = ReturnType<typeof create>['metrics']

/** A process has one set of metrics, and starts reconcilers each time that it becomes leader. */
const known = new WeakMap<Metrics, ReturnType<typeof create>>()

export function syncMetrics(registry: Metrics, shown: ScrapedValues): SyncMetrics {
  const made = known.get(registry) ?? create(registry)
  known.set(registry, made)
  made.show(shown)
  return made.metrics
}

function create(registry: Metrics) {
  let shown: ScrapedValues | undefined
  const total = counter(registry, {
    name: 'sync_total',
    help: 'Finished work on objects, by result.',
    labels: ['kind', 'reason'],
  })
  const verifyFailures = counter(registry, {
    name: 'verify_failures_total',
    help: 'Archives that were refused, or were found altered in storage.',
    labels: ['reason'],
  })
  const substitutions = counter(registry, {
    name: 'upstream_substitution_total',
    help: 'Other content that upstreams had under a version that is stored or waits, and that was refused.',
    labels: ['kind'],
  })
  // An increase from nothing is not an increase to Prometheus.
  for (const kind of ['Module', 'Provider']) substitutions.inc({ kind }, 0)
  gauge(registry, {
    name: 'upstream_substitutions_recent',
    help: 'Other content of the last hour under a version that is stored or waits, as statuses keep it.',
    labels: ['kind'],
    collect: (recent) => {
      for (const [kind, count] of shown?.substitutions() ?? []) recent.set({ kind }, count)
    },
  })
  const orphans = gauge(registry, {
    name: 'sync_orphan_archives',
    help: 'Archives in storage that no Version refers to, as of the last sweep.',
  })
  gauge(registry, {
    name: 'versions',
    help: 'Versions by their state.',
    labels: ['state'],
    collect: (versions) => {
      for (const [state, count] of shown?.states() ?? []) versions.set({ state }, count)
    },
  })
  gauge(registry, {
    name: 'removals_held',
    help: 'Modules and Providers that wait for a person to confirm the removal of versions.',
    collect: (held) => held.set(shown?.heldRemovals() ?? 0),
  })
  gauge(registry, {
    name: 'versions_held_back',
    help: 'Versions of upstreams that the policy of their Depot holds back.',
    collect: (held) => held.set(shown?.heldBack() ?? 0),
  })
  return {
    show: (now: ScrapedValues) => {
      shown = now
    },
    metrics: {
      ended: (kind: string, reason: Reason) => total.inc({ kind, reason }),
      verifyFailed: (reason: Reason) => verifyFailures.inc({ reason }),
      substituted: (kind: 'Module' | 'Provider') => substitutions.inc({ kind }),
      orphans: (count: number) => orphans.set(count),
    },
  }
}
