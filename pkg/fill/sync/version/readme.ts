import { readFile } from 'node:fs/promises'
import semver from 'semver'
import type { FolderDocs, ModuleDocs } from '../../../api/docs/docs.ts'
import { interfaceKey } from '../../../api/v1alpha1/v1alpha1.ts'
import { unpackDocs } from '../../../archives/docs/docs.ts'
import type { ArchivePlace } from '../../../archives/storage/storage.ts'
import {
  ApiError,
  maxInterfaceBytes,
  type Objects,
  readmeRefOf,
  type StoredObject,
  type StoredRef,
} from '../../../records/store/store.ts'
import type { Context } from '../context.ts'
import { keyOf } from '../objects.ts'
import type { ParentStatus } from '../parent/report.ts'
import { publishedParents, versionOfStored } from '../parent/versions.ts'
import { readStored } from './store.ts'
import { type VersionStatus, versionStatus } from './work.ts'

export type ReadmeFields = Pick<
  VersionStatus,
  'readmeConfigMapRef' | 'interfaceConfigMapRef' | 'readmeDocs'
>

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
export function wantsInterface(objects: Known, version: StoredObject): boolean {
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
