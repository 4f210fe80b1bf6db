import { isDeepStrictEqual } from 'node:util'
import type { ScanPolicy, Version } from '../../api/v1alpha1/v1alpha1.ts'
import type { Clock } from '../../base/pacing/pacing.ts'
import type { Objects, StoredObject } from '../../records/store/store.ts'
import { quarantinedAfter, scanVerdict, stricter } from '../policy/policy.ts'
import type { Reconciled } from '../queue/queue.ts'
import { parentOfVersion, resourceOf, scanPolicyOf, timeOf, writeStatus } from '../sync/sync.ts'
import { digestOf, isWanted } from './part.ts'

type Status = NonNullable<Version['status']>

interface PolicyContext {
  readonly objects: Objects
  readonly clock: Clock
  readonly scansProviders: boolean
  /** The policy of the installation, which others can only make stricter. */
  readonly defaultPolicy?: ScanPolicy | undefined
}

/**
 * Quarantines a Version, or lifts that, as its policy and its findings say.
 *
 * @returns when to decide again
 */
export async function enforcePolicy(
  context: PolicyContext,
  { namespace, name }: StoredObject['metadata'],
): Promise<Reconciled> {
  const { objects, clock, defaultPolicy } = context
  const object = objects.get('Version', namespace, name)
  if (object === undefined) return {}
  const version = resourceOf('Version', object)
  const sha256 = digestOf(version) ?? version.status?.scan?.sha256
  if (sha256 === undefined) return {}
  const own = scanPolicyOf(version, parentOfVersion(context, version))
  // Without scans, a Version has no verdict: nothing would ever lift it.
  const policy = isWanted(context, version) ? stricter(own, defaultPolicy) : undefined
  const nowMs = clock()
  const decide = (status: Status | undefined) => scanVerdict({ policy, status, sha256, nowMs })
  const entriesAfter = (status: Status | undefined) =>
    quarantinedAfter(status?.quarantinedBy, decide(status), timeOf(nowMs))
  if (!isDeepStrictEqual(entriesAfter(version.status), version.status?.quarantinedBy)) {
    await writeStatus<Status>({ objects, clock }, object, (status) => ({
      fields: { quarantinedBy: entriesAfter(status) },
      conditions: {},
      isObserved: false,
    }))
  }
  const { untilMs } = decide(version.status)
  return untilMs === undefined ? {} : { afterMs: untilMs - nowMs }
}
