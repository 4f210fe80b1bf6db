import type { Provider } from '../../../api/v1alpha1/v1alpha1.ts'
import type { StoredObject } from '../../../records/store/store.ts'
import type { ProviderUpstream } from '../../sources/sources.ts'
import { type Context, keyOf } from '../context.ts'
import { failureOf } from '../failure.ts'

const lookupMs = 10_000

/**
 * Finds the source repository of a provider in the registry that it comes from. The registry is asked when the repository is
 * unknown, after a change of the spec, and when a person requests a sync. A failure is logged: only a link is missing then.
 *
 * @param upstream undefined: the provider comes from no registry
 * @returns the repository for the status
 */
export async function sourceRepositoryOf(
  { unsourced, log, dryRun }: Pick<Context, 'unsourced' | 'log' | 'dryRun'>,
  { metadata, spec, status }: StoredObject,
  upstream: ProviderUpstream | undefined,
  { signal, urgent }: { readonly signal: AbortSignal; readonly urgent: boolean },
): Promise<string | undefined> {
  const { generation, uid } = metadata
  const { resolvedSourceRepository: known, observedGeneration } = (status ?? {}) as NonNullable<
    Provider['status']
  >
  const isGiven = (spec as Provider['spec']).providerConfig.sourceRepository !== undefined
  const isKnown = known !== undefined && observedGeneration === generation
  const isAsked = isKnown || unsourced.get(uid) === generation
  if (upstream === undefined || isGiven || dryRun !== undefined || (isAsked && !urgent)) {
    return known
  }
  let found: string | undefined
  try {
    const deadline = AbortSignal.any([signal, AbortSignal.timeout(lookupMs)])
    found = await upstream.sourceRepository({ signal: deadline, urgent })
  } catch (error) {
    const failure = failureOf(error)
    if (failure === undefined || signal.aborted) throw error
    const { reason, message } = failure
    log.warn(
      { provider: keyOf(metadata), reason, error: message, remedy },
      'the source repository of a provider was not found',
    )
  }
  if (found === undefined) unsourced.set(uid, generation)
  return found ?? known
}

const remedy = 'set sourceRepository in its config, or request a sync to ask again'
