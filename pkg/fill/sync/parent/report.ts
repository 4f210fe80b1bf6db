import semver from 'semver'
import type { Condition, Module, ParentKind, Provider } from '../../../api/v1alpha1/v1alpha1.ts'
import { printable, type Reason } from '../../../base/errors/errors.ts'
import type { StoredObject } from '../../../records/store/store.ts'
import {
  type ConditionChanges,
  conditionFalse,
  conditionTrue,
  conditionUnknown,
  isPatience,
  readyIn,
  type StatusChange,
  settled,
} from '../status.ts'
import { versionStatus } from '../version/work.ts'
import type { Skipped } from './versions.ts'

export type ParentStatus = NonNullable<Module['status']> & NonNullable<Provider['status']>
type Refs = NonNullable<ParentStatus['moduleVersionRefs']>

const maxSkipped = 200
/** Keeps a parent with thousands of versions below the 1.5 MiB that etcd allows for spec and status. */
const maxRefs = 1000

/** One Version as its parent sees it. */
interface SeenVersion {
  readonly version: string
  readonly name: string
  readonly fileName: string | undefined
  readonly synced: boolean
  /** Whether it was withdrawn, so that people must not be pointed to it. */
  readonly isWithdrawn: boolean
  readonly failure: Condition | undefined
  readonly isStalled: boolean
  readonly isSuspended: boolean
}

interface ParentReport {
  readonly desired: number
  /** Newest first. */
  readonly children: readonly { readonly version: string; readonly child: StoredObject }[]
  readonly retained: number
  readonly skipped: readonly Skipped[]
}

/** Reports the Versions of a Module or Provider in its status. */
export function reportOf(
  type: ParentKind,
  { desired, children, retained, skipped }: ParentReport,
): StatusChange<ParentStatus> {
  const seen = children.map(({ version, child }) => seenOf(version, child))
  const latest = newestStored(seen)
  const failed = seen.filter(({ failure }) => failure !== undefined)
  const stored = seen.filter((one) => one.synced)
  const suspended = seen.filter((one) => one.isSuspended && !one.synced && !one.failure)
  const synced = failed.length === 0 && stored.length === desired
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
        wanted: desired,
        synced: stored.length,
        failed: failed.length,
        listed,
      },
      retained,
      skipped:
        skipped.length === 0 ? undefined : skipped.slice(0, maxSkipped).map((one) => ({ ...one })),
      skippedCount: skipped.length > maxSkipped ? skipped.length : undefined,
    },
    conditions: synced ? syncedConditions(desired) : conditionsOf(failed, seen, desired),
    isProgress: stored.length + failed.length + suspended.length < desired,
  }
}

function seenOf(version: string, child: StoredObject): SeenVersion {
  const { artifact, synced, conditions, lifecycle } = versionStatus(child)
  const ready = readyIn(conditions)
  return {
    version,
    name: child.metadata.name,
    fileName: artifact?.fileName,
    synced: synced === true,
    isWithdrawn: lifecycle?.state === 'Quarantined' || lifecycle?.state === 'Yanked',
    failure: ready?.status === 'False' ? ready : undefined,
    isStalled: conditions?.some(isStalled) === true,
    isSuspended: conditions?.some(({ type }) => type === 'Suspended') === true,
  }
}

const isStalled = ({ type, status }: Condition) => type === 'Stalled' && status === 'True'

/** The newest stored version; a prerelease only if there is no other. */
function newestStored(newestFirst: readonly SeenVersion[]): SeenVersion | undefined {
  const stored = newestFirst.filter(
    ({ fileName, isWithdrawn }) => fileName !== undefined && !isWithdrawn,
  )
  return stored.find(({ version }) => semver.prerelease(version) === null) ?? stored[0]
}

/** The newest versions. A provider's version has several Versions; the first one by name represents them. */
function refsOf(newestFirst: readonly SeenVersion[]): Refs {
  const refs = new Map<string, SeenVersion>()
  for (const one of newestFirst) {
    const known = refs.get(one.version)
    if (known === undefined && refs.size === maxRefs) break
    const first = known === undefined || one.name < known.name ? one : known
    refs.set(one.version, { ...first, synced: one.synced && known?.synced !== false })
  }
  const ref = ({ name, fileName, synced }: SeenVersion) => ({
    name,
    ...(fileName !== undefined && { fileName }),
    synced,
  })
  return Object.fromEntries(Array.from(refs, ([version, seen]) => [version, ref(seen)]))
}

/** Failures that are more than waiting. */
const wrongOf = (failed: readonly SeenVersion[]): SeenVersion[] =>
  failed.filter(({ failure }) => !isPatience(failure?.reason ?? ''))

function syncStatusOf(synced: boolean, failed: readonly SeenVersion[], total: number): string {
  if (synced) return 'Synced'
  if (failed.length === 0) return 'Pending'
  const wrong = wrongOf(failed)
  const [first] = wrong
  if (first === undefined) return 'Waiting for upstream'
  return printable(
    `Sync failed: ${wrong.length} of ${total} versions, the first with: ${first.failure?.message ?? ''}`,
  )
}

function syncedConditions(desired: number): ConditionChanges {
  const message = desired === 0 ? 'the spec names no versions' : `all ${desired} are stored`
  return { ...settled, Ready: conditionTrue('Synced', message) }
}

function conditionsOf(
  failed: readonly SeenVersion[],
  seen: readonly SeenVersion[],
  desired: number,
): ConditionChanges {
  const [first] = failed
  const total = seen.length
  if (first === undefined) {
    const message = 'versions are being fetched'
    return {
      ...settled,
      Ready: conditionUnknown('Progressing', message),
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
  const isStuck =
    total === desired && seen.every((one) => one.synced || one.isStalled || one.isSuspended)
  // Reconcilers wrote it.
  const childReason = reported.failure?.reason as Reason
  return {
    ...settled,
    Ready: conditionFalse(reason, message),
    ...(isStuck
      ? { Stalled: conditionTrue(childReason, message) }
      : { Reconciling: conditionTrue('Progressing', 'failed versions are tried again') }),
  }
}
