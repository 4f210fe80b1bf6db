import { normalizeVersion, type Version } from '../../../api/v1alpha1/v1alpha1.ts'
import { attempt } from '../../../base/errors/errors.ts'
import type { StoredObject } from '../../../records/store/store.ts'
import { type Policy, ruleRefusalOf } from '../../policy/policy.ts'
import { FillError, type ProviderRelease } from '../../sources/sources.ts'
import type { Context } from '../context.ts'
import { policyOf } from '../depot/configs.ts'
import { listingOf, seenIn } from '../parent/held-back.ts'
import { depotOf } from '../parent/quarantine.ts'
import type { PlacedVersion, VersionPlan } from './plan.ts'

/** The parts of the policy that read who signed a release. */
function signerLayers(context: Context, parent: StoredObject | undefined): Policy['layers'] {
  const depot = depotOf(context, parent)
  const { layers = [] } = (depot && attempt(() => policyOf(context, depot))) ?? {}
  return layers
    .map((layer) => ({ ...layer, rules: layer.rules.filter(({ needsSigner }) => needsSigner) }))
    .filter(({ rules }) => rules.length > 0)
}

/** Changes with the rules that may have refused a release. */
export function ruleBasis(context: Context, { parent, type }: VersionPlan): string {
  const layers = type === 'Provider' ? signerLayers(context, parent) : []
  return layers.length === 0 ? '' : JSON.stringify(layers.map(({ rules }) => rules))
}

/**
 * Requires that the rules of the policy let in a release by its signer, before its archive is fetched. The Depot decided all
 * other rules when it listed the version. What is stored stays.
 *
 * @throws FillError RuleRefused
 */
export function requireSigner(
  context: Context,
  { spec, status }: Version,
  { parent, address }: Pick<PlacedVersion, 'parent'> & { readonly address: string },
  { signer }: Pick<ProviderRelease, 'signer'>,
): void {
  const layers = signerLayers(context, parent)
  if (layers.length === 0 || status?.artifact?.fileName !== undefined) return
  const nowMs = context.clock()
  const listing = listingOf(parent)
  const { sinceMs } = (listing && seenIn(listing, nowMs)?.get(normalizeVersion(spec.version))) ?? {}
  const facts = { kind: 'Provider', sinceMs, signedBy: signer?.fingerprint ?? '' } as const
  const refusal = ruleRefusalOf(address, spec.version, { layers }, nowMs, facts)
  if (refusal === undefined) return
  const by = signer === undefined ? 'no signature' : `a signature by ${signer.fingerprint}`
  const whose = refusal.owner === 'Installation' ? 'the whole installation' : 'its Depot'
  throw new FillError('RuleRefused', `${refusal.message} (policy of ${whose}; it has ${by})`)
}
