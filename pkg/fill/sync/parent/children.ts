import { isDeepStrictEqual } from 'node:util'
import { configRefOf, normalizeVersion, type ParentKind } from '../../../api/v1alpha1/v1alpha1.ts'
import { Turns } from '../../../base/pacing/pacing.ts'
import { type AppliedObject, refOf, type StoredObject } from '../../../records/store/store.ts'
import type { Context } from '../context.ts'
import { freeName, labelValue, objectName, requireThere } from '../objects.ts'
import { writeStatus } from '../status.ts'
import { isLeft } from '../version/missing.ts'
import { isRefusing, type VersionStatus, versionStatus } from '../version/work.ts'
import { awaitsList } from './quarantine.ts'
import { type HeldRemoval, heldRemoval, isStored } from './removal.ts'
import {
  type DesiredVersion,
  identityOf,
  identityOfStored,
  ownedBy,
  publishedFor,
  versionOfStored,
} from './versions.ts'

/** The config of a parent that its Versions repeat. */
export interface ParentConfig {
  readonly type: ParentKind
  /** Always with a name: that of the parent if the spec has none. */
  readonly config: Readonly<Record<string, unknown>> & { readonly name: string }
}

export interface Children {
  /** The desired Versions that exist, by identity. */
  readonly wanted: ReadonlyMap<string, StoredObject>
  /** Number of Versions that are not desired but kept. */
  readonly retained: number
  /** Those of them that a person has to confirm. */
  readonly held: HeldRemoval | undefined
}

/** Whether a Version stays although its parent does not name it: people marked it, or published it. */
export function isRetained({ spec }: StoredObject): boolean {
  const { retain, upload } = spec as { retain?: boolean; upload?: unknown }
  return retain === true || upload !== undefined
}

/** Creates, updates and deletes the Versions of a parent. */
export async function syncChildren(
  context: Context,
  parent: StoredObject,
  config: ParentConfig,
  desired: readonly DesiredVersion[],
): Promise<Children> {
  const existing = oldestOf(ownedBy(context, parent))
  const published = oldestOf(publishedFor(context, parent))
  const wanted = new Map<string, StoredObject>()
  const turns = new Turns()
  let isThere = false
  for (const one of desired) {
    await turns.yieldIfDue()
    const identity = identityOf(one)
    const known = existing.get(identity)
    const given = published.get(identity)
    if (given !== undefined && (known === undefined || !isStored(known))) {
      wanted.set(identity, given)
      continue
    }
    existing.delete(identity)
    // A Version of that name is being deleted: its successor comes afterwards.
    if (known !== undefined && isGoing(known)) continue
    const name = known?.metadata.name ?? nameFor(context, parent, config, one)
    const child = childOf(context.apiGroup, parent, config, { ...one, name })
    const isSame = known !== undefined && isApplied(known, child)
    if (!isSame && !isThere) await requireThere(context, parent)
    isThere ||= !isSame
    wanted.set(identity, isSame ? known : await context.objects.apply(child))
  }
  const { uid } = parent.metadata
  const undesired = [...existing.values()].filter(
    (child) =>
      !isGoing(child) &&
      child.metadata.ownerReferences.some(
        (owner) => owner.uid === uid && owner.controller === true,
      ),
  )
  const superfluous = undesired.filter((child) => !isRetained(child))
  const held = heldRemoval(context, parent, ownedBy(context, parent), superfluous)
  const isDecided = held === undefined && !awaitsList(context, parent)
  const stays = new Set(isDecided ? [] : superfluous.filter(isStored))
  for (const child of superfluous) {
    await turns.yieldIfDue()
    if (stays.has(child)) continue
    const { uid: childUid } = child.metadata
    context.removals.unwanted.add(childUid)
    await noteUnwanted(context, child)
    await context.objects.delete(refOf(child), { uid: childUid })
  }
  const retained = undesired.length - superfluous.length + stays.size
  return { wanted, retained, held }
}

/** A process that starts after a kill must not take the deletion of a refusing Version for that of a person. */
async function noteUnwanted(context: Context, child: StoredObject): Promise<void> {
  const { dryRun, timings } = context
  if (dryRun === undefined && timings.removalGraceMs > 0 && isRefusing(child)) {
    await isLeft(context, child)
  }
}

const isGoing = ({ metadata }: StoredObject) => metadata.deletionTimestamp !== undefined

