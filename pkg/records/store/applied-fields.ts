import { isRecord } from '../../api/v1alpha1/v1alpha1.ts'
import { Bounded } from '../../base/memory/memory.ts'
import type { ObservedObject } from '../kube/kube.ts'
import type { AppliedObject, StoredObject } from './types.ts'
import { record } from './whole-object.ts'

/** Fields in the form of `managedFields`: `{"f:spec": {"f:versions": {}}}`. */
export type FieldSet = Readonly<Record<string, unknown>>

const maxKnown = 10_000

/** Reads which fields managers have applied. Many objects have equal sets, so equal sets are shared. */
export class AppliedFields {
  readonly #known = new Bounded<FieldSet>({ maxEntries: maxKnown })

  /** The fields of an object that a field manager has applied; undefined if there are none. */
  by(manager: string, raw: ObservedObject): FieldSet | undefined {
    const { managedFields } = record(record(raw)['metadata'])
    if (!Array.isArray(managedFields)) return undefined
    const entries: readonly unknown[] = managedFields
    const entry = entries
      .filter(isRecord)
      .find((it) => it['manager'] === manager && it['operation'] === 'Apply')
    if (entry === undefined) return undefined
    const { 'f:metadata': metadata, 'f:spec': spec } = record(entry['fieldsV1'])
    const { 'f:labels': labels, 'f:annotations': annotations } = record(metadata)
    const fields = {
      'f:metadata': { 'f:labels': labels, 'f:annotations': annotations },
      'f:spec': spec,
    }
    return this.#known.getOrMake(JSON.stringify(fields), () => fields)
  }
}

/**
 * Whether applying an object would change nothing: the object has every field, and this field manager has applied no field
 * that it would now remove.
 */
export function isApplied(
  wanted: AppliedObject,
  stored: StoredObject,
  applied: FieldSet | undefined,
): boolean {
  return applied !== undefined && isPartOf(wanted, stored) && hasFields(wanted, applied)
}

/** Lists are compared as a whole, as API servers do unless a definition says otherwise. */
function isPartOf(wanted: unknown, stored: unknown): boolean {
  if (wanted === undefined) return true
  if (Array.isArray(wanted)) {
    return (
      Array.isArray(stored) &&
      wanted.length === stored.length &&
      wanted.every((item, index) => isPartOf(item, stored[index]) && isPartOf(stored[index], item))
    )
  }
  if (!isRecord(wanted)) return wanted === stored
  return isRecord(stored) && Object.keys(wanted).every((key) => isPartOf(wanted[key], stored[key]))
}

function hasFields(wanted: unknown, fields: FieldSet): boolean {
  return Object.entries(fields).every(([field, below]) => {
    if (!field.startsWith('f:') || below === undefined) return true
    const value = record(wanted)[field.slice(2)]
    return value !== undefined && hasFields(value, record(below))
  })
}
