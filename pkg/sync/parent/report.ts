import semver from 'semver'
import type { Condition, Module, Provider, Version } from '../../apis/v1alpha1/v1alpha1.ts'
import { printable } from '../../egress/egress.ts'
import type { StoredObject } from '../../objects/objects.ts'
import {
  type ConditionChanges,
  conditionFalse,
  conditionOf,
  conditionTrue,
  settled,
} from '../conditions.ts'
import type { StatusChange } from '../status.ts'
import type { Skipped } from './desired.ts'

type VersionStatus = NonNullable<Version['status']>
export type ParentStatus = NonNullable<Module['status']> & NonNullable<Provider['status']>
type Refs = NonNullable<ParentStatus['moduleVersionRefs']>

const maxSkipped = 200

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
  readonly children: readonly { readonly version: string; readonly child: StoredObject }[]
  readonly retained: number
  readonly skipped: readonly Skipped[]
}

/** What the status of a Module or Provider says of its Versions. */
export function reportOf(type: 'Module' | 'Provider', report: Report): StatusChange<ParentStatus> {
  const seen = report.children.map(({ version, child }) => seenOf(version, child))
  const latest = latestOf(seen)
  const failed = seen.filter(({ failure }) => failure !== undefined)
  const missing = report.desired - seen.length
  const waiting = seen.filter(({ synced, failure }) => !synced && failure === undefined)
  const synced = failed.length === 0 && waiting.length === 0 && missing === 0
  const { skipped, retained } = report
  const refs = seen.length === 0 ? undefined : refsOf(seen)
  return {
    fields: {
      latestVersion: latest?.version,
      fileName: latest?.fileName,
      synced,
      syncStatus: syncStatusOf(synced, failed, seen.length),
      [type === 'Module' ? 'moduleVersionRefs' : 'providerVersionRefs']: refs,
      retained,
      skipped:
        skipped.length === 0 ? undefined : skipped.slice(0, maxSkipped).map((one) => ({ ...one })),
    },
    conditions: conditionsOf(synced, failed, seen.length, report.desired),
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
function latestOf(seen: readonly Seen[]): Seen | undefined {
  const stored = seen
    .filter(({ fileName }) => fileName !== undefined)
    .toSorted((a, b) => semver.compareBuild(b.version, a.version))
  return stored.find(({ version }) => semver.prerelease(version) === null) ?? stored[0]
}

/** A version of a provider has several Versions; the first of them by name stands for all. */
function refsOf(seen: readonly Seen[]): Refs {
  const refs: Refs = {}
  for (const { version, name, fileName, synced } of seen.toSorted((a, b) =>
    a.name < b.name ? -1 : 1,
  )) {
    const known = refs[version]
    refs[version] =
      known === undefined
        ? { name, ...(fileName !== undefined && { fileName }), synced }
        : { ...known, synced: known.synced === true && synced }
  }
  return refs
}

function syncStatusOf(synced: boolean, failed: readonly Seen[], total: number): string {
  if (synced) return 'Synced'
  const [first] = failed
  if (first === undefined) return 'Pending'
  return printable(
    `Sync failed: ${failed.length} of ${total} versions, the first with: ${first.failure?.message ?? ''}`,
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
  const reason = failed.length < total ? 'PartiallySynced' : 'SyncFailed'
  const message = printable(
    `${failed.length} of ${total} failed; ${first.name}: ${first.failure?.message ?? ''}`,
  )
  return { ...settled, Ready: conditionFalse(reason, message) }
}
