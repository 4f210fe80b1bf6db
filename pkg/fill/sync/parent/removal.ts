import { hash } from 'node:crypto'
import { conditionOf } from '../../../api/v1alpha1/v1alpha1.ts'
import { type Objects, refOf, type StoredObject } from '../../../records/store/store.ts'
import type { Context } from '../context.ts'
import { latestOf } from '../objects.ts'
import { type AnyStatus, conditionTrue } from '../status.ts'
import { versionStatus } from '../version/work.ts'
import { identityOfStored } from './versions.ts'

const parentKinds = ['Module', 'Provider'] as const
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
export function heldRemoval(
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

/** Whether the Version has an archive in storage. */
export function isStored(child: StoredObject): boolean {
  return (
    child.metadata.deletionTimestamp === undefined && versionStatus(child).artifact !== undefined
  )
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
  return parentKinds.flatMap((kind) => objects.list(kind)).filter(isHeld).length
}

const isHeld = ({ status }: StoredObject): boolean =>
  conditionOf(status as AnyStatus, 'RemovalHeld')?.status === 'True'
