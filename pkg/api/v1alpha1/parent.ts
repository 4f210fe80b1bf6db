/** The kinds of objects that Versions belong to. */
export type ParentKind = 'Module' | 'Provider'

/** What decides whether an object may be the parent of a Version. */
export interface ParentTraits<P> {
  /** The target system of a module; undefined: any. */
  readonly system: (parent: P) => string | undefined
  /** Empty where it is not known. */
  readonly uid: (parent: P) => string
}

/** What a Version says of its parent. */
export interface ParentWanted {
  /** Of the owner; empty where the owner's is not known, undefined where there is no owner. */
  readonly ownerUid: string | undefined
  readonly system: string | undefined
}

/** Whether a module of one system may stand where another is asked for; what says nothing fits everything. */
export function fitsSystem(own: string | undefined, asked: string | undefined): boolean {
  return own === undefined || asked === undefined || own === asked
}

/**
 * The parent of a Version: its owner; without one the object of that `metadata.name`, where its system fits; else the one
 * object that fits by the name in its config. Where none or several fit there is none.
 *
 * @param named the object of the name that the Version refers to, in its namespace
 * @param configured gives the objects whose config has that name
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
