/** Says what reconciling a Version would do, without fetching, storing or removing its archive. */

import type { StoredObject, StoredRef } from '../../../records/store/store.ts'
import type { Reconciled } from '../../queue/queue.ts'
import type { Context, DryRun, VersionOutlook } from '../context.ts'
import { depotLabel } from '../depot/made.ts'
import { failureOf } from '../failure.ts'
import { keyOf, requestOf, resourceOf } from '../objects.ts'
import { isStillRefused } from './comparison.ts'
import { hasDocumentation, isInArchive } from './document.ts'
import { nextStep, situationOf } from './next-step.ts'
import { decide, decideToFetch, replaceableOf } from './obtain.ts'
import { planOf, storedPlaceOf } from './plan.ts'
import { mayTakeBack } from './reuse.ts'
import { driftMessage } from './status.ts'
import { verifyStored } from './store.ts'
import type { Situation, SyncAttempt, VersionPlan, VersionStatus, VersionWork } from './work.ts'

export async function foresee(
  context: Context,
  ref: StoredRef,
  { tell }: DryRun,
  signal: AbortSignal,
): Promise<Reconciled | undefined> {
  const object = context.objects.get('Version', ref.namespace, ref.name)
  if (object === undefined || object.metadata.deletionTimestamp !== undefined) return undefined
  const key = keyOf(ref)
  // Remembered while a failed look is repeated.
  const outdated = context.outdated.get(key)
  try {
    const outlook = await outlookOf(context, object, { outdated }, signal)
    if ('waitsFor' in outlook) return outlook
    tell(object, outlook)
    return undefined
  } catch (error) {
    const failure = failureOf(error)
    if (failure === undefined || signal.aborted) throw error
    const { reason, message } = failure
    tell(object, { step: 'fail', reason, message })
    if (!failure.terminal) throw failure
    return undefined
  } finally {
    context.slots.free(key)
  }
}

async function outlookOf(
  context: Context,
  object: StoredObject,
  attempt: SyncAttempt,
  signal: AbortSignal,
): Promise<VersionOutlook | { readonly waitsFor: string }> {
  const version = resourceOf('Version', object)
  if (version.spec.suspend === true) return { step: 'keep' }
  if (version.spec.upload !== undefined) {
    const stored = await verifyStored(context, object, storedPlaceOf(context, version), { signal })
    if (stored.state === 'whole' || version.status?.artifact === undefined) return { step: 'keep' }
    const message = 'the archive of the upload is missing or altered in storage: put it there again'
    return { step: 'fail', reason: 'ArchiveMissing', message }
  }
  const plan = planOf(context, version)
  attempt.request = requestOf(context, object).request
  const work = { object, version, attempt, signal }
  const situation = await situationOf(context, work, plan)
  const { from, stored, isStored, isElsewhere, isLost, isOfSource } = situation
  const kept = async () => {
    const isAsked = stored.isChecked && isInArchive(object)
    const isDocumented = !isAsked || (await hasDocumentation(context, object, from, true))
    return { step: isDocumented ? 'keep' : 'document' } as const
  }
  if (isStored && isElsewhere && !isLost && isOfSource) return { step: 'move' }
  if (!isStored && isStillRefused(context, version, plan)) return { step: 'keep' }
  if (!isStored && (await mayTakeBack(context, object, plan))) return { step: 'return' }
  if (!isStored && isListed(context, plan)) return { step: 'fetch' }
  const next = await nextStep(context, work, plan, { ...situation, isAwaited: false })
  if (next.step === 'queue' || next.step === 'wait') return next
  const outlook = next.step === 'obtain' && obtained(work, plan, next.offer.revision, situation)
  return outlook || kept()
}

/** Whether a Depot chose the versions of a parent from upstream's list, so that upstream need not be asked for each. */
function isListed({ apiGroup }: Context, { parent }: VersionPlan): boolean {
  return parent?.metadata.labels[depotLabel(apiGroup)] !== undefined
}

/** The outcome of fetching upstream's archive; undefined if the stored one stays. */
function obtained(
  { version: { status }, attempt }: VersionWork,
  plan: VersionPlan,
  revision: string,
  situation: Situation,
): VersionOutlook | undefined {
  const { artifact, drift } = status ?? {}
  const replaceable = replaceableOf(attempt, plan, situation)
  const decision =
    decideToFetch(drift?.revision === revision, replaceable) === 'fetch'
      ? decide(artifact, contentOf(artifact, revision), replaceable)
      : 'drifted'
  if (decision === 'keep') return undefined
  if (decision === 'store') return { step: situation.isLost ? 'restore' : 'fetch' }
  if (decision === 'replace') return { step: decision }
  const message = driftMessage(status, { revision }, decision === 'lost' ? 'gone' : 'served')
  if (decision === 'drifted') return { step: 'drift', reason: 'UpstreamChanged', message }
  const remedy = 'delete the Version to accept it'
  return { step: 'fail', reason: 'ArchiveLost', message: `${message}: ${remedy}` }
}

/** Content as far as it is known without a download: another revision has other content. */
function contentOf(artifact: VersionStatus['artifact'], revision: string) {
  const known = revision === artifact?.revision ? artifact.contentDigest : undefined
  return { contentDigest: known ?? revision, fileName: artifact?.fileName ?? '' }
}
