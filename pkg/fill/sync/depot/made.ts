/** The Module or Provider that a Depot makes of a config: whose it is, and how it is written. */

import { hash } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import { refOf, type StoredObject } from '../../../records/store/store.ts'
import type { Reconciled } from '../../queue/queue.ts'
import type { Context } from '../context.ts'
import { failureOf } from '../failure.ts'
import { requireThere } from '../objects.ts'
import { configOf, parentsIn } from '../parent/versions.ts'
import { absenceMs, jittered, within } from '../timings.ts'
import { type DepotItem, type DepotStatus, upstreamFor } from './configs.ts'

/** The parts of its spec, which may be invalid. */
export interface RawChild {
  readonly moduleConfig?: unknown
  readonly providerConfig?: unknown
  readonly versions?: readonly { readonly version: string }[]
}

export function isManagedBy(
  { apiGroup }: Context,
  depot: StoredObject,
  object: StoredObject,
): boolean {
  return object.metadata.labels[depotLabel(apiGroup)] === depot.metadata.name
}

/** The resources with the label of a Depot. */
export function managedBy(
  { objects, apiGroup }: Pick<Context, 'objects' | 'apiGroup'>,
  { metadata: { namespace, name } }: StoredObject,
): StoredObject[] {
  return parentsIn(objects, { namespace, label: { name: depotLabel(apiGroup), value: name } })
}

/** An existing resource is adopted only if the status of the Depot or an annotation names it. */
export function mayManage(context: Context, depot: StoredObject, object: StoredObject): boolean {
  const { apiGroup } = context
  const { labels, annotations, name, namespace } = object.metadata
  if (isManagedBy(context, depot, object)) return true
  if (annotations[`${apiGroup}/adopt`] === depot.metadata.name) return true
  if (labels[depotLabel(apiGroup)] !== undefined) return false
  const { modules = [], providers = [] } = (depot.status ?? {}) as DepotStatus
  const names = object.kind === 'Module' ? modules : providers
  return names.includes(name) || names.includes(`${namespace}/${name}`)
}

/** Whether a resource is as this Depot last made it, from its current config. */
export function isApplied(
  context: Context,
  depot: StoredObject,
  item: DepotItem,
  object: StoredObject,
): boolean {
  const { moduleConfig, providerConfig, versions = [] } = object.spec as RawChild
  const digest = digestOf(versions.map(({ version }) => version))
  return (
    isManagedBy(context, depot, object) &&
    isDeepStrictEqual(moduleConfig ?? providerConfig, item.config) &&
    object.metadata.annotations[appliedAnnotation(context.apiGroup)] === digest
  )
}

/** Tells a resource the policy of a Depot in a file, which can disappear before its policy was followed. */
export async function writePolicy(
  { apiGroup, objects }: Context,
  depot: StoredObject,
  object: StoredObject,
): Promise<void> {
  const { deletionPolicy = 'Orphan' } = depot.spec as { readonly deletionPolicy?: string }
  const name = policyAnnotation(apiGroup)
  const known = object.metadata.annotations[name] ?? 'Orphan'
  if (objects.waitsForFinalizers(depot) || known === deletionPolicy) return
  await objects.patch(refOf(object), { metadata: { annotations: { [name]: deletionPolicy } } })
}

function digestOf(versions: readonly string[]): string {
  return hash('sha256', versions.join('\n')).slice(0, 16)
}

export async function apply(
  context: Context,
  depot: StoredObject,
  { kind, config, objectName }: DepotItem,
  versions: readonly string[],
): Promise<StoredObject> {
  const { apiGroup, objects } = context
  const { namespace, name } = depot.metadata
  const object = objects.get(kind, namespace, objectName)
  const spec = {
    [kind === 'Module' ? 'moduleConfig' : 'providerConfig']: config,
    versions: versions.map((version) => ({ version })),
  }
  const annotation = appliedAnnotation(apiGroup)
  const digest = digestOf(versions)
  const isSame =
    object?.metadata.labels[depotLabel(apiGroup)] === name &&
    object.metadata.annotations[annotation] === digest &&
    Object.entries(spec).every(([field, value]) =>
      isDeepStrictEqual((object.spec as Record<string, unknown>)[field], value),
    )
  if (object !== undefined && isSame) return object
  await requireThere(context, depot)
  return objects.apply({
    kind,
    metadata: {
      name: objectName,
      namespace,
      labels: { [depotLabel(apiGroup)]: name },
      annotations: { [annotation]: digest },
    },
    spec,
  })
}

