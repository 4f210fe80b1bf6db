import { isRecord } from '../../api/v1alpha1/v1alpha1.ts'

export type Fields = Readonly<Record<string, unknown>>

/** An object of JSON or YAML; undefined for everything else, lists included. */
export function fieldsOf(value: unknown): Fields | undefined {
  return isRecord(value) ? value : undefined
}
