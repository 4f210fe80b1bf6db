import { hash } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import { apiVersionOf, isRecord } from '../../api/v1alpha1/v1alpha1.ts'
import { ApiError } from '../kube/kube.ts'
import type { StoredObject, StoredRef } from './types.ts'
import { record } from './whole-object.ts'

const key = 'README.md'
const maxNameLength = 253
/** Encoded as base64, this is less than the megabyte that a ConfigMap holds. */
const maxBytes = 512 * 1024

/** The ConfigMap that holds the README of a Version, and the key in its data. */
export function readmeRefOf({ name }: Pick<StoredRef, 'name'>) {
  const whole = `${name}-readme`
  if (whole.length <= maxNameLength) return { name: whole, key }
  const stem = name.slice(0, 230).replace(/[.-]+$/, '')
  return { name: `${stem}-${hash('sha256', name).slice(0, 12)}-readme`, key }
}

/** The ConfigMap of a README, owned by its Version and with the label that servers watch. */
export function readmeObject(owner: StoredObject, text: string, apiGroup: string) {
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
    data: { [ref.key]: encoded(text) },
  } as const
}

/** Tells whether a ConfigMap has everything that is wanted of it. */
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

/** Tells whether a ConfigMap is the README of a Version: owned by it, or by nobody, as a restored backup leaves it. */
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

/** Error for a ConfigMap of somebody else that has the name. */
export function readmeTaken({ namespace, name }: Omit<StoredRef, 'kind'>): ApiError {
  const title = `ConfigMap ${namespace}/${readmeRefOf({ name }).name}`
  const message = `${title} is not owned by Version ${name}, whose README needs this name: rename or delete it`
  return new ApiError('Conflict', message)
}

/** Readers of folders take shorter values for plain text. */
const minBytes = 6

function encoded(text: string): string {
  const bytes = Buffer.from(text.padEnd(minBytes, '\n'))
  if (bytes.length <= maxBytes) return bytes.toString('base64')
  // Drops a character that is cut in half.
  const start = new TextDecoder().decode(bytes.subarray(0, maxBytes), { stream: true })
  const note = `\n\n*The rest of this README is left out: it has more than ${maxBytes / 1024} KiB.*\n`
  return Buffer.from(start + note).toString('base64')
}
