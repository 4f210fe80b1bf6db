import { hash } from 'node:crypto'
import { isRecord } from '../../../api/v1alpha1/v1alpha1.ts'
import type { ObjectKind, StoredObject, StoredRef } from '../types.ts'
import { record, wholeObject } from '../whole-object.ts'

/**
 * Adds the fields that an API server would set to an object of a file. The uid is derived from the name, and the generation
 * from the spec, so that both stay the same after a restart.
 */
export function identified(
  kind: ObjectKind,
  value: unknown,
  resourceVersion: string,
): StoredObject {
  const object = wholeObject(kind, value)
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