/** The oldest Version of each identity. */
function oldestOf(versions: readonly StoredObject[]): Map<string, StoredObject> {
  const oldest = new Map<string, StoredObject>()
  for (const child of versions) {
    const identity = identityOfStored(child)
    if (isOlder(child, oldest.get(identity))) oldest.set(identity, child)
  }
  return oldest
}

function isOlder(child: StoredObject, other: StoredObject | undefined): boolean {
  if (other === undefined) return true
  if (isGoing(child) !== isGoing(other)) return isGoing(other)
  return child.metadata.creationTimestamp < other.metadata.creationTimestamp
}

/** A free name for a Version. */
export function nameFor(
  { objects }: Pick<Context, 'objects'>,
  parent: StoredObject,
  { type, config }: ParentConfig,
  { version, os, arch, name }: DesiredVersion,
): string {
  const { namespace, name: parentName } = parent.metadata
  const platform = os === undefined || arch === undefined ? [] : [os, arch]
  const isUsable = name !== undefined && objectName(name) === name
  const readable = isUsable ? name : objectName(parentName, version, ...platform)
  const system = typeof config['provider'] === 'string' ? config['provider'] : ''
  const identity =
    type === 'Module'
      ? `Module ${namespace}/${config.name}/${system} ${version}`
      : `Provider ${namespace}/${config.name} ${version} ${platform.join('/')}`
  const isTaken = (free: string) => objects.get('Version', namespace, free) !== undefined
  return freeName(readable, identity, isTaken)
}

function childOf(
  apiGroup: string,
  parent: StoredObject,
  { type, config }: ParentConfig,
  { name, spelled, os, arch, protocols }: DesiredVersion & { readonly name: string },
): AppliedObject {
  const { namespace, name: parentName, uid } = parent.metadata
  const label = (key: string, value: string) => ({ [`${apiGroup}/${key}`]: labelValue(value) })
  const owner = { apiVersion: `${apiGroup}/v1alpha1`, kind: type, name: parentName, uid }
  return {
    kind: 'Version',
    metadata: {
      name,
      namespace,
      labels: {
        ...label(type === 'Module' ? 'module' : 'provider', parentName),
        ...label('namespace', namespace),
        ...(os !== undefined && label('provider-os', os)),
        ...(arch !== undefined && label('provider-arch', arch)),
      },
      ownerReferences: [{ ...owner, controller: true, blockOwnerDeletion: true }],
    },
    spec: {
      type,
      version: spelled,
      ...(os !== undefined && { operatingSystem: os }),
      ...(arch !== undefined && { architecture: arch }),
      ...(protocols !== undefined && protocols.length > 0 && { protocols: [...protocols] }),
      [configRefOf[type]]: config,
    },
  }
}

/** Whether an object has every desired field; fields of others do not matter. */
function isApplied({ metadata, spec }: StoredObject, wanted: AppliedObject): boolean {
  const { labels = {}, annotations = {}, ownerReferences = [] } = wanted.metadata
  const has = (all: Readonly<Record<string, unknown>>, some: object) =>
    Object.entries(some).every(([key, value]) => isDeepStrictEqual(all[key], value))
  const isOwned = ownerReferences.every(({ uid, controller }) =>
    metadata.ownerReferences.some((owner) => owner.uid === uid && owner.controller === controller),
  )
  return (
    isOwned &&
    has(metadata.labels, labels) &&
    has(metadata.annotations, annotations) &&
    has(spec as Record<string, unknown>, wanted.spec as object)
  )
}

/** Marks the Versions of a Module that upstream no longer lists, and those that it lists again. */
export async function markGone(
  context: Context,
  parent: StoredObject,
  missing: readonly string[],
): Promise<void> {
  const gone = new Set(missing.map(normalizeVersion))
  await markVersions(context, ownedBy(context, parent), (child) => gone.has(versionOfStored(child)))
}

/** Marks the Versions that upstream no longer has, so that nobody tries to fetch them again. */
export async function markVersions(
  context: Context,
  children: readonly StoredObject[],
  isGone: (child: StoredObject) => boolean,
): Promise<void> {
  for (const child of children) {
    const upstream = isGone(child) ? 'Gone' : undefined
    if (versionStatus(child).upstream === upstream) continue
    await writeStatus<VersionStatus>(context, child, () => ({
      fields: { upstream },
      conditions: {},
    }))
  }
}
