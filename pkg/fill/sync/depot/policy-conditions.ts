/** Conditions of a Depot about its policy. */

import { normalizeVersion, type PolicyException } from '../../../api/v1alpha1/v1alpha1.ts'
import { type AddressRule, isSameAddress } from '../../policy/policy.ts'
import { conditionTrue } from '../conditions.ts'
import type { HeldVersion } from '../parent/held-back.ts'
import type { DepotStatus } from './configs.ts'
import type { KnownSource } from './known.ts'

/** An exception that names nothing that the upstreams of a Depot have. */
export interface UnknownException extends PolicyException {
  readonly why: string
}

/**
 * The exceptions that name nothing. Nobody knows what a source has that was not listed now: such exceptions keep the
 * state that they had.
 */
export function unknownExceptions(
  exceptions: readonly PolicyException[],
  sources: readonly KnownSource[],
  before: DepotStatus['unknownExceptions'] = [],
): UnknownException[] {
  return exceptions.flatMap((exception) => {
    const { address, version } = exception
    const wanted = normalizeVersion(version)
    const named = sources.filter((one) => one.address && isSameAddress(one.address, address))
    if (named.some((one) => one.versions.some((has) => normalizeVersion(has) === wanted))) return []
    const isListed = named.length > 0 && named.every((one) => one.isListed)
    const isElsewhere = named.length === 0 && sources.every((one) => one.address !== undefined)
    const wasUnknown = before.some((one) => one.address === address && one.version === version)
    if (!isListed && !isElsewhere && !wasUnknown) return []
    const why = named.length === 0 ? 'no config has this address' : 'upstream has no such version'
    return [{ ...exception, why }]
  })
}

const maxNamed = 10

/** Absent if nothing is held back. */
export function heldBackCondition(
  held: readonly {
    readonly name: string
    readonly heldBack: readonly HeldVersion[]
    readonly unlisted: number
  }[],
) {
  const all = held.flatMap(({ name, heldBack }) => heldBack.map((one) => ({ name, ...one })))
  if (all.length === 0) return undefined
  const unlisted = held.reduce((sum, one) => sum + one.unlisted, 0)
  const [refused, young] = [true, false].map((isRefused) =>
    all
      .filter(({ why }) => (why !== 'TooYoung') === isRefused)
      .toSorted((a, b) => order(a).localeCompare(order(b)))
      .map(({ name, version, until, message, address }) =>
        isRefused
          ? `${name} ${version} (${address}), ${message}`
          : `${name} ${version} (${address}) until ${until}${message === undefined ? '' : ` (${message})`}`,
      ),
  )
  const parts = [
    listed('too young for the policy', young, '; each is stored by itself then'),
    listed('refused by the policy', refused, ''),
    unlisted > 0 ? `${unlisted} more, which do not fit into the status` : '',
    remedyFor(all),
  ]
  return conditionTrue('HeldBack', parts.filter((part) => part !== '').join('; '))
}

function remedyFor(all: readonly Pick<HeldVersion, 'by'>[]): string {
  const isHere = all.some(({ by }) => by === 'Installation')
  const also = isHere
    ? ', and what the policy of the whole installation holds in the file of --upstream-policy'
    : ''
  return `to store a young or denied one at once, name it in spec.policy.exceptions with address, version, reason and by${also}`
}

const order = ({ until = '', name }: Pick<HeldVersion, 'until'> & { readonly name: string }) =>
  `${until} ${name}`

function listed(what: string, all: readonly string[] = [], end = ''): string {
  if (all.length === 0) return ''
  const more = all.length > maxNamed ? `, and ${all.length - maxNamed} more` : ''
  return `${what} (${all.length}): ${all.slice(0, maxNamed).join(', ')}${more}${end}`
}

/** Says which exceptions name nothing that the upstreams of a Depot have. */
export function unknownCondition(unknown: readonly UnknownException[]) {
  if (unknown.length === 0) return undefined
  const named = unknown.map(
    ({ address, version, by, why }) => `${version} of ${address} (by ${by}; ${why})`,
  )
  const message = `${listed('exceptions without effect', named)}: look for a typo, or remove them`
  return conditionTrue('ExceptionUnknown', message)
}

/** Says that rules of a policy have ended. */
export function expiredCondition(expired: readonly AddressRule[]) {
  if (expired.length === 0) return undefined
  const named = expired.map(({ address, until }) => `${address} (until ${until})`)
  const message = `${listed('rules of the policy have ended', named)}: remove them, or give them a later until; an allow list without current entries allows nothing`
  return conditionTrue('PolicyExpired', message)
}
