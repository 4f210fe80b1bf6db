import { normalizeVersion, type PolicyException } from '../../../api/v1alpha1/v1alpha1.ts'
import { isSameAddress } from '../../policy/policy.ts'
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
