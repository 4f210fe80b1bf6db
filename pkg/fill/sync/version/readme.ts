import { readFile } from 'node:fs/promises'
import type { ModuleDocs } from '../../../api/docs/docs.ts'
import { unpackDocs } from '../../../archives/docs/docs.ts'
import type { ArchivePlace } from '../../../archives/storage/storage.ts'
import { ApiError, readmeRefOf, type StoredObject } from '../../../records/store/store.ts'
import { type Context, keyOf } from '../context.ts'
import { readStored } from './stored-file.ts'
import { type VersionStatus, versionStatus } from './work.ts'

export type ReadmeFields = Pick<VersionStatus, 'readmeConfigMapRef' | 'readmeDocs'>

/**
 * Keeps the README of a stored module for those who read it from the records. A ConfigMap that a person named in the status
 * stays. A failure is logged: its fields say that the README is still to be written.
 *
 * @param docs the documentation that has the README; undefined: none could be made
 * @returns the fields of the status that tell of it
 */
export async function writeReadme(
  context: Context,
  object: StoredObject,
  docs: { readonly sha256: string; readonly readme?: string | undefined } | undefined,
): Promise<ReadmeFields> {
  const ref = readmeRefOf(object.metadata)
  const { readmeConfigMapRef: before } = versionStatus(object)
  const given = before?.name === ref.name ? undefined : before
  if (docs === undefined) return { readmeConfigMapRef: given, readmeDocs: undefined }
  if (given !== undefined) return { readmeConfigMapRef: given, readmeDocs: docs.sha256 }
  const text = docs.readme?.trim() ? docs.readme : undefined
  try {
    if (text !== undefined || before !== undefined) await context.objects.writeReadme(object, text)
    return { readmeConfigMapRef: text === undefined ? undefined : ref, readmeDocs: docs.sha256 }
  } catch (err) {
    if (!(err instanceof ApiError)) throw err
    const version = keyOf(object.metadata)
    context.log.warn(
      { version, configMap: ref.name, err, ...remedyOf(context, object, err) },
      failed,
    )
    return { readmeConfigMapRef: undefined, readmeDocs: undefined }
  }
}

const failed = 'the readme of a module version was not written'

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
