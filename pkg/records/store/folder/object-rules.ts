/** The rules of an API server for the objects of a folder: their identity, and what a write may change. */

import { hash } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import {
  formatPath,
  isRecord,
  mistakesIn,
  parseResource,
  withoutNulls,
} from '../../../api/v1alpha1/v1alpha1.ts'
import type { Keeper } from '../../folder/folder.ts'
import { ApiError, type JsonPatchOperation, type ObjectPatch } from '../../kube/kube.ts'
import { record, textsIn, wholeObject } from '../memory.ts'
import type { AppliedObject, ObjectKind, StoredObject, StoredRef } from '../types.ts'

export type Fields = Readonly<Record<string, unknown>>

export interface FiledSecret {
  readonly namespace: string
  readonly name: string
  readonly values: Readonly<Record<string, Buffer>>
}

/** Keeps objects with all of their fields, and Secrets. */
export const wholeKeeper: Keeper<Fields, FiledSecret> = {
  object: (_, value) => value,
  withStatus: (value, { raw }) => ({ ...value, status: raw }),
  extra: secretIn,
}

function secretIn(value: unknown): FiledSecret | undefined {
  if (!isRecord(value) || value['apiVersion'] !== 'v1' || value['kind'] !== 'Secret') {
    return undefined
  }
  const { name, namespace = 'default' } = record(value['metadata'])
  if (typeof name !== 'string' || typeof namespace !== 'string') return undefined
  const valuesOf = (field: string, encoding: BufferEncoding) =>
    Object.entries(textsIn(value[field])).map(
      ([key, it]) => [key, Buffer.from(it, encoding)] as const,
    )
  const values = [...valuesOf('data', 'base64'), ...valuesOf('stringData', 'utf8')]
  return { namespace, name, values: Object.fromEntries(values) }
}

/**
 * Adds the fields that an API server would set to an object of a file. The uid is derived from the name, and the generation
 * from the spec, so that both stay the same after a restart. A key without a value is absent, as for an API server.
 */
export function identified(
  kind: ObjectKind,
  value: unknown,
  resourceVersion: string,
): StoredObject {
  const object = wholeObject(kind, hasNull(value) ? withoutNulls(value) : value)
  const { namespace, name } = object.metadata
  return {
    ...object,
    metadata: {
      ...object.metadata,
      uid: object.metadata.uid || uidOf({ kind, namespace, name }),
      resourceVersion,
      generation: generationOf(object.spec),
      ownerReferences: object.metadata.ownerReferences.map((owner) => {
        const ref = { ...owner, namespace }
        return { ...owner, uid: owner.uid || uidOf(ref) }
      }),
    },
  }
}

const hasNull = (value: unknown): boolean =>
  value === null || (typeof value === 'object' && Object.values(value).some(hasNull))

export function uidOf({
  kind,
  namespace,
  name,
}: Omit<StoredRef, 'kind'> & { kind: string }): string {
  const digits = hash('sha256', JSON.stringify([kind, namespace, name]))
  const groups = /^(.{8})(.{4})(.{4})(.{4})(.{12})/.exec(digits)?.slice(1) ?? []
  return groups.join('-')
}

/** Number from 1 to 2^31. */
function generationOf(spec: unknown): number {
  return (Number.parseInt(hash('sha256', canonical(spec)).slice(0, 8), 16) >>> 1) + 1
}

/** JSON with sorted fields. */
function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`
  if (!isRecord(value)) return JSON.stringify(value) ?? 'null'
  const fields = Object.keys(record(value)).toSorted()
  return `{${fields.map((field) => `${JSON.stringify(field)}:${canonical(value[field])}`).join(',')}}`
}

/** @throws ApiError Invalid if an API server would refuse it */
export function requireValid(
  { kind, namespace, name }: StoredRef,
  value: unknown,
  { withRules }: { readonly withRules: boolean },
): void {
  const parsed = parseResource(kind, value)
  const [issue] = parsed.ok ? (withRules ? mistakesIn(parsed.resource) : []) : parsed.issues
  if (issue === undefined) return
  const message = `${kind} ${namespace}/${name}: ${formatPath(issue.path)} ${issue.message}`
  throw new ApiError('Invalid', message)
}

/** Fields of a spec that people write into objects of a controller. */
const fieldsOfPeople = ['acceptBreaking', 'forceSync', 'lifecycle', 'retain', 'suspend', 'upload']

/**
 * Applies an object without a record of field managers: the controller owns the spec except the fields that people write, and
 * adds labels and annotations to the existing ones.
 */
export function applied(before: Fields, { metadata, spec }: AppliedObject): Fields {
  const held = record(before['metadata'])
  const wanted = record(JSON.parse(JSON.stringify(spec)))
  const theirs = Object.entries(record(before['spec'])).filter(
    ([field]) => fieldsOfPeople.includes(field) && !(field in wanted),
  )
  const { labels, annotations, ownerReferences } = metadata
  const added = (field: string, more: Fields | undefined) =>
    more === undefined ? {} : { [field]: { ...record(held[field]), ...more } }
  return {
    ...before,
    metadata: {
      ...held,
      ...added('labels', labels),
      ...added('annotations', annotations),
      ...(ownerReferences && {
        ownerReferences: JSON.parse(JSON.stringify(ownerReferences)) as unknown,
      }),
    },
    spec: { ...wanted, ...Object.fromEntries(theirs) },
  }
}

/** Applies a patch to an object. @throws ApiError Invalid if a test fails, or a path does not exist */
export function patched(object: Fields, patch: ObjectPatch): Fields {
  if (!isOperations(patch)) return merged(object, patch)
  return patch.reduce<Fields>((state, operation) => {
    const path = operation.path.split('/').slice(1).map(unescaped)
    const result = operated(state, path, operation)
    return isRecord(result) ? result : state
  }, object)
}

/** Applies a merge patch (RFC 7396). */
function merged(target: unknown, patch: Fields): Fields {
  const fields = Object.entries(patch).reduce<Map<string, unknown>>(
    (all, [field, value]) => {
      if (value === null) all.delete(field)
      else all.set(field, isRecord(value) ? merged(all.get(field), value) : value)
      return all
    },
    new Map(Object.entries(isRecord(target) ? target : {})),
  )
  return Object.fromEntries(fields)
}

/** Applies a JSON patch (RFC 6902) to fields of objects. No reconciler patches an item of a list. */
function operated(
  target: unknown,
  path: readonly string[],
  operation: JsonPatchOperation,
): unknown {
  const [step, ...rest] = path
  const { op, value } = operation
  if (step === undefined) {
    if (op !== 'test') return value
    if (isDeepStrictEqual(target, value)) return target
    throw invalid(operation, 'has another value')
  }
  const isLast = rest.length === 0
  if (!isRecord(target)) throw invalid(operation, 'does not exist')
  if (!(step in target) && !(isLast && op === 'add')) throw invalid(operation, 'does not exist')
  if (isLast && op === 'remove') {
    const { [step]: _, ...others } = target
    return others
  }
  return { ...target, [step]: operated(target[step], rest, operation) }
}

function invalid({ op, path }: JsonPatchOperation, why: string): ApiError {
  return new ApiError('Invalid', `the patch does not fit: ${op} ${path}: ${why}`)
}

function unescaped(step: string): string {
  return step.replaceAll('~1', '/').replaceAll('~0', '~')
}

function isOperations(patch: ObjectPatch): patch is readonly JsonPatchOperation[] {
  return Array.isArray(patch)
}
