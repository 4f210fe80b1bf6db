/** A key of a ConfigMap in the namespace of a Version. */
export interface ReadmeRef {
  /** Name of the Version. */
  readonly version: string
  readonly name: string
  readonly key: string
}

/**
 * Called with each module that was looked at again: where the README of its latest version is now, and where it was before.
 * Both may be the same.
 */
export type ReadmeListener = (
  namespace: string,
  now: ReadmeRef | undefined,
  before: ReadmeRef | undefined,
) => void
