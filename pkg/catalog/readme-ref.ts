/** A key of a ConfigMap in the namespace of the Version. */
export interface ReadmeRef {
  readonly name: string
  readonly key: string
}

/**
 * Told of each module that was looked at anew: where the README of its latest version is now, and where it was before.
 * Both may be the same.
 */
export type ReadmeListener = (
  namespace: string,
  now: ReadmeRef | undefined,
  before: ReadmeRef | undefined,
) => void
