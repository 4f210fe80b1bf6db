import type { z } from 'zod'
import type { Kind, kinds } from './kinds.ts'

/** A checked object of one of the kinds, with only the fields that Depot reads. */
export type Resource = { [K in Kind]: z.infer<(typeof kinds)[K]['schema']> }[Kind]
export type ResourceOf<K extends Kind> = Extract<Resource, { kind: K }>

/** Identifies an object. The namespace of a Namespace is empty. */
export interface ObjectKey {
  readonly kind: Kind
  readonly namespace: string
  readonly name: string
}

/** A change of one object. */
export type Change =
  | { readonly type: 'upsert'; readonly resource: Resource }
  | ({ readonly type: 'delete' } & ObjectKey)

/** A source of resources writes its changes here. Every call takes effect at once. */
export interface ResourceSink {
  apply(change: Change): void
  /**
   * Begins to replace every object of a kind by those of a fresh list. Existing objects stay and are served until they are added
   * again or `commit` removes them. An abandoned replacement needs no clean-up. An object that is added replaces what is known,
   * whatever its resourceVersion: a source that went back in time uses numbers again.
   */
  beginReplace(kind: Kind): Replacement
}

/** A sink whose content can be compared with that of its source. */
export interface ComparableSink extends ResourceSink {
  /** Tells whether an object is known in this state; undefined: it is not known at all. */
  holds(
    key: ObjectKey,
    state: { readonly resourceVersion: string; readonly uid: string },
  ): boolean | undefined
  /** Number of objects of a kind. */
  count(kind: Kind): number
}

/** A fresh list of one kind that is being written into a sink. */
export interface Replacement {
  add(resource: Resource): void
  /** The list has an invalid version of the object: the known one stays. */
  keep(key: ObjectKey): void
  /** Removes objects that are not in the list. Until it resolves, no other change of this kind may be written. */
  commit(): void | Promise<void>
}

/** A mistake in an object: the path, such as `spec.storageConfig.s3.bucket`, and what is expected there. */
export interface FieldIssue {
  readonly path: readonly (string | number)[]
  readonly message: string
}

export type ParsedResource<R> =
  | { readonly ok: true; readonly resource: R }
  | { readonly ok: false; readonly issues: readonly FieldIssue[] }
