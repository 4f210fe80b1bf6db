import type { ListingMemory } from '../../api/v1alpha1/v1alpha1.ts'

type Entry = NonNullable<ListingMemory['heldBack']>[number]

/** A version of an upstream that the policy of a Depot holds back. */
export interface HeldBackVersion extends Entry {
  /** Host and path of its source, as exceptions name it. */
  readonly address: string
  /** The Depot with the policy, as `namespace/name`. */
  readonly depot: string | undefined
}

/** Says what the policy says about a version, since when, and who may except it. */
export function heldBackText({ version, since, until, message, address, depot }: HeldBackVersion) {
  const of = depot === undefined ? 'of its Depot' : `of Depot ${depot}`
  const except = `name it in spec.policy.exceptions of the Depot: address ${address}, version ${version}`
  const from = since === undefined ? '' : ` since ${since}`
  const age = since === undefined ? '' : `; its age counts from ${since}`
  if (message === undefined) {
    return `held back until ${until}: it is too young for the policy ${of}${age}; to take it earlier, ${except}`
  }
  // An exception does not outweigh a list of what is allowed.
  const remedy = isDenied({ message }) ? except : 'add a rule to spec.policy.allow of the Depot'
  return `refused by the policy ${of}${from}: ${message}; to take it, ${remedy}`
}

export const isDenied = ({ message = '' }: Pick<Entry, 'message'>) => message.startsWith('denied')
