/** A key of a ConfigMap in the namespace of a Version. */
export interface ReadmeRef {
  /** Name of the Version. */
  readonly version: string
  readonly name: string
  readonly key: string
}

/**
 * Called for each module that was updated, with the current and the previous place of its latest version's README. Both may
 * be the same.
 */
export type ReadmeListener = (
  namespace: string,
  now: ReadmeRef | undefined,
  before: ReadmeRef | undefined,
) => void
