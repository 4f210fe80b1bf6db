import { type Context, keyOf } from '../context.ts'
import { mistake } from '../failure.ts'
import { writeStatus } from '../status.ts'
import type { Candidate } from './candidate.ts'
import { decide } from './decide.ts'
import { fetchModule } from './fetch-module.ts'
import { fetchProvider } from './fetch-provider.ts'
import type { Plan } from './plan.ts'
import { progressOf } from './progress.ts'
import {
  driftedStatus,
  driftMessage,
  keptStatus,
  storedStatus,
  type VersionStatus,
} from './status.ts'
import { store } from './store.ts'
import type { Work } from './sync-version.ts'
import type { Upstream } from './upstream.ts'

/** Why an archive is fetched. */
interface Situation {
  readonly plan: Plan
  readonly upstream: Upstream
  /** What is stored was made from what the spec says now. */
  readonly isCurrent: boolean
  readonly isLost: boolean
}

/** Fetches what upstream has, and stores it where it may be stored. @throws SourceError, ArchiveError, RegistryError, Failure */
export async function obtain(context: Context, work: Work, situation: Situation): Promise<void> {
  const { plan, upstream, isCurrent, isLost } = situation
  const { object, version, attempt } = work
  const wanted = attempt.request !== undefined || !isCurrent
  if (plan.policy === 'ask' && !wanted && !isLost) {
    return drifted(context, work, { revision: upstream.revision }, false)
  }
  const { drift } = version.status ?? {}
  if (!wanted && !isLost && drift?.revision === upstream.revision) return
  const heldKey = `${keyOf(object.metadata)} ${plan.sourceKey} ${upstream.revision}`
  const candidate = context.held.take(heldKey) ?? (await fetch(context, work, upstream))
  let isHeld = false
  try {
    const policy = plan.policy
    const decision = decide(version.status?.artifact, candidate, { policy, lost: isLost, wanted })
    if (decision === 'lost') {
      throw mistake('ArchiveLost', `${driftText(work, candidate)}: delete the Version to accept it`)
    }
    if (decision === 'drifted') return await drifted(context, work, candidate, true)
    if (decision === 'keep') return await kept(context, work, candidate, plan.sourceKey)
    const documents = candidate.release?.documents ?? []
    const names = [candidate.fileName, ...documents.map(({ fileName }) => fileName)]
    const letGo = await context.inUse.hold(plan.placeId, names)
    try {
      await put(context, work, plan, candidate)
      await stored(context, work, plan, { candidate, isReplacement: decision === 'replace' })
    } catch (error) {
      isHeld = true
      await context.held.keep(heldKey, candidate)
      throw error
    } finally {
      letGo()
    }
  } finally {
    if (!isHeld) await candidate.file.remove()
  }
}

async function fetch(context: Context, work: Work, upstream: Upstream): Promise<Candidate> {
  const deadline = AbortSignal.timeout(context.timings.fetchMs)
  const progress = progressOf(context, work.object)
  const { module, provider } = context.limits
  const options = {
    signal: AbortSignal.any([work.signal, deadline]),
    urgent: work.attempt.request !== undefined,
    onWaiting: progress.waiting,
    maxBytes: (upstream.type === 'Module' ? module : provider).packedBytes,
  }
  try {
    return upstream.type === 'Module'
      ? await fetchModule(context, upstream.plan, upstream.resolved, options)
      : await fetchProvider(context, upstream.plan, upstream.release, options)
  } finally {
    await progress.end()
  }
}

async function put(
  context: Context,
  { signal }: Work,
  { place }: Plan,
  candidate: Candidate,
): Promise<void> {
  const deadline = AbortSignal.timeout(context.timings.uploadMs)
  await store(context, place, candidate, AbortSignal.any([signal, deadline]))
}

function latest(context: Context, { object }: Work) {
  const { namespace, name } = object.metadata
  return context.objects.get('Version', namespace, name) ?? object
}

async function stored(
  context: Context,
  work: Work,
  plan: Plan,
  { candidate, isReplacement }: { candidate: Candidate; isReplacement: boolean },
): Promise<void> {
  const before = work.version.status?.artifact?.contentDigest
  const times = { nowMs: context.clock(), replacedMs: context.timings.replacedMs }
  const written = await writeStatus<VersionStatus>(context, latest(context, work), (status) =>
    storedStatus(status, candidate, plan.sourceKey, times),
  )
  if (written === undefined) return
  context.metrics.ended('Version', 'Synced')
  const { contentDigest, fileName, sizeBytes } = candidate
  context.objects.event(
    isReplacement
      ? {
          object: written,
          type: 'Warning',
          reason: 'ArchiveReplaced',
          note: `replaced ${before ?? 'nothing'} by ${contentDigest}, because upstream changed`,
        }
      : {
          object: written,
          type: 'Normal',
          reason: 'Synced',
          note: `stored ${fileName}, ${sizeBytes} bytes`,
        },
  )
}

async function kept(
  context: Context,
  work: Work,
  { revision }: Candidate,
  sourceKey: string,
): Promise<void> {
  const verifiedMs = context.clock()
  await writeStatus<VersionStatus>(context, latest(context, work), (status) =>
    keptStatus(status, { revision, sourceKey, verifiedMs }),
  )
}

async function drifted(
  context: Context,
  work: Work,
  { revision, contentDigest }: { readonly revision: string; readonly contentDigest?: string },
  isRefused: boolean,
): Promise<void> {
  const upstream = { revision, ...(contentDigest !== undefined && { contentDigest }) }
  const how = { isRefused, nowMs: context.clock() }
  const written = await writeStatus<VersionStatus>(context, latest(context, work), (status) =>
    driftedStatus(status, upstream, how),
  )
  context.metrics.ended('Version', 'UpstreamChanged')
  if (written === undefined) return
  const note = driftMessage(work.version.status, upstream, isRefused)
  context.objects.event({ object: written, type: 'Warning', reason: 'UpstreamChanged', note })
}

function driftText({ version }: Work, candidate: Candidate): string {
  return driftMessage(version.status, candidate, true).replace(
    'which is still served',
    'which is gone from storage',
  )
}
