import type { ListingMemory, Version } from '../../../api/v1alpha1/v1alpha1.ts'
import type { StoredObject } from '../../../records/store/store.ts'
import { type Policy, type PolicyOwner, ruleRefusalOf } from '../../policy/policy.ts'
import { FillError, type ProviderRelease } from '../../sources/sources.ts'
import { readyIn } from '../conditions.ts'
import type { Context } from '../context.ts'
import { wholePolicyOf } from '../depot/configs.ts'
import { depotOf } from '../parent/quarantine.ts'
import { letIn } from './let-in.ts'
import type { PlacedVersion, VersionPlan } from './work.ts'

type HeldEntry = Omit<NonNullable<ListingMemory['heldBack']>[number], 'version'>

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

/** The refusal of a Version that breaks callers; undefined if it is stored or does not. */
export function breakRefusalOf({ status }: Pick<StoredObject, 'status'>): HeldEntry | undefined {
  const { conditions, artifact, compared } = (status ?? {}) as NonNullable<Version['status']>
  const ready = readyIn(conditions)
  const isRefused = ready?.status === 'False' && ready.reason === 'BreakingChange'
  if (!isRefused || artifact?.fileName !== undefined || compared === undefined) return undefined
  const { from, reasons = [] } = compared
  const message = `it breaks callers of ${from}: ${reasons.join(' ')}`.replace(/\.$/, '')
  return { since: ready.lastTransitionTime, why: 'Breaking', message }
}

/**
 * The refusal of a Version for its signer; undefined if there is none.
 *
 * @param signatureOwner whose policy asks for signatures, if any does
 */
export function signerRefusalOf(
  { status }: Pick<StoredObject, 'status'>,
  signatureOwner?: PolicyOwner,
): HeldEntry | undefined {
  const { conditions, artifact } = (status ?? {}) as NonNullable<Version['status']>
  const ready = readyIn(conditions)
  if (ready?.status !== 'False') return undefined
  // What is stored stays.
  const isUnsigned = ready.reason === 'Unsigned' && artifact?.fileName === undefined
  if (isUnsigned && signatureOwner !== undefined) {
    return {
      since: ready.lastTransitionTime,
      why: 'Unsigned',
      message: 'it has no signature, which requireSignature demands',
      signedBy: '',
      ...(signatureOwner === 'Installation' && { by: 'Installation' }),
    }
  }
  if (ready.reason !== 'RuleRefused') return undefined
  const [, message = ready.message, whose, by = ''] =
    /^(.*) \(policy of (its Depot|the whole installation); it has (.*)\)$/s.exec(ready.message) ??
    []
  return {
    since: ready.lastTransitionTime,
    why: 'Refused',
    message: `${message} (it has ${by})`,
    signedBy: /^a signature by (.*)$/.exec(by)?.[1] ?? '',
    ...(whose === 'the whole installation' && { by: 'Installation' }),
  }
}