export function depotLabel(apiGroup: string): string {
  return `${apiGroup}/depot`
}

/** The Depot that made a resource. */
export function depotOf(
  { objects, apiGroup }: Pick<Context, 'objects' | 'apiGroup'>,
  parent: StoredObject | undefined,
): StoredObject | undefined {
  const { labels = {}, namespace = '' } = parent?.metadata ?? {}
  const name = labels[depotLabel(apiGroup)]
  return name === undefined ? undefined : objects.get('Depot', namespace, name)
}

/**
 * Whether the Depot of a resource has still to list it, even one that is suspended or that an unreadable file may hold. In a
 * folder, a Version is written before the resource names it, so a process that was killed may have left a stored Version that
 * is wanted and not named.
 */
export function awaitsList(context: Context, parent: StoredObject): boolean {
  const { objects, listed, apiGroup } = context
  const { labels, uid } = parent.metadata
  const isMade = labels[depotLabel(apiGroup)] !== undefined
  if (!objects.isFolder || !isMade || listed.has(uid)) return false
  return depotOf(context, parent) !== undefined || objects.unreadable() !== undefined
}

/** Holds a digest of the versions that a Depot applied, so that it notices later changes. */
export function appliedAnnotation(apiGroup: string): string {
  return `${apiGroup}/applied`
}

/** Removes the mark of a Depot, so that the object belongs to none. What its policy withdrew stays withdrawn. */
export async function orphan(context: Context, object: StoredObject): Promise<void> {
  const { objects, apiGroup } = context
  await objects.patch(refOf(object), {
    metadata: {
      labels: { [depotLabel(apiGroup)]: null },
      annotations: { [appliedAnnotation(apiGroup)]: null },
    },
  })
}

/** Says what becomes of a resource when its Depot is gone, for a Depot whose file a person removes leaves nothing behind. */
function policyAnnotation(apiGroup: string): string {
  return `${apiGroup}/deletion-policy`
}

/**
 * Follows the policy of a Depot that no longer exists: deletes the resource, or removes the mark.
 *
 * @returns when to look again, if this cannot be decided now; undefined if the work on the resource may go on
 */
export async function leaveGoneDepot(
  context: Context,
  object: StoredObject,
  signal: AbortSignal,
): Promise<Reconciled | undefined> {
  const { apiGroup, objects } = context
  const { labels, annotations, namespace, uid } = object.metadata
  const depot = labels[depotLabel(apiGroup)]
  if (depot === undefined || objects.get('Depot', namespace, depot) !== undefined) return undefined
  // It may be in a file that cannot be read.
  if (objects.unreadable() !== undefined) return undefined
  if (annotations[policyAnnotation(apiGroup)] !== 'Delete') {
    await orphan(context, object)
    return undefined
  }
  if (!(await upstreamAnswers(context, object, signal)))
    return { afterMs: jittered(absenceMs, uid) }
  await objects.delete(refOf(object), { uid })
  return {}
}

/** Whether upstream can be asked for versions of a resource, whatever it answers. */
async function upstreamAnswers(
  context: Context,
  object: StoredObject,
  signal: AbortSignal,
): Promise<boolean> {
  const options = { signal: within(signal, context.timings.listMs), urgent: false, maxAgeMs: 0 }
  try {
    const { kind, metadata } = object
    await upstreamFor(context, metadata.namespace, kind, configOf(object)).list(options)
    return true
  } catch (error) {
    const failure = failureOf(error)
    if (failure === undefined || signal.aborted) throw error
    return failure.reason === 'UpstreamNotFound'
  }
}
