import { Turns } from '../../../base/pacing/pacing.ts'
import type { AppliedObject, StoredObject } from '../../../records/store/store.ts'
import { type Context, refOf } from '../context.ts'
import { freeName, objectName } from '../names.ts'
import { childOf, isApplied, type ParentConfig } from './child.ts'
import { type Desired, identityOf, identityOfStored } from './desired.ts'

/** At most so many Versions are deleted at a time, so that a mistake can be noticed while it happens. */
const maxDeletions = 20

export interface Children {
  /** The Versions that are wanted and exist, by identity. */
  readonly wanted: ReadonlyMap<string, StoredObject>
  /** Kept although nothing names them. */
  readonly retained: number
  /** Whether there are more to delete. */
  readonly hasMore: boolean
}

/** Versions of a parent, which is their controller. */
export function ownedBy({ objects }: Context, { metadata }: StoredObject): StoredObject[] {
  const { namespace, uid } = metadata
  return objects.list('Version', { namespace, ownerUid: uid })
}

/** Versions that stay whatever their parent says: people want them kept, or published them. */
export function isRetained({ spec }: StoredObject): boolean {
  const { retain, upload } = spec as { retain?: boolean; upload?: unknown }
  return retain === true || upload !== undefined
}

/** Makes the Versions of a parent those that are desired. */
export async function syncChildren(
  context: Context,
  parent: StoredObject,
  config: ParentConfig,
  desired: readonly Desired[],
): Promise<Children> {
  const existing = new Map<string, StoredObject>()
  for (const child of ownedBy(context, parent)) {
    const identity = identityOfStored(child)
    if (isOlder(child, existing.get(identity))) existing.set(identity, child)
  }
  const wanted = new Map<string, StoredObject>()
  const turns = new Turns()
  for (const one of desired) {
    await turns.yieldIfDue()
    const identity = identityOf(one)
    const known = existing.get(identity)
    existing.delete(identity)
    const child = await bring(context, parent, config, one, known)
    if (child !== undefined) wanted.set(identity, child)
  }
  const undesired = [...existing.values()].filter(
    (child) => !isGoing(child) && isControlledBy(child, parent),
  )
  const superfluous = undesired.filter((child) => !isRetained(child))
  for (const child of superfluous.slice(0, maxDeletions)) {
    await context.objects.delete(refOf(child), { uid: child.metadata.uid })
  }
  return {
    wanted,
    retained: undesired.length - superfluous.length,
    hasMore: superfluous.length > maxDeletions,
  }
}

function isControlledBy({ metadata }: StoredObject, parent: StoredObject): boolean {
  const { uid } = parent.metadata
  return metadata.ownerReferences.some((owner) => owner.uid === uid && owner.controller === true)
}

const isGoing = ({ metadata }: StoredObject) => metadata.deletionTimestamp !== undefined

function isOlder(child: StoredObject, other: StoredObject | undefined): boolean {
  if (other === undefined) return true
  if (isGoing(child) !== isGoing(other)) return isGoing(other)
  return child.metadata.creationTimestamp < other.metadata.creationTimestamp
}

/** @returns undefined while one of that name is being deleted */
async function bring(
  context: Context,
  parent: StoredObject,
  config: ParentConfig,
  desired: Desired,
  known: StoredObject | undefined,
): Promise<StoredObject | undefined> {
  if (known !== undefined && isGoing(known)) return undefined
  const name = known?.metadata.name ?? nameFor(context, parent, config, desired)
  const child: AppliedObject = childOf(context.apiGroup, parent, config, desired, name)
  return known !== undefined && isApplied(known, child) ? known : context.objects.apply(child)
}

function nameFor(
  { objects }: Context,
  parent: StoredObject,
  { type, config }: ParentConfig,
  { version, os, arch, name }: Desired,
): string {
  const { namespace, name: parentName } = parent.metadata
  const platform = os === undefined || arch === undefined ? [] : [os, arch]
  const wish = name === undefined ? '' : objectName(name)
  const readable =
    name === undefined || wish !== name ? objectName(parentName, version, ...platform) : wish
  const identity =
    type === 'Module'
      ? `Module ${namespace}/${config.name}/${typeof config['provider'] === 'string' ? config['provider'] : ''} ${version}`
      : `Provider ${namespace}/${config.name} ${version} ${platform.join('/')}`
  return freeName(
    readable,
    identity,
    (free) => objects.get('Version', namespace, free) !== undefined,
  )
}
