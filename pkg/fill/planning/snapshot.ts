import type { ObjectKind, Objects, StoredObject, StoredRef } from '../../records/store/store.ts'

/** In the order of a report. */
export const plannedKinds = [
  'Depot',
  'Module',
  'Provider',
  'Version',
] as const satisfies readonly ObjectKind[]

export function idOf({ kind, namespace, name }: StoredRef): string {
  return `${kind} ${namespace}/${name}`
}

/** All objects as they are now. */
export function snapshotOf({ list }: Pick<Objects, 'list'>): ReadonlyMap<string, StoredObject> {
  return new Map(
    plannedKinds
      .flatMap((kind) => list(kind))
      .map((object) => [idOf({ kind: object.kind, ...object.metadata }), object]),
  )
}
