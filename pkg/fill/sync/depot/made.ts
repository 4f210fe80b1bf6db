import { hash } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import { refOf, type StoredObject } from '../../../records/store/store.ts'
import type { Context } from '../context.ts'
import { requireThere } from '../objects.ts'
import { appliedAnnotation, depotLabel, policyAnnotation } from '../parent/depot-label.ts'
import type { DepotItem, DepotStatus } from './configs.ts'

/*
 * The Module or Provider that a Depot makes of a config: whose it is, and how it is written.
 */

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
