import { isDeepStrictEqual } from 'node:util'
import { hasReason, messageOf } from '../../../base/errors/errors.ts'
import { Loop } from '../../../base/pacing/pacing.ts'
import type { StoredObject } from '../../../records/store/store.ts'
import type { Context } from '../context.ts'
import { finalizerOf, keyOf } from '../objects.ts'
import { mustBeConfirmed } from '../parent/children.ts'
import { parentsIn } from '../parent/versions.ts'
import { recordedPlace } from './plan.ts'
import { isDeletedToAccept, isLeft, leave } from './remove.ts'
import { leavesArchive, versionStatus } from './work.ts'

/**
 * Finds the Versions of a folder whose files a person removed while nothing ran, and leaves their archives in storage for a
 * while, as a running process does. A checkout without files looks the same, so many Versions of a parent have to be
 * confirmed. A Version whose file is damaged is written again. Archives of others whose files are unreadable or lost their
 * status are held.
 */
export async function leaveMissing(context: Context): Promise<void> {
  const { objects, removals } = context
  if (context.dryRun !== undefined) {
    const lost = removals.stored.filter(
      (version) => !isStoredAs(version, knownAs(context, version)),
    )
    for (const version of lost) removals.hold(version)
  }
  if (!hasMemory(context)) return
  for (const parent of removals.parents) {
    const { kind, metadata } = parent
    if (objects.get(kind, metadata.namespace, metadata.name) === undefined) {
      await isMended(context, parent)
    }
  }
  const missing: StoredObject[] = []
  for (const version of removals.stored) {
    const now = knownAs(context, version)
    if (isStoredAs(version, now) || !(await hasArchive(context, version))) continue
    if (now === undefined && (await isMended(context, version))) continue
    // An unreadable file may hold any of them.
    if (now !== undefined || objects.unreadable() !== undefined) removals.hold(version)
    else missing.push(version)
  }
  const held: StoredObject[] = []
  const ofParent = Map.groupBy(context.removals.stored, parentOf)
  for (const [parent, versions] of Map.groupBy(missing, parentOf)) {
    const unasked = versions.filter((version) => !isDeletedToAccept(context, version))
    const isMany = mustBeConfirmed(unasked.length, ofParent.get(parent)?.length ?? 0)
    if (isMany && context.confirmRemovals !== true) held.push(...versions)
    else for (const version of versions) if (!(await isLeft(context, version))) held.push(version)
  }
  for (const version of held) removals.hold(version)
  if (held.length > 0) {
    const versions = held.slice(0, 10).map(({ metadata }) => keyOf(metadata))
    const hint = 'restore the files, or remove the archives with: depot sync --confirm-removals'
    context.log.error(
      { count: held.length, versions, hint },
      'archives stay in storage, although the files of their Versions are missing',
    )
  }
}

/** Whether storage has the archive of a Version: a process may have ended after it removed it. */
async function hasArchive(context: Context, version: StoredObject): Promise<boolean> {
  const { artifact } = versionStatus(version)
  const place = recordedPlace(context, artifact)?.place
  if (place === undefined || artifact?.fileName === undefined) return true
  try {
    await place.driver.stat(place.object(artifact.fileName))
    return true
  } catch (error) {
    return !hasReason(error, 'NotFound')
  }
}

/** Writes an object again whose file is damaged: a Version if storage has its whole archive. */
async function isMended(context: Context, object: StoredObject): Promise<boolean> {
  const isVersion = object.kind === 'Version'
  const finalizers = isVersion ? [finalizerOf(context.apiGroup)] : object.metadata.finalizers
  const whole = { ...object, metadata: { ...object.metadata, finalizers } }
  const isProven = async () => !isVersion || isWhole(context, object)
  try {
    return (await context.objects.mend?.(whole, isProven)) === true
  } catch (err) {
    const key = keyOf(object.metadata)
    context.log.error({ key, err, error: messageOf(err) }, 'a damaged file stays as it is')
    return false
  }
}

async function isWhole(context: Context, version: StoredObject): Promise<boolean> {
  const { artifact } = versionStatus(version)
  const { fileName = '', sha256 = '', sizeBytes = 0 } = artifact ?? {}
  const place = recordedPlace(context, artifact)?.place
  if (place === undefined) return false
  return place.driver.verify(place.object(fileName), { sizeBytes, sha256 })
}

/**
 * Keeps track of the archive of a Version whose file a person removed, or which lost its status. A cluster that lost its
 * records keeps all archives.
 */
