/** Creates, updates and deletes the Versions of a Module or Provider. Many need a confirmation to be deleted. */

import { hash } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import {
  conditionOf,
  configRefOf,
  normalizeVersion,
  type ParentKind,
} from '../../../api/v1alpha1/v1alpha1.ts'
import { Turns } from '../../../base/pacing/pacing.ts'
import {
  type AppliedObject,
  type Objects,
  refOf,
  type StoredObject,
} from '../../../records/store/store.ts'
import type { Context } from '../context.ts'
import { awaitsList } from '../depot/made.ts'
import { freeName, labelValue, latestOf, objectName, requireThere } from '../objects.ts'
import { type AnyStatus, conditionTrue, writeStatus } from '../status.ts'
import { isLeft } from '../version/remove.ts'
import { isRefusing, isStored, type VersionStatus, versionStatus } from '../version/work.ts'
import {
  type DesiredVersion,
  identityOf,
  identityOfStored,
  ownedBy,
  parentsIn,
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

/** So few Versions may go without a confirmation, unless they are all that is stored. */
const maxUnasked = 5
const maxNamed = 10

/** The stored Versions that a change would remove from a parent, and that stay until a person confirms it. */
export interface HeldRemoval {
  readonly versions: readonly string[]
  readonly stored: number
  /** Names this set of Versions. */
  readonly token: string
}

export function confirmAnnotation(apiGroup: string): string {
  return `${apiGroup}/confirm-removal`
}

/**
 * Whether Versions have to stay until a person confirms their removal: more than five that are more than a quarter of the
 * stored Versions of their parent, or all of them.
 *
 * @param leaving the stored Versions that the parent no longer names
 * @param stored the number of all stored Versions of the parent
 */
export function mustBeConfirmed(leaving: number, stored: number): boolean {
  return leaving > 0 && (leaving === stored || (leaving > maxUnasked && leaving * 4 > stored))
}

/**
 * Decides about Versions that their parent no longer names.
 *
 * @param children all Versions of the parent
 * @param superfluous those that the parent no longer names
 * @returns undefined if they can be removed
 */
function heldRemoval(
  { apiGroup, confirmRemovals }: Pick<Context, 'apiGroup' | 'confirmRemovals'>,
  parent: StoredObject,
  children: readonly StoredObject[],
  superfluous: readonly StoredObject[],
): HeldRemoval | undefined {
  const leaving = superfluous.filter(isStored)
  const stored = children.filter(isStored).length
  // A person has to decide, even if the numbers change in the meantime.
  const isHeldBefore = leaving.length > 0 && isHeld(parent)
  const isMany = isHeldBefore || mustBeConfirmed(leaving.length, stored)
  if (confirmRemovals === true || !isMany) return undefined
  const versions = leaving.map(identityOfStored).toSorted()
  // A Version that was removed and returned is a new one, even in a folder, where its uid is the same.
  const created = leaving.map(({ metadata }) => `${metadata.uid} ${metadata.creationTimestamp}`)
  const token = hash('sha256', JSON.stringify([parent.metadata.uid, created.toSorted()])).slice(
    0,
    12,
  )
  if (parent.metadata.annotations[confirmAnnotation(apiGroup)] === token) return undefined
  return { versions, stored, token }
}

/** Takes a confirmation off a parent, so that it confirms no later removal. @param parent as the decision was made from it */
export async function useUpConfirmation(context: Context, parent: StoredObject): Promise<void> {
  const name = confirmAnnotation(context.apiGroup)
  const { metadata } = latestOf(context, parent)
  const given = metadata.annotations[name]
  if (given === undefined || given !== parent.metadata.annotations[name]) return
  const { resourceVersion } = metadata
  const patch = { metadata: { annotations: { [name]: null } } }
  await context.objects.patch(refOf(parent), patch, { resourceVersion })
}

/** Tells a person what is held, and how to confirm it or avoid it. */
export function heldCondition(
  { apiGroup, confirmRemovals }: Pick<Context, 'apiGroup' | 'confirmRemovals'>,
  { kind, metadata: { namespace, name } }: StoredObject,
  { versions, stored, token }: HeldRemoval,
) {
  const more = versions.length > maxNamed ? `, and ${versions.length - maxNamed} more` : ''
  const named = `${versions.slice(0, maxNamed).join(', ')}${more}`
  const command =
    confirmRemovals !== undefined
      ? 'depot sync --confirm-removals'
      : `kubectl annotate ${kind.toLowerCase()} ${name} --namespace ${namespace} ${confirmAnnotation(apiGroup)}=${token} --overwrite`
  return conditionTrue(
    'RemovalHeld',
    `${versions.length} of ${stored} stored versions are not wanted any more, and stay served (${named}): undo the change to keep them, or remove them with: ${command}`,
  )
}

/** Counts the Modules and Providers with a removal that is held. */
export function heldRemovals(objects: Objects): number {
  return parentsIn(objects).filter(isHeld).length
}

const isHeld = ({ status }: StoredObject): boolean =>
  conditionOf(status as AnyStatus, 'RemovalHeld')?.status === 'True'
