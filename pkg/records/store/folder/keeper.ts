import { isRecord } from '../../../api/v1alpha1/v1alpha1.ts'
import type { Keeper } from '../../folder/folder.ts'
import { record } from '../whole-object.ts'

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
  const texts = (field: string) =>
    Object.entries(record(value[field])).filter(
      (entry): entry is [string, string] => typeof entry[1] === 'string',
    )
  const values = {
    ...Object.fromEntries(texts('data').map(([key, it]) => [key, Buffer.from(it, 'base64')])),
    ...Object.fromEntries(texts('stringData').map(([key, it]) => [key, Buffer.from(it)])),
  }
  return { namespace, name, values }
}
