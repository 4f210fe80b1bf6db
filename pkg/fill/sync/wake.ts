import { isDeepStrictEqual } from 'node:util'
import type { Provider, ProviderConfig } from '../../api/v1alpha1/v1alpha1.ts'
import type { StoredObject, StoredRef } from '../../records/store/store.ts'
import type { Priority } from '../queue/queue.ts'
import type { Context } from './context.ts'
import { acceptAnnotation } from './depot/listing.ts'
import { appliedAnnotation, depotLabel } from './parent/depot-label.ts'
import { confirmAnnotation } from './parent/removal.ts'
import { configOf, publishedFor, publishedParents } from './parent/versions.ts'
import { pollAnnotation, syncAnnotation } from './requests.ts'
import { interfacesAffected } from './version/readme.ts'

/** Lists the objects that need work after a change. A change of a status alone only matters to the parent. */
export function* affectedBy(
  { apiGroup, objects }: Pick<Context, 'apiGroup' | 'objects'>,
  ref: StoredRef,
  before: StoredObject | undefined,
  after: StoredObject | undefined,
): Generator<readonly [StoredRef, Priority]> {
  const isOwn = isOfInterest(apiGroup, before, after)
  if (isOwn) yield [ref, 'user']
  const { namespace } = ref
  if (ref.kind === 'Version') {
    for (const { kind, name } of (after ?? before)?.metadata.ownerReferences ?? []) {
      if (kind === 'Module' || kind === 'Provider') yield [{ kind, namespace, name }, 'user']
    }
    for (const parent of publishedParents(objects, after ?? before)) yield [parent, 'user']
  }
  if (ref.kind === 'Module') {
    for (const version of interfacesAffected(objects, before, after)) yield [version, 'poll']
  }
  if (ref.kind === 'Provider' && after !== undefined && isOtherSource(before, after)) {
    const owned = objects.list('Version', { namespace, ownerUid: after.metadata.uid })
    for (const { metadata } of [...owned, ...publishedFor({ objects }, after)]) {
      yield [{ kind: 'Version', namespace, name: metadata.name }, 'poll']
    }
  }
  if (!isOwn) return
  const label = depotLabel(apiGroup)
  if (ref.kind === 'Module' || ref.kind === 'Provider') {
    const depots = new Set([before?.metadata.labels[label], after?.metadata.labels[label]])
    for (const name of depots) {
      if (name !== undefined) yield [{ kind: 'Depot', namespace, name }, 'user']
    }
  }
  if (ref.kind !== 'Depot' || after !== undefined) return
  for (const kind of ['Module', 'Provider'] as const) {
    const filter = { namespace, label: { name: label, value: ref.name } }
    for (const { metadata } of objects.list(kind, filter)) {
      yield [{ kind, namespace, name: metadata.name }, 'user']
    }
  }
}

/** Whether the registry or the config of a Provider names another source repository. */
function isOtherSource(before: StoredObject | undefined, after: StoredObject): boolean {
  const sourceOf = (one: StoredObject | undefined) => {
    const { sourceRepository, docs }: Partial<ProviderConfig> = configOf(one) ?? {}
    const { resolvedSourceRepository } = (one?.status ?? {}) as NonNullable<Provider['status']>
    return [sourceRepository, docs, resolvedSourceRepository]
  }
  return !isDeepStrictEqual(sourceOf(before), sourceOf(after))
}

/** Whether fields changed that reconcilers do not write. */
function isOfInterest(
  apiGroup: string,
  before: StoredObject | undefined,
  after: StoredObject | undefined,
): boolean {
  if (before === undefined || after === undefined) return true
  const annotations = [
    syncAnnotation(apiGroup),
    pollAnnotation(apiGroup),
    appliedAnnotation(apiGroup),
    `${apiGroup}/orphan-archive`,
    `${apiGroup}/adopt`,
    acceptAnnotation(apiGroup),
    confirmAnnotation(apiGroup),
  ]
  const [a, b] = [before.metadata, after.metadata]
  return (
    a.uid !== b.uid ||
    a.generation !== b.generation ||
    a.deletionTimestamp !== b.deletionTimestamp ||
    annotations.some((name) => a.annotations[name] !== b.annotations[name]) ||
    !isDeepStrictEqual(a.labels, b.labels) ||
    !isDeepStrictEqual(a.ownerReferences, b.ownerReferences)
  )
}
