import { isRecord } from '../../api/v1alpha1/v1alpha1.ts'
import type { ObjectKind, OwnerReference, StoredObject } from './types.ts'

/** A parsed object, with any field that a reconciler may read. */
export function wholeObject(kind: ObjectKind, raw: unknown): StoredObject {
  const { metadata, spec, status } = record(raw)
  const given = record(metadata)
  const { deletionTimestamp } = given
  return {
    kind,
    metadata: {
      name: text(given['name']),
      namespace: text(given['namespace']) || 'default',
      uid: text(given['uid']),
      resourceVersion: text(given['resourceVersion']),
      generation: typeof given['generation'] === 'number' ? given['generation'] : 0,
      creationTimestamp: text(given['creationTimestamp']),
      ...(typeof deletionTimestamp === 'string' && { deletionTimestamp }),
      labels: texts(given['labels']),
      annotations: texts(given['annotations']),
      finalizers: items(given['finalizers']).filter((it) => typeof it === 'string'),
      ownerReferences: items(given['ownerReferences']).flatMap(ownerOf),
    },
    spec: spec ?? {},
    ...(status !== undefined && status !== null && { status }),
  }
}

export function record(value: unknown): Readonly<Record<string, unknown>> {
  return isRecord(value) ? value : {}
}

function items(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

function texts(value: unknown): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(record(value)).filter(
      (entry): entry is [string, string] => typeof entry[1] === 'string',
    ),
  )
}

function ownerOf(value: unknown): OwnerReference[] {
  const { apiVersion, kind, name, uid, controller, blockOwnerDeletion } = record(value)
  if (typeof apiVersion !== 'string' || typeof kind !== 'string' || typeof name !== 'string') {
    return []
  }
  const flags = {
    ...(typeof controller === 'boolean' && { controller }),
    ...(typeof blockOwnerDeletion === 'boolean' && { blockOwnerDeletion }),
  }
  return [{ apiVersion, kind, name, uid: text(uid), ...flags }]
}
