import { hash } from 'node:crypto'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { apiVersionOf, interfaceKey, isRecord } from '../../api/v1alpha1/v1alpha1.ts'
import { ApiError } from '../kube/kube.ts'
import { textOf } from './folder/text.ts'
import { writeFile } from './folder/write-file.ts'
import type { ReadmeTexts, StoredObject, StoredRef } from './types.ts'
import { record } from './whole-object.ts'

const key = 'README.md'
const maxNameLength = 253
/** Encoded as base64, this is less than the megabyte of a ConfigMap. */
const maxBytes = 512 * 1024
/** Encoded next to the longest README, this still fits. */
export const maxInterfaceBytes = 255 * 1024

/** The ConfigMap with the README of a Version, and the key in its data. */
export function readmeRefOf({ name }: Pick<StoredRef, 'name'>) {
  const whole = `${name}-readme`
  if (whole.length <= maxNameLength) return { name: whole, key }
  const stem = name.slice(0, 230).replace(/[.-]+$/, '')
  return { name: `${stem}-${hash('sha256', name).slice(0, 12)}-readme`, key }
}

/** The ConfigMap of a README, owned by its Version and with the label that servers watch. */
export function readmeObject(
  owner: { readonly metadata: Pick<StoredObject['metadata'], 'namespace' | 'name' | 'uid'> },
  { readme, interface: json }: ReadmeTexts,
  apiGroup: string,
) {
  const { namespace, name, uid } = owner.metadata
  const ref = readmeRefOf(owner.metadata)
  return {
    kind: 'ConfigMap',
    metadata: {
      name: ref.name,
      namespace,
      labels: { [`${apiGroup}/readme`]: 'true' },
      ownerReferences: [
        { apiVersion: apiVersionOf('Version', apiGroup), kind: 'Version', name, uid },
      ],
    },
    data: {
      ...(json !== undefined && { [interfaceKey]: Buffer.from(json).toString('base64') }),
      ...(readme !== undefined && { [ref.key]: encoded(readme) }),
    },
  } as const
}

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
    { metadata: { ...version, uid: '' } },
    { readme: readme.text },
    readme.apiGroup,
  )
  const { ownerReferences: _, ...own } = metadata
  const text = textOf({ apiVersion: 'v1', kind, metadata: own, data })
  await writeFile(join(directory, readmeFileOf(version)), text)
  return readmeRefOf(version)
}

/** Whether a ConfigMap has everything that it should have. */
export function isReadmeWritten(
  found: unknown,
  { metadata, data }: ReturnType<typeof readmeObject>,
): boolean {
  const { labels, ownerReferences } = record(record(found)['metadata'])
  return (
    isDeepStrictEqual(record(found)['data'], data) &&
    isDeepStrictEqual(ownerReferences, metadata.ownerReferences) &&
    Object.keys(metadata.labels).every((label) => record(labels)[label] !== undefined)
  )
}

/** Whether a ConfigMap is the README of a Version: owned by it, or without an owner, as after a restore. */
export function isReadmeOf(
  { name }: Pick<StoredRef, 'name'>,
  found: unknown,
  apiGroup: string,
): boolean {
  const { labels, ownerReferences } = record(record(found)['metadata'])
  const owners: readonly unknown[] = Array.isArray(ownerReferences) ? ownerReferences : []
  if (owners.length === 0) return record(labels)[`${apiGroup}/readme`] !== undefined
  return owners.some((one) => isRecord(one) && one['kind'] === 'Version' && one['name'] === name)
}

/** Error if a ConfigMap of another owner has the name. */
export function readmeTaken({ namespace, name }: Omit<StoredRef, 'kind'>): ApiError {
  const title = `ConfigMap ${namespace}/${readmeRefOf({ name }).name}`
  const message = `${title} is not owned by Version ${name}, whose README needs this name: rename or delete it`
  return new ApiError('Conflict', message)
}

/** Readers of folders parse shorter values as plain text. */
const minBytes = 6

function encoded(text: string): string {
  const bytes = Buffer.from(text.padEnd(minBytes, '\n'))
  if (bytes.length <= maxBytes) return bytes.toString('base64')
  // Drops a character that was cut at the end.
  const start = new TextDecoder().decode(bytes.subarray(0, maxBytes), { stream: true })
  const note = `\n\n*The rest of this README is left out: it has more than ${maxBytes / 1024} KiB.*\n`
  return Buffer.from(start + note).toString('base64')
}
