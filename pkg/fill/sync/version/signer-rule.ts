import type { Version } from '../../../api/v1alpha1/v1alpha1.ts'
import { type Policy, ruleRefusalOf } from '../../policy/policy.ts'
import { FillError, type ProviderRelease } from '../../sources/sources.ts'
import type { Context } from '../context.ts'
import { wholePolicyOf } from '../depot/configs.ts'
import { depotOf } from '../parent/quarantine.ts'
import { letIn } from '../parent/seen.ts'
import type { PlacedVersion, VersionPlan } from './work.ts'

/** The parts of the policy that read who signed a release. */
function signerLayers({ layers }: Pick<Policy, 'layers'> = { layers: [] }): Policy['layers'] {
  return layers
    .map((layer) => ({ ...layer, rules: layer.rules.filter(({ needsSigner }) => needsSigner) }))
    .filter(({ rules }) => rules.length > 0)
}

/** Changes with the rules that may have refused a release. */
export function ruleBasis(
  context: Context,
  { parent, type }: Pick<VersionPlan, 'parent' | 'type'>,
): string {
  const layers =
    type === 'Provider' ? signerLayers(wholePolicyOf(context, depotOf(context, parent)).policy) : []
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
  if (status?.artifact?.fileName !== undefined) return
  const { policy, seen } = letIn(context, parent, spec.version)
  const layers = signerLayers(policy)
  if (layers.length === 0) return
  const { sinceMs } = seen ?? {}
  const { version } = spec
  const signedBy = signer?.fingerprint ?? ''
  const candidate = { address, version, kind: 'Provider', sinceMs, signedBy } as const
  const refusal = ruleRefusalOf(candidate, { layers }, context.clock())
  if (refusal === undefined) return
  const by = signer === undefined ? 'no signature' : `a signature by ${signer.fingerprint}`
  const whose = refusal.owner === 'Installation' ? 'the whole installation' : 'its Depot'
  throw new FillError('RuleRefused', `${refusal.message} (policy of ${whose}; it has ${by})`)
}
