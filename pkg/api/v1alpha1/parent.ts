/** The kinds of objects that Versions belong to. */
export type ParentKind = 'Module' | 'Provider'

/** The traits that decide whether an object may be the parent of a Version. */
export interface ParentTraits<P> {
  /** The target system of a module; undefined: any. */
  readonly system: (parent: P) => string | undefined
  /** Empty if unknown. */
  readonly uid: (parent: P) => string
}

/** The parent that a Version asks for. */
export interface ParentWanted {
  /** Uid of the owner; empty if the owner's is unknown, undefined if there is no owner. */
  readonly ownerUid: string | undefined
  readonly system: string | undefined
}

/** Whether a module of one system matches a requested system. Undefined matches everything. */
export function fitsSystem(own: string | undefined, asked: string | undefined): boolean {
  return own === undefined || asked === undefined || own === asked
}

/**
 * The parent of a Version: 1. its owner; 2. without an owner, the object with that `metadata.name` and a matching system;
 * 3. the only matching object whose config has that name. Otherwise there is none.
 *
 * @param named the object of the name that the Version refers to, in its namespace
 * @param configured returns the objects whose config has that name
 */
export function parentOf<P>(
  { ownerUid, system }: ParentWanted,
  named: P | undefined,
  configured: () => Iterable<P>,
  traits: ParentTraits<P>,
): P | undefined {
  if (ownerUid !== undefined) {
    const uid = named === undefined ? '' : traits.uid(named)
    return ownerUid === '' || uid === '' || ownerUid === uid ? named : undefined
  }
  const fits = (parent: P): boolean => fitsSystem(traits.system(parent), system)
  if (named !== undefined && fits(named)) return named
  let only: P | undefined
  for (const parent of configured()) {
    if (!fits(parent)) continue
    if (only !== undefined) return undefined
    only = parent
  }
  return only
}
