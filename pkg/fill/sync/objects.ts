/** Objects as reconcilers read and keep them: parsed, current, and with a finalizer. */

import { hash } from 'node:crypto'
import {
  formatPath,
  mistakesIn,
  parseResource,
  type ResourceOf,
} from '../../api/v1alpha1/v1alpha1.ts'
import { ApiError } from '../../records/kube/kube.ts'
import {
  type ObjectKind,
  type Objects,
  refOf,
  type StoredObject,
} from '../../records/store/store.ts'
import { FillError } from '../sources/sources.ts'

/** Parses an object with its schema. @throws FillError InvalidSpec, naming the field */
export function resourceOf<K extends ObjectKind>(kind: K, object: StoredObject): ResourceOf<K> {
  const parsed = parseResource(kind, object)
  const issues = parsed.ok ? mistakesIn(parsed.resource) : parsed.issues
  const [first] = issues.filter(({ path }) => path[0] !== 'status')
  if (first !== undefined) {
    throw new FillError('InvalidSpec', `${formatPath(first.path)} ${first.message}`)
  }
  if (parsed.ok) return parsed.resource
  // Only the status is wrong, and the controller writes the status itself.
  const { status: _, ...rest } = object
  return resourceOf(kind, rest)
}

export function keyOf({ namespace, name }: { namespace: string; name: string }): string {
  return `${namespace}/${name}`
}

/** The current state of an object, or the given state if the object is gone. */
export function latestOf(
  { objects }: { readonly objects: Pick<Objects, 'get'> },
  object: StoredObject,
): StoredObject {
  const { kind, namespace, name } = refOf(object)
  return objects.get(kind, namespace, name) ?? object
}

/**
 * A cluster that lost its records removes what a lost object creates, and archives are removed with it.
 *
 * @throws ApiError NotFound if an object is only in memory any more
 */
export async function requireThere(
  { objects }: { readonly objects: Pick<Objects, 'fresh'> },
  object: StoredObject,
): Promise<void> {
  const { kind, namespace, name } = refOf(object)
  const now = await objects.fresh(kind, namespace, name)
  if (now?.metadata.uid === object.metadata.uid) return
  throw new ApiError('NotFound', `${kind} ${namespace}/${name} no longer exists`)
}

interface Finalized {
  readonly objects: Pick<Objects, 'patch' | 'waitsForFinalizers'>
  readonly apiGroup: string
}

export function finalizerOf(apiGroup: string): string {
  return `${apiGroup}/finalizer`
}

/** Makes a deleted object wait until its archive is removed. @returns the object with the finalizer */
export async function addFinalizer(
  { objects, apiGroup }: Finalized,
  object: StoredObject,
): Promise<StoredObject> {
  const { finalizers, resourceVersion } = object.metadata
  const own = finalizerOf(apiGroup)
  if (finalizers.includes(own) || !objects.waitsForFinalizers(object)) return object
  const patch = { metadata: { finalizers: [...finalizers, own] } }
  return objects.patch(refOf(object), patch, { resourceVersion })
}

/** Lets a deleted object disappear. */
export async function dropFinalizer(
  { objects, apiGroup }: Finalized,
  object: StoredObject,
): Promise<void> {
  const { finalizers, resourceVersion } = object.metadata
  const own = finalizerOf(apiGroup)
  if (!finalizers.includes(own)) return
  const patch = { metadata: { finalizers: finalizers.filter((name) => name !== own) } }
  await objects.patch(refOf(object), patch, { resourceVersion })
}

/** Kubernetes allows 253 characters; names derived from a name need some of them. */
const maxNameLength = 200
const maxLabelLength = 63

/** Joins parts and replaces characters that names of objects may not have. */
export function objectName(...parts: readonly string[]): string {
  return parts
    .join('-')
    .toLowerCase()
    .replaceAll(/[^a-z0-9-]/g, '-')
    .replaceAll(/^-+|-+$/g, '')
}

/**
 * The name of a new object: readable if possible, otherwise with a digest.
 *
 * @param identity a text that only this object has
 */
export function freeName(
  readable: string,
  identity: string,
  isTaken: (name: string) => boolean,
): string {
  if (readable !== '' && readable.length <= maxNameLength && !isTaken(readable)) return readable
  const digest = hash('sha256', identity).slice(0, 8)
  return `${readable.slice(0, maxNameLength - 9).replace(/-+$/, '')}-${digest}`.replace(/^-/, 'x-')
}

/** A text as the value of a label: hashed if it is too long or has other characters. */
export function labelValue(text: string): string {
  const fits = text.length <= maxLabelLength && /^([A-Za-z0-9]([\w.-]*[A-Za-z0-9])?)?$/.test(text)
  return fits ? text : hash('sha256', text).slice(0, 40)
}
