import { configRefOf } from '../../../api/v1alpha1/v1alpha1.ts'
import {
  type Objects,
  refOf,
  type StoredObject,
  type StoredRef,
} from '../../../records/store/store.ts'
import { versionOfStored } from './desired.ts'

/*
 * Versions that people published, such as by an import: with `spec.upload`, and without an owner. They belong to the parent
 * whose config they name, which wants them as if its spec listed them, and makes no others in their place.
 */

const configOf = { Module: 'moduleConfig', Provider: 'providerConfig' } as const

interface Records {
  readonly objects: Pick<Objects, 'list'>
}

interface Config {
  readonly name?: string
  /** Target system of a module. */
  readonly provider?: string
}

/** Lists the Versions without an owner that name the config of a parent. */
function named({ objects }: Records, parent: StoredObject): StoredObject[] {
  const { namespace } = parent.metadata
  return objects
    .list('Version', { namespace, ownerUid: '' })
    .filter((version) => isOf(version, parent))
}

/** Lists the Versions that people published for a parent. */
export const publishedFor = (context: Records, parent: StoredObject): StoredObject[] =>
  named(context, parent).filter(isPublished)

/** The versions as a spec would list them. */
export const versionsIn = (published: readonly StoredObject[]): { readonly version: string }[] =>
  published.map((version) => ({ version: versionOfStored(version) }))

/** The parents for which a person published a Version; none for another Version. */
export function publishedParents(
  objects: Pick<Objects, 'list'>,
  version: StoredObject | undefined,
): StoredRef[] {
  if (version?.kind !== 'Version' || !isPublished(version)) return []
  const { namespace } = version.metadata
  return (['Module', 'Provider'] as const)
    .flatMap((kind) => objects.list(kind, { namespace }))
    .filter((parent) => isPublishedFor(version, parent))
    .map(refOf)
}

function isPublished({ metadata, spec }: StoredObject): boolean {
  return metadata.ownerReferences.length === 0 && fieldOf(spec, 'upload') !== undefined
}

/** Lists the Versions of a parent whose archives people placed in storage, without saying more than their names. */
export const placedFor = (context: Records, parent: StoredObject): StoredObject[] =>
  named(context, parent).filter(isPlaced)

const isPlaced = ({ metadata, spec }: StoredObject): boolean =>
  metadata.ownerReferences.length === 0 &&
  fieldOf(spec, 'upload') === undefined &&
  fieldOf(spec, 'fileName') !== undefined

const isPublishedFor = (version: StoredObject, parent: StoredObject): boolean =>
  isPublished(version) && isOf(version, parent)

function isOf(version: StoredObject, { kind, metadata, spec }: StoredObject): boolean {
  if (kind !== 'Module' && kind !== 'Provider') return false
  const ref = fieldOf(version.spec, configRefOf[kind]) as Config | undefined
  const config = fieldOf(spec, configOf[kind]) as Config | undefined
  const systems = [ref?.provider, config?.provider].filter((system) => system !== undefined)
  return (
    version.metadata.deletionTimestamp === undefined &&
    fieldOf(version.spec, 'type') === kind &&
    ref?.name === (config?.name ?? metadata.name) &&
    new Set(systems).size < 2
  )
}

const fieldOf = (spec: unknown, name: string): unknown =>
  (spec as Readonly<Record<string, unknown>>)[name]

/** Lists the Versions that a parent owns. */
export function ownedBy({ objects }: Records, { metadata }: StoredObject): StoredObject[] {
  return objects.list('Version', { namespace: metadata.namespace, ownerUid: metadata.uid })
}
