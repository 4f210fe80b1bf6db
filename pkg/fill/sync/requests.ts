import { hash } from 'node:crypto'
import { refOf, type StoredObject } from '../../records/store/store.ts'
import type { Context } from './context.ts'
import { msOf, timeOf } from './timings.ts'
import type { SyncRequest } from './version/work.ts'

/** The fields of every status that remember handled requests. */
interface HandledFields {
  readonly lastHandledSync?: string | undefined
  readonly lastForcedSync?: string | undefined
}

export function syncAnnotation(apiGroup: string): string {
  return `${apiGroup}/sync-requested-at`
}

/** An annotation of a Depot: when to poll its upstreams, in addition to its interval. Its Versions are not synchronised again. */
export function pollAnnotation(apiGroup: string): string {
  return `${apiGroup}/poll-requested-at`
}

/** Minimum time between two polls that senders of webhooks request. */
const pollSpacingMs = 10_000

/**
 * The value of the annotation for a poll that is requested now. It may be up to ten seconds ahead, so that a request that
 * comes soon after another one is not lost, even if the process ends.
 *
 * @returns undefined if a poll is still to come
 */
export function nextPoll(current: string | undefined, nowMs: number): string | undefined {
  const lastMs = msOf(current) ?? 0
  if (lastMs > nowMs && isSoon(lastMs, nowMs)) return undefined
  const dueMs = isSoon(lastMs, nowMs) ? Math.max(nowMs, lastMs + pollSpacingMs) : nowMs
  return new Date(dueMs).toISOString()
}

/** A time that is further ahead was not written by {@link nextPoll}, and does not delay polls. */
const isSoon = (timeMs: number, nowMs: number): boolean => timeMs <= nowMs + pollSpacingMs

/** The requested poll of a Depot, or the time until it is due. */
export function pollRequestOf(
  { apiGroup, clock }: Pick<Context, 'apiGroup' | 'clock'>,
  { status, metadata }: StoredObject,
): { readonly poll?: string; readonly afterMs?: number } {
  const { lastHandledPoll } = (status ?? {}) as { readonly lastHandledPoll?: string }
  const poll = valueOf(metadata.annotations[pollAnnotation(apiGroup)])
  if (poll === undefined || poll === lastHandledPoll) return {}
  const [dueMs, nowMs] = [msOf(poll) ?? 0, clock()]
  return dueMs > nowMs && isSoon(dueMs, nowMs) ? { afterMs: dueMs - nowMs } : { poll }
}

/**
 * Reads the open request of an object. A forceSync is handled at most every ten minutes, so a tool that keeps setting it
 * causes no loop; `afterMs` is the time until it may be handled.
 */
export function requestOf(
  { apiGroup, clock, timings }: Pick<Context, 'apiGroup' | 'clock' | 'timings'>,
  { spec, status, metadata }: StoredObject,
): { readonly request?: SyncRequest; readonly afterMs?: number } {
  const { forceSync } = spec as { readonly forceSync?: boolean }
  const { lastHandledSync, lastForcedSync } = (status ?? {}) as HandledFields
  const asked = valueOf(metadata.annotations[syncAnnotation(apiGroup)])
  const annotation = asked !== undefined && asked !== lastHandledSync ? asked : undefined
  const readyMs = (msOf(lastForcedSync) ?? 0) + timings.forceSyncMs
  const forced = forceSync === true && readyMs <= clock()
  if (forced || annotation !== undefined) return { request: { forced, annotation } }
  return forceSync === true ? { afterMs: readyMs - clock() } : {}
}

/** The value as it is remembered and copied to every Version: long or unprintable values as a digest. */
function valueOf(annotation: string | undefined): string | undefined {
  if (annotation === undefined || /^[^\p{C}]{0,128}$/u.test(annotation)) return annotation
  return `sha256:${hash('sha256', annotation)}`
}

/** Status fields of a handled request. */
export function handled(request: SyncRequest | undefined, nowMs: number): HandledFields {
  return {
    ...(request?.annotation !== undefined && { lastHandledSync: request.annotation }),
    ...(request?.forced === true && { lastForcedSync: timeOf(nowMs) }),
  }
}

/** Resets a handled forceSync, unless it was changed meanwhile. */
export async function resetForceSync(
  { objects, log }: Pick<Context, 'objects' | 'log'>,
  object: StoredObject,
  request: SyncRequest | undefined,
): Promise<void> {
  if (request?.forced !== true) return
  const path = '/spec/forceSync'
  try {
    await objects.patch(refOf(object), [
      { op: 'test', path, value: true },
      { op: 'replace', path, value: false },
    ])
  } catch (error) {
    const { kind, metadata } = object
    log.info({ kind, key: metadata.name, err: error }, 'forceSync was not reset')
  }
}

/** Passes a request to children: each gets the annotation and handles it itself. */
export async function passOn(
  { objects, apiGroup, clock }: Pick<Context, 'objects' | 'apiGroup' | 'clock'>,
  children: readonly StoredObject[],
  request: SyncRequest,
): Promise<void> {
  const name = syncAnnotation(apiGroup)
  const value = request.annotation ?? timeOf(clock())
  for (const child of children) {
    if (child.metadata.annotations[name] === value) continue
    await objects.patch(refOf(child), { metadata: { annotations: { [name]: value } } })
  }
}
