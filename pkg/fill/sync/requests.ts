import { hash } from 'node:crypto'
import type { StoredObject } from '../../records/store/store.ts'
import { type Context, msOf, refOf, timeOf } from './context.ts'

/** The fields of any status and spec that a request for a sync is about. */
interface Asked {
  readonly forceSync?: boolean | undefined
}
interface Handled {
  readonly lastHandledSync?: string | undefined
  readonly lastForcedSync?: string | undefined
}

/** A sync that a person asked for, although nothing changed. */
export interface SyncRequest {
  readonly forced: boolean
  /** Value of the annotation that is to be handled. */
  readonly annotation: string | undefined
}

export function syncAnnotation(apiGroup: string): string {
  return `${apiGroup}/sync-requested-at`
}

/**
 * The request that waits at an object. A forceSync is followed once in ten minutes, so that a tool that keeps setting it
 * causes no loop.
 *
 * @returns undefined where there is none, or when to look again
 */
export function requestOf(
  { apiGroup, clock, timings }: Pick<Context, 'apiGroup' | 'clock' | 'timings'>,
  object: StoredObject,
): SyncRequest | { readonly afterMs: number } | undefined {
  const { forceSync } = object.spec as Asked
  const { lastHandledSync, lastForcedSync } = (object.status ?? {}) as Handled
  const asked = valueOf(object.metadata.annotations[syncAnnotation(apiGroup)])
  const annotation = asked !== undefined && asked !== lastHandledSync ? asked : undefined
  const readyMs = (msOf(lastForcedSync) ?? 0) + timings.forceSyncMs
  const forced = forceSync === true && readyMs <= clock()
  if (forced || annotation !== undefined) return { forced, annotation }
  return forceSync === true ? { afterMs: readyMs - clock() } : undefined
}

/** As it is remembered and handed down to every Version. A long value, or one that is not printable, by its digest. */
function valueOf(annotation: string | undefined): string | undefined {
  if (annotation === undefined || /^[^\p{C}]{0,128}$/u.test(annotation)) return annotation
  return `sha256:${hash('sha256', annotation)}`
}

/** The fields of a status that say that a request was handled. */
export function handled(request: SyncRequest | undefined, nowMs: number): Handled {
  return {
    ...(request?.annotation !== undefined && { lastHandledSync: request.annotation }),
    ...(request?.forced === true && { lastForcedSync: timeOf(nowMs) }),
  }
}

/** Takes a forceSync back that was followed, where it was not changed meanwhile. */
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
    log.info(
      { kind: object.kind, key: object.metadata.name, err: error },
      'forceSync was not reset',
    )
  }
}

/** Hands a request of a parent down: each child gets the annotation, and handles it by itself. */
export async function passOn(
  { objects, apiGroup }: Pick<Context, 'objects' | 'apiGroup'>,
  children: readonly StoredObject[],
  request: SyncRequest,
  nowMs: number,
): Promise<void> {
  const name = syncAnnotation(apiGroup)
  const value = request.annotation ?? timeOf(nowMs)
  for (const child of children) {
    if (child.metadata.annotations[name] === value) continue
    await objects.patch(refOf(child), { metadata: { annotations: { [name]: value } } })
  }
}