export function keepInStorage(
  context: Context,
  version: StoredObject | undefined,
  after: StoredObject | undefined,
): void {
  if (!context.objects.isFolder || context.dryRun !== undefined) return
  const kind = (after ?? version)?.kind
  const isParent = kind === 'Module' || kind === 'Provider'
  if (isParent && version !== undefined && after === undefined) void isMended(context, version)
  if (kind !== 'Version') return
  const isStored = version !== undefined && versionStatus(version).artifact !== undefined
  if (after !== undefined) {
    if (isStored && !isStoredAs(version, after)) context.removals.hold(version)
    if (!isStored && versionStatus(after).artifact) context.removals.release(after)
    return
  }
  if (version === undefined || version.metadata.finalizers.length === 0) return
  const { deletionTimestamp, ownerAbsent } = version.metadata
  if (deletionTimestamp !== undefined && ownerAbsent !== true) return
  const left = async () => (await isMended(context, version)) || leave(context, version)
  left().catch((err: unknown) => {
    const key = keyOf(version.metadata)
    context.log.warn({ key, err }, 'the archive of a Version that disappeared stays in storage')
  })
}

/** Versions that are stored within this time are recorded together. */
const notingWaitMs = 250

/** The list of stored Versions, which the next process finds. */
export class StoredMemory {
  readonly #context: Context
  readonly #writing: Loop
  #isStarted = false
  #tookMs = 0

  constructor(context: Context) {
    this.#context = context
    this.#writing = new Loop(async () => {
      const startMs = performance.now()
      await this.#write()
      this.#tookMs = performance.now() - startMs
      return Number.POSITIVE_INFINITY
    })
  }

  /** Follows the changes from now on: those before are of objects that were found. */
  start(): void {
    this.#isStarted = true
  }

  follow(before: StoredObject | undefined, after: StoredObject | undefined): void {
    if (!this.#isStarted || !hasOtherArchive(before, after)) return
    // It takes a while to record many Versions, and they are stored one after the other.
    this.#writing.schedule(notingWaitMs + 50 * this.#tookMs)
  }

  async close({ isLost }: { readonly isLost: boolean }): Promise<void> {
    await this.#writing.close()
    if (!isLost) await this.#write()
  }

  async #write(): Promise<void> {
    await noteStored(this.#context).catch((err: unknown) => {
      this.#context.log.warn({ err }, 'the next run does not know which archives are stored')
    })
  }
}

function hasOtherArchive(
  before: StoredObject | undefined,
  after: StoredObject | undefined,
): boolean {
  if ((after ?? before)?.kind !== 'Version') return false
  return !isDeepStrictEqual(artifactOf(before), artifactOf(after))
}

const artifactOf = (version: StoredObject | undefined) => version && versionStatus(version).artifact

/** Writes the list of stored Versions for the next process. */
async function noteStored(context: Context): Promise<void> {
  if (!hasMemory(context)) return
  const stored = context.objects.list('Version').filter((version) => {
    const isWritten = version.metadata.finalizers.length > 0
    return isWritten && versionStatus(version).artifact && !leavesArchive(context, version)
  })
  await context.removals.keepStored([...stored, ...context.removals.held, ...madeParents(context)])
}

/** Modules and Providers that sync created, even those whose files cannot be read now. */
function madeParents({ objects, removals }: Context): StoredObject[] {
  const all = parentsIn(objects)
  const made = all.filter(({ metadata }) => metadata.creationTimestamp !== '')
  if (objects.unreadable() === undefined) return made
  const known = new Set(all.map(({ metadata }) => metadata.uid))
  return [...made, ...removals.parents.filter(({ metadata }) => !known.has(metadata.uid))]
}

/** In a cluster, Versions wait for their finalizers instead. */
const hasMemory = ({ objects, dryRun }: Context): boolean =>
  objects.isFolder && dryRun === undefined

const knownAs = ({ objects }: Context, { metadata }: StoredObject): StoredObject | undefined =>
  objects.get('Version', metadata.namespace, metadata.name)

/** Whether a Version has an archive, as it had before. The place is the last field: a file that was cut lacks it. */
function isStoredAs(before: StoredObject, now: StoredObject | undefined): boolean {
  const artifact = now && versionStatus(now).artifact
  if (artifact === undefined) return false
  return (
    artifact.configName !== undefined || versionStatus(before).artifact?.configName === undefined
  )
}

function parentOf({ metadata }: StoredObject): string {
  const owner = metadata.ownerReferences.find(({ controller }) => controller === true)
  return `${metadata.namespace} ${owner?.uid}`
}
