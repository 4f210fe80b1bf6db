import { ListingMemory } from '../../api/v1alpha1/v1alpha1.ts'
import type { Reason } from '../../base/errors/errors.ts'
import { counter, gauge, type Metrics, oncePer } from '../../base/telemetry/telemetry.ts'
import type { Objects, StoredObject } from '../../records/store/store.ts'
import { readyIn } from './status.ts'
import { msOf } from './timings.ts'
import { versionStatus } from './version/work.ts'

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
export type SyncMetrics = ReturnType<typeof metricsOf>['metrics']

export function syncMetrics(registry: Metrics, shown: ScrapedValues): SyncMetrics {
  const made = metricsOf(registry)
  made.show(shown)
  return made.metrics
}

const metricsOf = oncePer((registry) => {
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
    help: 'Changed content under a stored or waiting version, which Depot refused.',
    labels: ['kind'],
  })
  // An increase from nothing is not an increase to Prometheus.
  for (const kind of ['Module', 'Provider']) substitutions.inc({ kind }, 0)
  const orphans = gauge(registry, {
    name: 'sync_orphan_archives',
    help: 'Archives in storage that no Version refers to, as of the last sweep.',
  })
  const shown = showValues(registry)
  return {
    show: (now: ScrapedValues) => {
      shown.values = now
    },
    metrics: {
      ended: (kind: string, reason: Reason) => total.inc({ kind, reason }),
      verifyFailed: (reason: Reason) => verifyFailures.inc({ reason }),
      substituted: (kind: 'Module' | 'Provider') => substitutions.inc({ kind }),
      orphans: (count: number) => orphans.set(count),
    },
  }
})

/** Gauges of values that a running sync tells at each scrape. */
function showValues(registry: Metrics): { values: ScrapedValues | undefined } {
  const shown: { values: ScrapedValues | undefined } = { values: undefined }
  gauge(registry, {
    name: 'upstream_substitutions_recent',
    help: 'Changed content of the last hour under a stored or waiting version, as statuses keep it.',
    labels: ['kind'],
    collect: (recent) => {
      for (const [kind, count] of shown.values?.substitutions() ?? []) recent.set({ kind }, count)
    },
  })
  gauge(registry, {
    name: 'versions',
    help: 'Versions by their state.',
    labels: ['state'],
    collect: (versions) => {
      for (const [state, count] of shown.values?.states() ?? []) versions.set({ state }, count)
    },
  })
  gauge(registry, {
    name: 'removals_held',
    help: 'Modules and Providers that wait for a person to confirm the removal of versions.',
    collect: (held) => held.set(shown.values?.heldRemovals() ?? 0),
  })
  gauge(registry, {
    name: 'versions_held_back',
    help: 'Versions of upstreams that the policy of their Depot holds back.',
    collect: (held) => held.set(shown.values?.heldBack() ?? 0),
  })
  return shown
}

const stateNames = ['synced', 'drifted', 'failed', 'pending'] as const

/** Counts the Versions in each state. */
export function versionStates(objects: Objects): ReadonlyMap<string, number> {
  const states = new Map<string, number>(stateNames.map((state) => [state, 0]))
  for (const version of objects.list('Version')) {
    const { drift, synced, conditions } = versionStatus(version)
    const failed = readyIn(conditions)?.status === 'False'
    const state =
      drift !== undefined ? 'drifted' : failed ? 'failed' : synced ? 'synced' : 'pending'
    states.set(state, (states.get(state) ?? 0) + 1)
  }
  return states
}

const recentMs = 3_600_000
const parentKinds = ['Module', 'Provider'] as const

/** Without the list, which can be long. */
const Evidence = ListingMemory.pick({ address: true, replaced: true })

/**
 * Counts the other content of the last hour under versions that are stored or wait, as statuses keep it. A process that ends
 * before it counts, or before anybody reads its counter, loses nothing of it.
 */
export function recentSubstitutions(objects: Objects, nowMs: number): ReadonlyMap<string, number> {
  const isRecent = ({ at }: { readonly at: string }) => Math.abs(nowMs - (msOf(at) ?? 0)) < recentMs
  const counts = new Map<string, number>()
  for (const kind of parentKinds) {
    const waiting = objects.list(kind).flatMap(replacedIn)
    counts.set(kind, waiting.filter(isRecent).length)
  }
  for (const version of objects.list('Version')) {
    const { substitutions = [] } = versionStatus(version)
    const { type } = version.spec as { type: string }
    counts.set(type, (counts.get(type) ?? 0) + substitutions.filter(isRecent).length)
  }
  return counts
}

function replacedIn({ status }: StoredObject): readonly { readonly at: string }[] {
  const { listing } = (status ?? {}) as { listing?: unknown }
  return Evidence.safeParse(listing).data?.replaced ?? []
}
