import { inspectProvider, visitFiles } from '../../../archives/archive/archive.ts'
import { type PackedDocs, PageCollector, packedDocsOf } from '../../../archives/docs/docs.ts'
import { readmeRefOf, type StoredObject } from '../../../records/store/store.ts'
import type { Context } from '../context.ts'
import { latestOf, resourceOf } from '../objects.ts'
import { providerConfigOf } from '../parent/versions.ts'
import { writeStatus } from '../status.ts'
import { jittered } from '../timings.ts'
import { rewritingBytes, undocumented } from './fetch.ts'
import { placeOf } from './plan.ts'
import { storedDocs, wantsInterface, writeReadme } from './readme.ts'
import { docsFields } from './status.ts'
import { readStored, storeDocs } from './store.ts'
import {
  docsIn,
  isModuleVersion,
  type StoragePlace,
  type VersionStatus,
  versionStatus,
} from './work.ts'

/**
 * Makes the documentation of a stored module that has none, and writes its README. An earlier release or a person stored the
 * module, or the documentation or the README was lost. The archive comes from storage, never from upstream. The archive of a
 * provider is read only if it had documentation, because few have; a repository that the config names can have it instead. A
 * failure is logged.
 *
 * @param isChecked whether the archive was just looked for in storage; then its documentation and README are, too
 * @returns when to try again
 */
export async function document(
  context: Context,
  object: StoredObject,
  at: StoragePlace,
  { signal, isChecked }: { readonly signal: AbortSignal; readonly isChecked: boolean },
): Promise<number | undefined> {
  const { metadata } = object
  const { stalledMs } = context.timings
  try {
    if (await hasDocumentation(context, object, at, isChecked)) return undefined
    const isMade = await hasDocs(object, at, isChecked)
    const waitMs = context.docsAllowance.take()
    if (waitMs !== undefined) return waitMs
    if (isMade) await takeReadme(context, object, at, signal)
    else await make(context, object, at, signal)
    return !isModuleVersion(object) || isReadmeReported(context, latestOf(context, object))
      ? undefined
      : jittered(stalledMs, metadata.uid)
  } catch (err) {
    if (signal.aborted) throw err
    const { fileName } = versionStatus(object).artifact ?? {}
    context.log.warn({ archive: fileName, err }, undocumented)
    return jittered(stalledMs, metadata.uid)
  }
}

/** Whether a Version has its documentation and README, or gets none. @throws RegistryError */
export async function hasDocumentation(
  context: Context,
  object: StoredObject,
  at: StoragePlace,
  isChecked: boolean,
): Promise<boolean> {
  if (!isInArchive(object) && pagesSourceOf(context, object) === undefined) return true
  if (!at.place.isGrantedTo(object.metadata.namespace)) return true
  if (!(await hasDocs(object, at, isChecked))) return false
  if (!isModuleVersion(object)) return true
  return isReadmeReported(context, object) && !(isChecked && (await isReadmeLost(context, object)))
}

/** Whether its archive has documentation: every module does, and a provider for which it was found before. */
export const isInArchive = (object: StoredObject): boolean =>
  isModuleVersion(object) || versionStatus(object).artifact?.docs !== undefined

async function hasDocs(
  object: StoredObject,
  { place }: StoragePlace,
  isChecked: boolean,
): Promise<boolean> {
  const { artifact } = versionStatus(object)
  const name = docsIn(artifact)
  if (name === undefined || artifact?.docs === undefined) return false
  return !isChecked || (await place.driver.check(place.object(name), artifact.docs))
}

/** Tells whether the README of the documentation was written, if it has one, and the interface if it is wanted. */
function isReadmeReported({ objects }: Context, object: StoredObject): boolean {
  const { artifact, readmeDocs, interfaceConfigMapRef } = versionStatus(object)
  const isRightInterface = wantsInterface(objects, object) === (interfaceConfigMapRef !== undefined)
  return artifact?.docs?.sha256 === readmeDocs && isRightInterface
}

/** Whether somebody deleted the README or interface that was written. */
async function isReadmeLost({ objects }: Context, object: StoredObject): Promise<boolean> {
  const { readmeConfigMapRef, interfaceConfigMapRef } = versionStatus(object)
  const { name } = readmeRefOf(object.metadata)
  const keys = [readmeConfigMapRef, interfaceConfigMapRef].flatMap((ref) =>
    ref?.name === name && ref.key !== undefined ? [ref.key] : [],
  )
  return keys.length > 0 && !(await objects.hasReadme(object, keys))
}

