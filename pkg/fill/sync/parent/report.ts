import semver from 'semver'
import type {
  Condition,
  Module,
  ParentKind,
  Provider,
  Version,
} from '../../../api/v1alpha1/v1alpha1.ts'
import type { StoredObject } from '../../../records/store/store.ts'
import { printable } from '../../egress/egress.ts'
import {
  type ConditionChanges,
  conditionFalse,
  conditionOf,
  conditionTrue,
  settled,
} from '../conditions.ts'
import { isPatience } from '../failure.ts'
import type { StatusChange } from '../status.ts'
import type { Skipped } from './desired.ts'

type VersionStatus = NonNullable<Version['status']>
export type ParentStatus = NonNullable<Module['status']> & NonNullable<Provider['status']>
type Refs = NonNullable<ParentStatus['moduleVersionRefs']>

const maxSkipped = 200
/** So that the status of a parent with thousands of versions fits beside its spec into the 1.5 MiB that etcd takes. */
const maxRefs = 1000

/** One Version as its parent sees it. */
interface Seen {
  readonly version: string
  readonly name: string
  readonly fileName: string | undefined
  readonly synced: boolean
  readonly failure: Condition | undefined
}

export interface Report {
  readonly desired: number
  /** Newest first. */
  readonly children: readonly { readonly version: string; readonly child: StoredObject }[]
  readonly retained: number
  readonly skipped: readonly Skipped[]
}

/** What the status of a Module or Provider says of its Versions. */
export function reportOf(type: ParentKind, report: Report): StatusChange<ParentStatus> {
  const seen = report.children.map(({ version, child }) => seenOf(version, child))
  const latest = latestOf(seen)
  const failed = seen.filter(({ failure }) => failure !== undefined)
  const missing = report.desired - seen.length
  const waiting = seen.filter(({ synced, failure }) => !synced && failure === undefined)
  const synced = failed.length === 0 && waiting.length === 0 && missing === 0
  const { skipped, retained } = report
  const refs = refsOf(seen)
  const listed = Object.keys(refs).length
  return {
    fields: {
      latestVersion: latest?.version,
      fileName: latest?.fileName,
      synced,
      syncStatus: syncStatusOf(synced, failed, seen.length),
      [type === 'Module' ? 'moduleVersionRefs' : 'providerVersionRefs']:
        listed === 0 ? undefined : refs,
      versionCounts: {
        wanted: report.desired,
        synced: seen.filter((one) => one.synced).length,
        failed: failed.length,
        listed,
      },
      retained,
      skipped:
        skipped.length === 0 ? undefined : skipped.slice(0, maxSkipped).map((one) => ({ ...one })),
    },
    conditions: conditionsOf(synced, failed, seen.length, report.desired),
    isProgress: waiting.length > 0 || missing > 0,
  }
}

function seenOf(version: string, { metadata, status }: StoredObject): Seen {
  const { artifact, synced, conditions } = (status ?? {}) as VersionStatus
  const ready = conditionOf(conditions, 'Ready')
  const isFailing = ready?.status === 'False'
  return {
    version,
    name: metadata.name,
    fileName: artifact?.fileName,
    synced: synced === true,
    failure: isFailing ? ready : undefined,
  }
}

/** The newest that can be had, a prerelease only where there is nothing else. */
function latestOf(newestFirst: readonly Seen[]): Seen | undefined {
  const stored = newestFirst.filter(({ fileName }) => fileName !== undefined)
  return stored.find(({ version }) => semver.prerelease(version) === null) ?? stored[0]
}

/** The newest versions. One of a provider has several Versions; the first of them by name stands for all. */
function refsOf(newestFirst: readonly Seen[]): Refs {
  const refs = new Map<string, Seen>()
  for (const one of newestFirst) {
    const known = refs.get(one.version)
    if (known === undefined && refs.size === maxRefs) break
    const first = known === undefined || one.name < known.name ? one : known
    refs.set(one.version, { ...first, synced: one.synced && known?.synced !== false })
  }
  const ref = ({ name, fileName, synced }: Seen) => ({
    name,
    ...(fileName !== undefined && { fileName }),
    synced,
  })
  return Object.fromEntries(Array.from(refs, ([version, seen]) => [version, ref(seen)]))
}

/** Those that do not just wait. */
const wrongOf = (failed: readonly Seen[]): Seen[] =>
  failed.filter(({ failure }) => !isPatience(failure?.reason ?? ''))

function syncStatusOf(synced: boolean, failed: readonly Seen[], total: number): string {
  if (synced) return 'Synced'
  if (failed.length === 0) return 'Pending'
  const wrong = wrongOf(failed)
  const [first] = wrong
  if (first === undefined) return 'Waiting for upstream'
  return printable(
    `Sync failed: ${wrong.length} of ${total} versions, the first with: ${first.failure?.message ?? ''}`,
  )
}

function conditionsOf(
  synced: boolean,
  failed: readonly Seen[],
  total: number,
  desired: number,
): ConditionChanges {
  if (synced) {
    const message = desired === 0 ? 'no versions are wanted' : `all ${desired} are stored`
    return { ...settled, Ready: conditionTrue('Synced', message) }
  }
  const [first] = failed
  if (first === undefined) {
    const message = 'versions are being fetched'
    return {
      ...settled,
      Ready: { status: 'Unknown', reason: 'Progressing', message },
      Reconciling: conditionTrue('Progressing', message),
    }
  }
  const wrong = wrongOf(failed)
  const [reported = first] = wrong
  const described = `${reported.name}: ${reported.failure?.message ?? ''}`
  if (wrong.length === 0) {
    const message = printable(`${failed.length} of ${total} wait; ${described}`)
    const reason = first.failure?.reason === 'RateLimited' ? 'RateLimited' : 'WaitingForSpool'
    return {
      ...settled,
      Ready: conditionFalse(reason, message),
      Reconciling: conditionTrue(reason, message),
    }
  }
  const reason = wrong.length < total ? 'PartiallySynced' : 'SyncFailed'
  const message = printable(`${wrong.length} of ${total} failed; ${described}`)
  return { ...settled, Ready: conditionFalse(reason, message) }
}
