import type { HeldWhy } from '../../api/held/held.ts'
import type { ListingMemory } from '../../api/v1alpha1/v1alpha1.ts'
import { printable } from '../../base/errors/errors.ts'

type Entry = NonNullable<ListingMemory['heldBack']>[number]

/** A version of an upstream that the policy of a Depot holds back. */
export interface HeldBackVersion extends Entry {
  readonly why: HeldWhy
  /** Host and path of its source, as exceptions name it. */
  readonly address: string
  /** The Depot with the policy, as `namespace/name`. */
  readonly depot: string | undefined
}

/**
 * Formats one line about a version that is held back: the policy, since when, and who may grant an exception. Tenants write
 * the
 * reasons, and clients print them.
 *
 * @param maxReasonBytes the rest of the line is the remedy and is never cut
 */
export function heldBackText(held: HeldBackVersion, maxReasonBytes = 8192): string {
  const message = printable(held.message ?? '', maxReasonBytes)
  return printable(textOf({ ...held, message }), 16_384)
}

function textOf(held: HeldBackVersion): string {
  const { version, since, until, why, message = '', address, depot, by } = held
  const isHere = by === 'Installation'
  const of = isHere
    ? 'of the whole installation'
    : depot === undefined
      ? 'of its Depot'
      : `of Depot ${depot}`
  const place = isHere
    ? 'ask who runs this registry for an exception in the file of --upstream-policy'
    : 'name it in spec.policy.exceptions of the Depot'
  const except = `${place}: address ${address}, version ${version}`
  const from = since === undefined ? '' : ` since ${since}`
  const again = message === '' ? '' : ` (${message})`
  const age = since === undefined ? '' : `; its age counts from ${since}${again}`
  if (why === 'TooYoung') {
    return `held back until ${until}: it is too young for the policy ${of}${age}; to take it earlier, ${except}`
  }
  if (why === 'Breaking') {
    return `refused by versionPolicy of its module${from}: ${message}; to take it, set spec.acceptBreaking: true on its Version, or ask its publisher for a new major version`
  }
  // Exceptions have no effect on allow lists.
  const list = isHere
    ? 'ask who runs this registry for a rule of allow in the file of --upstream-policy'
    : 'add a rule to spec.policy.allow of the Depot'
  const change = isHere
    ? 'ask who runs this registry to change it'
    : 'change spec.policy.rule of the Depot'
  const unsigned = isHere
    ? 'ask its publisher to sign it, or who runs this registry to change requireSignature in the file of --upstream-policy'
    : 'ask its publisher to sign it, or change requireSignature in the policy of the Depot'
  const remedy = { Denied: except, Unsigned: unsigned, NotAllowed: list, Refused: change }[why]
  return `refused by the policy ${of}${from}: ${message}; to take it, ${remedy}`
}

/** Whether to show it to people. An allow list may exclude hundreds of versions for ever. */
export const isNews = ({ why }: Pick<HeldBackVersion, 'why'>) =>
  why === 'TooYoung' || why === 'Denied'