async function takeReadme(
  context: Context,
  object: StoredObject,
  { place }: StoragePlace,
  signal: AbortSignal,
): Promise<void> {
  const { artifact } = versionStatus(object)
  const fileName = docsIn(artifact)
  if (fileName === undefined || artifact?.docs === undefined) return
  const { sha256 } = artifact.docs
  const docs = await storedDocs(context, place, { fileName, sha256 }, signal)
  const fields = await writeReadme(context, object, docs && { sha256, root: docs.root })
  await writeStatus<VersionStatus>(context, latestOf(context, object), (status) => ({
    fields: status?.artifact?.docs?.sha256 === sha256 ? fields : {},
    conditions: {},
  }))
}

async function make(
  context: Context,
  object: StoredObject,
  at: StoragePlace,
  signal: AbortSignal,
): Promise<void> {
  const { fileName, sha256 } = versionStatus(object).artifact ?? {}
  if (fileName === undefined || sha256 === undefined) return
  const isModule = isModuleVersion(object)
  const found = isInArchive(object)
    ? await docsInArchive(context, at, { fileName, sha256, isModule }, signal)
    : undefined
  const docs = found ?? (await pagesFromSource(context, object, signal))
  if (docs === undefined) return
  const letGo = await context.inUse.hold(at.placeId, [
    docsIn({ fileName, sha256, docs }) ?? fileName,
  ])
  try {
    const stored = await storeDocs(context, at.place, { fileName, sha256, docs }, signal)
    if (stored === undefined) return
    const readme = isModule ? await writeReadme(context, object, stored) : {}
    await writeStatus<VersionStatus>(context, latestOf(context, object), (status) => {
      const isSame = status?.artifact?.sha256 === sha256
      const fields = isSame && {
        artifact: { ...status.artifact, docs: docsFields(stored) },
        ...readme,
      }
      return { fields: fields || {}, conditions: {} }
    })
  } finally {
    letGo()
  }
}

interface StoredArchive {
  readonly fileName: string
  readonly sha256: string
  readonly isModule: boolean
}

export async function docsInArchive(
  context: Context,
  at: StoragePlace,
  { fileName, sha256, isModule }: StoredArchive,
  signal: AbortSignal,
): Promise<PackedDocs | undefined> {
  const limits = context.limits[isModule ? 'module' : 'provider']
  const file = await readStored(context, at.place, fileName, {
    signal: AbortSignal.any([signal, AbortSignal.timeout(context.timings.roomMs)]),
    roomFor: (sizeBytes) => {
      const unpacked = isModule ? rewritingBytes(sizeBytes, limits) : 0
      return Math.min(sizeBytes + unpacked, context.spool.sizeBytes)
    },
  })
  if (file === undefined) return undefined
  try {
    // The next check of the archive reports that it was altered.
    if (file.sha256 !== sha256) return undefined
    const { path } = file.reserved
    const reading = { file: path, limits, signal }
    return isModule
      ? await packedDocsOf({ ...reading, scratch: `${path}.scratch` })
      : await pagesIn({ ...reading, type: at.configName })
  } finally {
    await file.reserved.remove()
  }
}

async function pagesIn(
  archive: Omit<Parameters<typeof inspectProvider>[0], 'visit'>,
): Promise<PackedDocs | undefined> {
  const pages = new PageCollector()
  await inspectProvider({ ...archive, visit: pages.take })
  return pages.packed()
}

/**
 * Fetches the documentation of a provider version from the repository that its config names.
 *
 * @returns undefined if the config names none
 * @throws FillError, ArchiveError
 */
async function pagesFromSource(
  context: Context,
  object: StoredObject,
  signal: AbortSignal,
): Promise<PackedDocs | undefined> {
  const place = pagesSourceOf(context, object)
  if (place === undefined) return undefined
  const { source, name, version, githubClientConfig } = place
  const { namespace } = object.metadata
  const key = JSON.stringify([namespace, name, version, source])
  const upstream = context.sources.module({ name, source, githubClientConfig }, namespace)
  const limits = context.limits.module
  const fetched = async () => {
    // It begins after the wait for another caller.
    const deadline = AbortSignal.any([signal, AbortSignal.timeout(context.timings.roomMs)])
    const resolved = await upstream.resolve(version, { signal: deadline })
    const { file, path } = await upstream.fetch(resolved, { signal: deadline, limits })
    try {
      const pages = new PageCollector()
      await visitFiles({ file: file.path, limits, signal }, pages.take, path)
      return await pages.packed({ isEmptyToo: true })
    } finally {
      await file.remove()
    }
  }
  return context.pages.get(key, fetched, { signal })
}

/** The repository with the documentation of a provider version; undefined for modules, too. */
function pagesSourceOf(context: Context, object: StoredObject) {
  const version = resourceOf('Version', latestOf(context, object))
  if (version.spec.type !== 'Provider') return undefined
  const { parent, configName: name, version: number } = placeOf(context, version)
  const { docs: source, githubClientConfig } = providerConfigOf(parent, version)
  return source && { source, name, version: number, githubClientConfig }
}
