import type {
  Depot,
  ParentKind,
  ProviderConfig,
  UpstreamPolicy,
} from '../../../api/v1alpha1/v1alpha1.ts'
import { attempt, messageOf, printable } from '../../../base/errors/errors.ts'
import type { StoredObject } from '../../../records/store/store.ts'
import {
  type InstallationPolicy,
  type Policy,
  type PolicyOwner,
  strictest,
} from '../../policy/policy.ts'
import {
  FillError,
  type ModuleOrigin,
  type ModuleUpstream,
  type ProviderUpstream,
  type Sources,
} from '../../sources/sources.ts'
import { objectName } from '../objects.ts'
import { configOf } from '../parent/versions.ts'

export type DepotStatus = NonNullable<Depot['status']>

type RawConfig = Readonly<Record<string, unknown>>

/** One module or provider of a Depot, merged with the global config. */
export interface DepotItem {
  readonly kind: ParentKind
  /** Name of the config. */
  readonly name: string
  /** Name of the resource. */
  readonly objectName: string
  /** The config as written, without defaults. */
  readonly config: RawConfig
  /** Whether another config makes the same resource: the one that made it earlier, otherwise the first. */
  readonly isTwin: boolean
  /** Why the policy cannot let it in. */
  readonly problem?: string | undefined
}

interface RawSpec {
  readonly global?: {
    readonly githubClientConfig?: unknown
    readonly moduleConfig?: RawConfig
    readonly policy?: UpstreamPolicy
    readonly storageConfig?: unknown
  }
  readonly moduleConfigs?: readonly RawConfig[]
  readonly providerConfigs?: readonly RawConfig[]
  readonly policy?: UpstreamPolicy
}

type Installation = Pick<InstallationPolicy, 'current'>

/** The policies that the spec of a Depot has. */
export function policiesOf(spec: unknown): UpstreamPolicy[] {
  const { policy, global } = spec as RawSpec
  return [policy, global?.policy].filter((one) => one !== undefined)
}

/** Also that of the installation, which says the same about keys and signatures. */
function allPolicies(spec: unknown, installation: Installation | undefined): UpstreamPolicy[] {
  return [...policiesOf(spec), ...(installation?.current ? [installation.current] : [])]
}

/** The policy for versions of upstreams; undefined if everything may come in. @throws FillError InvalidSpec */
export function policyOf(
  { installation }: { readonly installation?: Installation | undefined },
  { spec }: Pick<StoredObject, 'spec'>,
): Policy | undefined {
  try {
    return strictest(policiesOf(spec), installation?.current)
  } catch (error) {
    throw new FillError('InvalidSpec', `a rule of the policy cannot be read: ${messageOf(error)}`)
  }
}

interface DepotPolicy {
  /** Undefined if everything may come in. */
  readonly policy: Policy | undefined
  /** Whether the Depot's own rules are part of it: there is a Depot, and no mistake in them. */
  readonly isDepotRead: boolean
}

/**
 * The policy for a resource of a Depot or of none. A Depot cannot disable that of the installation, not even by a mistake in
 * a rule. Rules are compiled once for all Versions.
 *
 * @param part of each policy
 */
function compiled(part: (policy: UpstreamPolicy) => UpstreamPolicy) {
  const made = new WeakMap<object, DepotPolicy & { readonly whole: UpstreamPolicy | undefined }>()
  return (
    { installation }: { readonly installation?: Installation | undefined },
    depot: Pick<StoredObject, 'spec'> | undefined,
  ): DepotPolicy => {
    const whole = installation?.current
    const key = (depot?.spec as object | undefined) ?? whole
    if (key === undefined) return { policy: undefined, isDepotRead: false }
    const known = made.get(key)
    if (known !== undefined && known.whole === whole) return known
    const strict = (own: UpstreamPolicy[]) => ({
      policy: strictest(own.map(part), whole && part(whole)),
    })
    const withDepot = depot && attempt(() => strict(policiesOf(depot.spec)))
    const result = { ...(withDepot ?? strict([])), isDepotRead: withDepot !== undefined, whole }
    made.set(key, result)
    return result
  }
}

export const wholePolicyOf = compiled((policy) => policy)

/** The parts of the policy that read who signed a release. */
export function signerLayers(
  { layers }: Pick<Policy, 'layers'> = { layers: [] },
): Policy['layers'] {
  return layers
    .map((layer) => ({ ...layer, rules: layer.rules.filter(({ needsSigner }) => needsSigner) }))
    .filter(({ rules }) => rules.length > 0)
}

/** Changes with the rules that may have refused a release. */
export function ruleBasis(
  context: { readonly installation?: Installation | undefined },
  depot: Pick<StoredObject, 'spec'> | undefined,
  kind: ParentKind,
): string {
  const layers = kind === 'Provider' ? signerLayers(wholePolicyOf(context, depot).policy) : []
  return layers.length === 0 ? '' : JSON.stringify(layers.map(({ rules }) => rules))
}

/** Decides which versions are denied. */
export const denyingPolicyOf = compiled(({ deny, exceptions }) => ({ deny, exceptions }))

/** The configs of a Depot, each merged with the global config. */
export function mergedConfigs(
  depot: Pick<StoredObject, 'spec'>,
  installation?: Installation,
): { readonly kind: ParentKind; readonly config: RawConfig }[] {
  const { global = {}, moduleConfigs = [], providerConfigs = [] } = depot.spec as RawSpec
  const { githubClientConfig, storageConfig } = global
  const shared = {
    ...(githubClientConfig !== undefined && { githubClientConfig }),
    ...(storageConfig !== undefined && { storageConfig }),
  }
  const { name: _, ...ofModules } = global.moduleConfig ?? {}
  const policies = allPolicies(depot.spec, installation)
  const merged = (kind: ParentKind, config: RawConfig) => ({ kind, config })
  return [
    ...moduleConfigs.map((config) => merged('Module', { ...shared, ...ofModules, ...config })),
    ...providerConfigs.map((config) =>
      merged('Provider', { ...shared, ...config, ...signingOf(config, policies) }),
    ),
  ]
}

