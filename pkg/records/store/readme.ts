import { join } from 'node:path'
import { ApiError } from '../kube/kube.ts'
import { readmeObject, readmeRefOf } from '../readme/readme.ts'
import { textOf, writeFile } from './folder/write-file.ts'
import type { StoredRef } from './types.ts'

/** The file of a README in a folder. */
export function readmeFileOf(version: Omit<StoredRef, 'kind'>): string {
  return `configmaps/${encodedName(version.namespace)}/${encodedName(readmeRefOf(version).name)}.yaml`
}

/** A valid file name for the name of an object. */
export function encodedName(name: string): string {
  return encodeURIComponent(name).replace(/^\./, '%2E')
}

/**
 * Writes the README of a Version into a folder, from where it can be applied to a cluster. There it has no owner until the
 * controller has processed the Version.
 *
 * @returns the fields of the status that name it
 */
export async function writeReadmeManifest(
  directory: string,
  version: Omit<StoredRef, 'kind'>,
  readme: { readonly text: string; readonly apiGroup: string },
): Promise<{ readonly name: string; readonly key: string }> {
  const { kind, metadata, data } = readmeObject(
    { ...version, uid: '' },
    { readme: readme.text },
    readme.apiGroup,
  )
  const { ownerReferences: _, ...own } = metadata
  const text = textOf({ apiVersion: 'v1', kind, metadata: own, data })
  await writeFile(join(directory, readmeFileOf(version)), text)
  return readmeRefOf(version)
}

/** Error if a ConfigMap of another owner has the name. */
export function readmeTaken({ namespace, name }: Omit<StoredRef, 'kind'>): ApiError {
  const title = `ConfigMap ${namespace}/${readmeRefOf({ name }).name}`
  const message = `${title} is not owned by Version ${name}, whose README needs this name: rename or delete it`
  return new ApiError('Conflict', message)
}
