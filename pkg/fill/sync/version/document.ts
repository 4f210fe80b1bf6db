/** Documentation of stored archives, and READMEs of module versions. */

import { readFile } from 'node:fs/promises'
import semver from 'semver'
import type { FolderDocs, ModuleDocs } from '../../../api/docs/docs.ts'
import { interfaceKey } from '../../../api/v1alpha1/v1alpha1.ts'
import { inspectProvider, visitFiles } from '../../../archives/archive/archive.ts'
import {
  type PackedDocs,
  PageCollector,
  packedDocsOf,
  unpackDocs,
} from '../../../archives/docs/docs.ts'
import type { ArchivePlace } from '../../../archives/storage/storage.ts'
import { maxInterfaceBytes, readmeRefOf } from '../../../records/readme/readme.ts'
import {
  ApiError,
  type Objects,
  type StoredObject,
  type StoredRef,
} from '../../../records/store/store.ts'
import type { Context } from '../context.ts'
import { keyOf, latestOf, resourceOf } from '../objects.ts'
import type { ParentStatus } from '../parent/report.ts'
import { providerConfigOf, publishedParents, versionOfStored } from '../parent/versions.ts'
import { writeStatus } from '../status.ts'
import { jittered, within } from '../timings.ts'
import { placeOf } from './plan.ts'
import { docsFields } from './status.ts'
import { readStored, rewritingBytes, storeDocs, undocumented } from './store.ts'
import {
  docsIn,
  isModuleVersion,
  type ReadmeFields,
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
    signal: within(signal, context.timings.roomMs),
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
    const deadline = within(signal, context.timings.roomMs)
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

/**
 * Keeps the README of a stored module, and the interface of a latest version, for those who read them from the records. A
 * ConfigMap that a person named in the status stays. A failure is logged: its fields say that the texts are still to be
 * written.
 *
 * @param docs the documentation that has the texts; undefined: none could be made
 * @returns the fields of the status that tell of them
 */
export async function writeReadme(
  context: Context,
  object: StoredObject,
  docs: { readonly sha256: string; readonly root?: FolderDocs } | undefined,
): Promise<ReadmeFields> {
  const { name, key } = readmeRefOf(object.metadata)
  const { readmeConfigMapRef: before, interfaceConfigMapRef } = versionStatus(object)
  const given = before?.name === name ? undefined : before
  const none = {
    readmeConfigMapRef: given,
    interfaceConfigMapRef: undefined,
    readmeDocs: undefined,
  }
  if (docs === undefined) return none
  const text = docs.root?.readme?.trim() && given === undefined ? docs.root.readme : undefined
  const isWanted = docs.root !== undefined && wantsInterface(context.objects, object)
  const { json, failure } = isWanted ? interfaceOf(docs.root) : {}
  const hasTexts = text !== undefined || json !== undefined
  const texts = hasTexts ? { readme: text, interface: json } : undefined
  const wasThere = given !== before || interfaceConfigMapRef?.key !== undefined
  try {
    if (hasTexts || wasThere) await context.objects.writeReadme(object, texts)
    return {
      readmeConfigMapRef: text === undefined ? given : { name, key },
      interfaceConfigMapRef: json === undefined ? failure : { name, key: interfaceKey },
      readmeDocs: docs.sha256,
    }
  } catch (err) {
    if (!(err instanceof ApiError)) throw err
    const version = keyOf(object.metadata)
    context.log.warn({ version, configMap: name, err, ...remedyOf(context, object, err) }, failed)
    return none
  }
}

/** All that the documentation says of the root but the README, which has a key of its own. */
function interfaceOf(docs: FolderDocs): {
  readonly json?: string
  readonly failure?: { readonly error: string }
} {
  const json = JSON.stringify({ schema: 1, root: { ...docs, readme: undefined } })
  if (Buffer.byteLength(json) <= maxInterfaceBytes) return { json }
  const limit = `${maxInterfaceBytes / 1024} KiB`
  const error = `the interface has more than ${limit}: read it with depot docs, or from the browse API`
  return { failure: { error } }
}

const failed = 'the readme or interface of a module version was not written'

/** A cluster may refuse ConfigMaps to the controller, and a module is served without its README. */
function remedyOf({ objects }: Context, { metadata }: StoredObject, { reason }: ApiError) {
  if (reason !== 'Forbidden' || objects.isFolder) return {}
  const role = 'depot-readmes --verb=get,create,patch,delete --resource=configmaps'
  const remedy = `kubectl create role ${role} --namespace ${metadata.namespace}, and bind it to the service account of the controller with kubectl create rolebinding; the chart does both`
  return { remedy }
}

/** Reads stored documentation. @returns undefined if it is not in storage */
export async function storedDocs(
  context: Pick<Context, 'spool'>,
  place: ArchivePlace,
  { fileName, sha256 }: { readonly fileName: string; readonly sha256: string },
  signal: AbortSignal,
): Promise<ModuleDocs | undefined> {
  const file = await readStored(context, place, fileName, { signal })
  if (file === undefined) return undefined
  try {
    return file.sha256 === sha256 ? await unpackDocs(await readFile(file.reserved.path)) : undefined
  } finally {
    await file.reserved.remove()
  }
}

type Known = Pick<Objects, 'isFolder' | 'get' | 'list'>

/**
 * Tells whether the interface of a Version belongs into its ConfigMap: it is the latest of its Module, or newer, until the
 * Module says so. A folder is kept in git, and readers of a folder can read the documentation next to the archive.
 */
function wantsInterface(objects: Known, version: StoredObject): boolean {
  if (objects.isFolder) return false
  const number = versionOfStored(version)
  return modulesOf(objects, version).some((module) => {
    const { latestVersion } = moduleStatus(module)
    return latestVersion === undefined || number === latestVersion || isNewer(number, latestVersion)
  })
}

/** The Versions to which a new latest version of their Module gives an interface, or from which it takes theirs. */
export function* interfacesAffected(
  objects: Known,
  before: StoredObject | undefined,
  after: StoredObject | undefined,
): Generator<StoredRef> {
  if (objects.isFolder || after === undefined) return
  const { latestVersion, moduleVersionRefs = {} } = moduleStatus(after)
  if (before !== undefined && moduleStatus(before).latestVersion === latestVersion) return
  const { namespace } = after.metadata
  for (const [number, { name = '' }] of Object.entries(moduleVersionRefs)) {
    const version = objects.get('Version', namespace, name)
    if (version === undefined) continue
    const isWritten = versionStatus(version).interfaceConfigMapRef !== undefined
    if (isWritten !== (number === latestVersion)) yield { kind: 'Version', namespace, name }
  }
}

/** A prerelease is the latest only if there is nothing else. */
function isNewer(version: string, latest: string): boolean {
  const [a, b] = [semver.parse(version), semver.parse(latest)]
  if (a === null || b === null) return false
  return a.compare(b) > 0 && (a.prerelease.length === 0 || b.prerelease.length > 0)
}

function modulesOf(objects: Known, version: StoredObject): StoredObject[] {
  const { namespace, ownerReferences } = version.metadata
  return [...ownerReferences, ...publishedParents(objects, version)]
    .filter(({ kind }) => kind === 'Module')
    .flatMap(({ name }) => objects.get('Module', namespace, name) ?? [])
}

const moduleStatus = ({ status }: StoredObject): ParentStatus => status ?? {}
