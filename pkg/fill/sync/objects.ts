/** Objects as reconcilers read and keep them: parsed, current, with a finalizer, and with what people request of them. */

import { hash } from 'node:crypto'
import {
  formatPath,
  mistakesIn,
  parseResource,
  type ResourceOf,
} from '../../api/v1alpha1/v1alpha1.ts'
import type { Clock } from '../../base/pacing/pacing.ts'
import type { Logger } from '../../base/telemetry/telemetry.ts'
import { ApiError } from '../../records/kube/kube.ts'
import {
  type ObjectKind,
  type Objects,
  refOf,
  type StoredObject,
} from '../../records/store/store.ts'
import { FillError } from '../sources/sources.ts'
import { msOf, pastMsOf, type SyncTimings, timeOf } from './timings.ts'
import type { SyncRequest } from './version/work.ts'

/** Parses an object with its schema. @throws FillError InvalidSpec, naming the field */
export function resourceOf<K extends ObjectKind>(kind: K, object: StoredObject): ResourceOf<K> {
  const parsed = parseResource(kind, object)
  const issues = parsed.ok ? mistakesIn(parsed.resource) : parsed.issues
  const [first] = issues.filter(({ path }) => path[0] !== 'status')
  if (first !== undefined) {
    throw new FillError('InvalidSpec', `${formatPath(first.path)} ${first.message}`)
  }
  if (parsed.ok) return parsed.resource
  // Only the status is wrong, and the controller writes the status itself.
  const { status: _, ...rest } = object
  return resourceOf(kind, rest)
}

export function keyOf({ namespace, name }: { namespace: string; name: string }): string {
  return `${namespace}/${name}`
}

/** The current state of an object, or the given state if the object is gone. */
export function latestOf(
  { objects }: { readonly objects: Pick<Objects, 'get'> },
  object: StoredObject,
): StoredObject {
  const { kind, namespace, name } = refOf(object)
  return objects.get(kind, namespace, name) ?? object
}

/**
 * A cluster that lost its records removes what a lost object creates, and archives are removed with it.
 *
 * @throws ApiError NotFound if an object is only in memory any more
 */
export async function requireThere(
  { objects }: { readonly objects: Pick<Objects, 'fresh'> },
  object: StoredObject,
): Promise<void> {
  const { kind, namespace, name } = refOf(object)
  const now = await objects.fresh(kind, namespace, name)
  if (now?.metadata.uid === object.metadata.uid) return
  throw new ApiError('NotFound', `${kind} ${namespace}/${name} no longer exists`)
}

interface Finalized {
  readonly objects: Pick<Objects, 'patch' | 'waitsForFinalizers'>
  readonly apiGroup: string
}

export function finalizerOf(apiGroup: string): string {
  return `${apiGroup}/finalizer`
}

/** Makes a deleted object wait until its archive is removed. @returns the object with the finalizer */
export async function addFinalizer(
  { objects, apiGroup }: Finalized,
  object: StoredObject,
): Promise<StoredObject> {
  const { finalizers, resourceVersion } = object.metadata
  const own = finalizerOf(apiGroup)
  if (finalizers.includes(own) || !objects.waitsForFinalizers(object)) return object
  const patch = { metadata: { finalizers: [...finalizers, own] } }
  return objects.patch(refOf(object), patch, { resourceVersion })
}

/** Lets a deleted object disappear. */
export async function dropFinalizer(
  { objects, apiGroup }: Finalized,
  object: StoredObject,
): Promise<void> {
  const { finalizers, resourceVersion } = object.metadata
  const own = finalizerOf(apiGroup)
  if (!finalizers.includes(own)) return
  const patch = { metadata: { finalizers: finalizers.filter((name) => name !== own) } }
  await objects.patch(refOf(object), patch, { resourceVersion })
}

/** Kubernetes allows 253 characters; names derived from a name need some of them. */
const maxNameLength = 200
const maxLabelLength = 63

/** Joins parts and replaces characters that names of objects may not have. */
export function objectName(...parts: readonly string[]): string {
  return parts
    .join('-')
    .toLowerCase()
    .replaceAll(/[^a-z0-9-]/g, '-')
    .replaceAll(/^-+|-+$/g, '')
}

/**
 * The name of a new object: readable if possible, otherwise with a digest.
 *
 * @param identity a text that only this object has
 */
export function freeName(
  readable: string,
  identity: string,
  isTaken: (name: string) => boolean,
): string {
  if (readable !== '' && readable.length <= maxNameLength && !isTaken(readable)) return readable
  const digest = hash('sha256', identity).slice(0, 8)
  return `${readable.slice(0, maxNameLength - 9).replace(/-+$/, '')}-${digest}`.replace(/^-/, 'x-')
}

/** A text as the value of a label: hashed if it is too long or has other characters. */
export function labelValue(text: string): string {
  const fits = text.length <= maxLabelLength && /^([A-Za-z0-9]([\w.-]*[A-Za-z0-9])?)?$/.test(text)
  return fits ? text : hash('sha256', text).slice(0, 40)
}

/** The fields of every status that remember handled requests. */
interface HandledFields {
  readonly lastHandledSync?: string | undefined
  readonly lastForcedSync?: string | undefined
}

interface Asked {
  readonly apiGroup: string
  readonly clock: Clock
  readonly timings: Pick<SyncTimings, 'forceSyncMs'>
}

interface Patched {
  readonly objects: Pick<Objects, 'patch'>
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
  { apiGroup, clock }: Pick<Asked, 'apiGroup' | 'clock'>,
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
  { apiGroup, clock, timings }: Asked,
  { spec, status, metadata }: StoredObject,
): { readonly request?: SyncRequest; readonly afterMs?: number } {
  const { forceSync } = spec as { readonly forceSync?: boolean }
  const { lastHandledSync, lastForcedSync } = (status ?? {}) as HandledFields
  const asked = valueOf(metadata.annotations[syncAnnotation(apiGroup)])
  const annotation = asked !== undefined && asked !== lastHandledSync ? asked : undefined
  const readyMs = pastMsOf(lastForcedSync, clock()) + timings.forceSyncMs
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
  { objects, log }: Patched & { readonly log: Logger },
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
  { objects, apiGroup, clock }: Patched & Pick<Asked, 'apiGroup' | 'clock'>,
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