/** The keys and signatures that policies ask of a provider, whatever its config says. */
function signingOf(config: RawConfig, policies: readonly UpstreamPolicy[]): RawConfig {
  const isRequired = policies.some(asksForSignature)
  const keys = trustedBy(policies)
  const hasOwn = Array.isArray(config['trustedKeys']) && config['trustedKeys'].length > 0
  return {
    ...(isRequired && { signature: 'Required' }),
    ...(keys !== undefined && !hasOwn && { trustedKeys: keys }),
  }
}

const asksForSignature = ({ requireSignature }: UpstreamPolicy) => requireSignature === true

/** The owner of a policy that asks for signatures of the providers of a Depot; undefined if none does. */
export function signatureOwnerOf(
  { installation }: { readonly installation?: Installation | undefined },
  { spec }: Pick<StoredObject, 'spec'>,
): PolicyOwner | undefined {
  const { current } = installation ?? {}
  if (current !== undefined && asksForSignature(current)) return 'Installation'
  return policiesOf(spec).some(asksForSignature) ? 'Depot' : undefined
}

/** The keys that every policy trusts; undefined if none names any. */
function trustedBy(policies: readonly UpstreamPolicy[]): readonly string[] | undefined {
  const lists = policies.flatMap(({ trustedKeys }) => (trustedKeys ? [trustedKeys] : []))
  return lists[0]?.filter((key) => lists.every((list) => hasKey(list, key)))
}

const hasKey = (keys: readonly string[], key: string) => keys.map(spelled).includes(spelled(key))

/** A fingerprint is the same with spaces, colons, 0x and small letters. */
const spelled = (key: string) =>
  key.includes('-----BEGIN')
    ? key.trim()
    : key.replaceAll(/[\s:]/g, '').replace(/^0x/i, '').toUpperCase()

/** Says why no key could sign a provider; undefined if one can. */
function keyProblem(kind: ParentKind, config: RawConfig, policies: readonly UpstreamPolicy[]) {
  const keys = kind === 'Provider' ? trustedBy(policies) : undefined
  if (keys === undefined) return undefined
  if (keys.length === 0) return 'the policies have no trustedKeys in common: name the same keys'
  const { trustedKeys = [] } = config as { trustedKeys?: readonly string[] }
  const other = trustedKeys.find((key) => !hasKey(keys, key))
  return (
    other &&
    `its trustedKeys have ${printable(other, 60)}, which those of the policy do not have: remove it, or add it to the policy`
  )
}

/**
 * The items of a Depot with the names of their resources: the name of the config, followed by its system if the Depot has a
 * module for several systems. An existing resource keeps its name.
 *
 * @param managed resources with the label of the Depot
 */
export function itemsOf(
  depot: Pick<StoredObject, 'spec'>,
  managed: readonly StoredObject[],
  installation?: Installation,
): DepotItem[] {
  const configs = mergedConfigs(depot, installation).map(({ kind, config }) => {
    const { name, provider } = config as { name?: string; provider?: string }
    return { kind, config, name: name ?? '', system: kind === 'Module' ? (provider ?? '') : '' }
  })
  const counts = new Map<string, number>()
  for (const { kind, name } of configs) {
    const key = `${kind} ${objectName(name)}`
    counts.set(key, (counts.get(key) ?? 0) + 1)
  }
  const known = new Map(managed.map((object) => [addressOf(object), object.metadata.name]))
  const knownOf = ({ kind, name, system }: (typeof configs)[number]) =>
    known.get(`${kind} ${name} ${system}`)
  const had = new Set(configs.map((each) => `${each.kind} ${knownOf(each) ?? ''}`))
  const taken = new Set<string>()
  const policies = allPolicies(depot.spec, installation)
  return configs.map((each) => {
    const { kind, config, name, system } = each
    const isShared = (counts.get(`${kind} ${objectName(name)}`) ?? 0) > 1
    const fresh = isShared && system !== '' ? objectName(name, system) : objectName(name)
    const own = knownOf(each)
    const resource = `${kind} ${own ?? fresh}`
    const isTwin = taken.has(resource) || (own === undefined && had.has(resource))
    if (!isTwin) taken.add(resource)
    const problem = keyProblem(kind, config, policies)
    return { kind, name, config, objectName: own ?? fresh, isTwin, problem }
  })
}

/** Says why a config cannot make a resource, whatever its source is; undefined if it can. */
export function itemProblem(item: DepotItem): string | undefined {
  const { kind, name, isTwin, problem } = item
  if (name === '') return 'a config has no name: each config needs one'
  if (!isTwin) return problem
  return `another config of this Depot makes ${kind} ${item.objectName} already: merge both, or rename one`
}

function addressOf(object: StoredObject): string {
  const { name = object.metadata.name, ...config } = configOf(object) ?? {}
  const system = 'provider' in config ? config.provider : undefined
  return `${object.kind} ${name} ${system ?? ''}`
}

/** The upstream of a config. @throws FillError InvalidSpec */
export function upstreamFor(
  { sources }: { readonly sources: Sources },
  namespace: string,
  kind: StoredObject['kind'],
  config: unknown,
): ModuleUpstream | ProviderUpstream {
  return kind === 'Module'
    ? sources.module(config as ModuleOrigin, namespace)
    : sources.provider(config as ProviderConfig, namespace)
}
