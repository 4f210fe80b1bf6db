import type { Provider } from '../../../api/v1alpha1/v1alpha1.ts'
import type { StoredObject } from '../../../records/store/store.ts'
import type { ProviderUpstream } from '../../sources/sources.ts'
import type { Context } from '../context.ts'
import { failureOf } from '../failure.ts'
import { keyOf } from '../objects.ts'

const lookupMs = 10_000

type Origin = Pick<NonNullable<Provider['status']>, 'upstreamAddress' | 'resolvedSourceRepository'>

/**
 * Finds out where a provider comes from, and where its source repository is: from the registry, which is asked once, and
 * when a person requests a sync. A failure is logged, and the next process asks again: only a link is missing until then.
 *
 * @param upstream undefined: the provider comes from no registry
 * @returns fields of the status
 */
export async function originOf(
  { unsourced, log, dryRun }: Pick<Context, 'unsourced' | 'log' | 'dryRun'>,
  { metadata, spec, status }: StoredObject,
  upstream: ProviderUpstream | undefined,
  { signal, urgent }: { readonly signal: AbortSignal; readonly urgent: boolean },
): Promise<Origin> {
  const before = (status ?? {}) as Origin
  const address = upstream?.address
  const isMoved = before.upstreamAddress !== undefined && before.upstreamAddress !== address
  const known = isMoved ? undefined : before.resolvedSourceRepository
  const origin = { upstreamAddress: address, resolvedSourceRepository: known }
  const isGiven = (spec as Provider['spec']).providerConfig.sourceRepository !== undefined
  const isAsked = known !== undefined || unsourced.get(metadata.uid) === address
  if (upstream === undefined || isGiven || dryRun !== undefined || (isAsked && !urgent)) {
    return origin
  }
  try {
    const deadline = AbortSignal.any([signal, AbortSignal.timeout(lookupMs)])
    const found = await upstream.sourceRepository({ signal: deadline, urgent })
    return { ...origin, resolvedSourceRepository: found ?? '' }
  } catch (error) {
    const failure = failureOf(error)
    if (failure === undefined || signal.aborted) throw error
    const { reason, message } = failure
    log.warn(
      { provider: keyOf(metadata), reason, error: message, remedy },
      'the source repository of a provider was not found',
    )
    unsourced.set(metadata.uid, upstream.address)
    return origin
  }
}

const remedy = 'set sourceRepository in its config, or request a sync to ask again'
