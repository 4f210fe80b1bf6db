import type { AppliedObject } from '../types.ts'
import { record } from '../whole-object.ts'

type Fields = Readonly<Record<string, unknown>>

/** Fields of a spec that people write into what a controller made. */
const fieldsOfPeople = ['forceSync', 'lifecycle', 'retain', 'suspend', 'upload']

/**
 * What an object becomes when it is applied, where no record says who manages which field: all of the spec is the
 * controller's, but for the fields that people write; labels and annotations are added to what is there.
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
