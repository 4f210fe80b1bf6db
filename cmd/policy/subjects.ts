import type { ModuleConfig, ProviderConfig } from '../../pkg/api/v1alpha1/v1alpha1.ts'
import { attempt } from '../../pkg/base/errors/errors.ts'
import { isSameAddress, type RuleFacts } from '../../pkg/fill/policy/policy.ts'
import { modulePlace, providerAddressOf } from '../../pkg/fill/sources/sources.ts'
import { addressOf, itemsOf } from '../../pkg/fill/sync/sync.ts'
import type { StoredObject } from '../../pkg/records/store/store.ts'

/** The versions that an address can name, in the form that rules read. */
export interface Subjects {
  /** Several if modules of a Depot share the address, or if no config names it. */
  readonly all: readonly RuleFacts[]
  /** Whether configs name it. Otherwise the system is a guess. */
  readonly isKnown: boolean
}

/** Finds an address in the configs of a Depot. Without a Depot, it can be a module or a provider. */
export function subjectsOf(depot: Pick<StoredObject, 'spec'>, address: string): Subjects {
  const upstreamHosts = ['registry.opentofu.org', address.split('/')[0]?.toLowerCase() ?? '']
  const named = itemsOf(depot, []).flatMap(({ kind, config }) => {
    const identity = attempt(() => identityOf(kind, config, upstreamHosts))
    if (identity === undefined || !isSameAddress(addressOf(identity), address)) return []
    const { provider: system } = config as Partial<ModuleConfig>
    return [{ kind, system, isRegistry: identity.startsWith('registry:') }]
  })
  if (named.length > 0) return { all: named, isKnown: true }
  const [, ...path] = address.split('/')
  const guessed: RuleFacts[] =
    path.length === 3
      ? [{ kind: 'Module', system: path[2], isRegistry: true }, { kind: 'Module' }]
      : [{ kind: 'Module' }, { kind: 'Provider' }]
  return { all: guessed, isKnown: false }
}

/** @throws FillError InvalidSpec */
function identityOf(
  kind: RuleFacts['kind'],
  config: Partial<ModuleConfig & ProviderConfig>,
  upstreamHosts: readonly string[],
): string {
  if (kind === 'Provider') {
    const { host, namespace, providerType } = providerAddressOf(config, upstreamHosts)
    return `provider:${host}/${namespace}/${providerType}`
  }
  const place = modulePlace(config, { upstreamHosts, githubApiUrl: 'https://api.github.com' })
  if (place.type === 'registry') return `registry:${place.host}/${place.address}`
  if (place.type !== 'github') return `${place.type}:${place.url}`
  return `github:${new URL(place.apiUrl).host}/${place.owner}/${place.repository}`
}
