import type { AppliedObject } from '../types.ts'
import { record } from '../whole-object.ts'

type Fields = Readonly<Record<string, unknown>>

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
