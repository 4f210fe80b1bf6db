import type { ArchiveLimits } from '../../archives/archive/archive.ts'
import type { ModuleUpstream, ProviderUpstream } from '../sources/sources.ts'
import { type ImportAddress, nameOf } from './address.ts'
import { folderItems } from './folder-items.ts'
import type { FoundItems, ImportParent } from './item.ts'
import type { ImportOptions } from './types.ts'

const namespacePattern = /^[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?$/

/** Lists the archives at an address, including those that are stored already. */
export async function itemsOf(
  address: ImportAddress,
  options: ImportOptions,
): Promise<Required<Pick<FoundItems, 'items' | 'unusable'>>> {
  const { items: found, skipped, skippedAre, unusable = [] } = await itemsAt(address, options)
  const { onEvent, chosen } = options
  for (const each of skipped) {
    const what = address.from === 'folder' ? each : `${each} of ${nameOf(address)}`
    onEvent({ kind: 'skipped', what, message: skippedAre })
  }
  const items = found.filter(({ version }) => chosen(version))
  if (items.length === 0 && skipped.length === 0 && unusable.length === 0) {
    const message = found.length === 0 ? 'has no versions' : 'has no version that --versions names'
    onEvent({ kind: 'skipped', what: nameOf(address), message })
  }
  const bad = items.find(({ parent }) => !namespacePattern.test(parent.namespace))
  if (bad === undefined) return { items, unusable }
  throw new Error(
    `${JSON.stringify(bad.parent.namespace)} is not a valid name of a namespace: choose another one with --namespace`,
  )
}

async function itemsAt(address: ImportAddress, options: ImportOptions): Promise<FoundItems> {
  const { sources, namespace, signal, secretName, unsigned } = options
  const secretRef = secretName === undefined ? {} : { secretRef: { name: secretName } }
  if (address.from === 'folder') return folderItems(address.path, namespace)
  if (address.from === 'git') return gitItems(address, secretRef, options)
  const [theirs, name, system] = address.path
  const target = namespace ?? theirs
  if (system !== undefined) {
    const url = [address.host, ...address.path].join('/')
    const source = sources.module({ source: { type: 'registry', url, ...secretRef } }, target)
    return moduleItems(source, { kind: 'Module', namespace: target, name, system }, signal)
  }
  const origin = {
    name,
    namespace: theirs,
    upstreamHost: address.host,
    signature: unsigned ? 'IfPresent' : 'Required',
    ...secretRef,
  } as const
  const parent = { kind: 'Provider', namespace: target, name } as const
  return providerItems(sources.provider(origin, target), parent, signal)
}

async function gitItems(
  { url, directory }: Extract<ImportAddress, { from: 'git' }>,
  secretRef: object,
  { sources, namespace, module, tagPrefix, signal }: ImportOptions,
): Promise<FoundItems> {
  if (module === undefined || namespace === undefined) {
    throw new Error('a repository does not name its module: set --namespace, --name and --system')
  }
  const source = {
    type: 'git',
    url,
    ...(directory && { path: directory }),
    ...(tagPrefix && { tagPrefix }),
    ...secretRef,
  } as const
  const parent = { kind: 'Module', namespace, ...module } as const
  return moduleItems(sources.module({ source }, namespace), parent, signal)
}

/** Lists the versions of a module in another registry, or the tags of a repository. */
async function moduleItems(
  source: ModuleUpstream,
  parent: ImportParent,
  asking: AbortSignal,
): Promise<FoundItems> {
  const { versions, skipped } = await source.list({ signal: asking, urgent: true })
  const items = versions.map(({ version }) => ({
    parent,
    version,
    async fetch(signal: AbortSignal, limits: ArchiveLimits) {
      const options = { signal, urgent: true, limits }
      return source.fetch(await source.resolve(version, options), options)
    },
  }))
  return { items, ...skippedNames(skipped) }
}

/** Lists every platform of every version of a provider. Signatures are checked before an archive is fetched. */
async function providerItems(
  upstream: ProviderUpstream,
  parent: ImportParent,
  asking: AbortSignal,
): Promise<FoundItems> {
  const { versions, skipped } = await upstream.list({ signal: asking, urgent: true })
  const items = versions.flatMap(({ version, platforms }) =>
    platforms.map((platform) => ({
      parent,
      version,
      platform,
      async fetch(signal: AbortSignal, limits: ArchiveLimits) {
        const options = { signal, urgent: true, limits }
        const release = await upstream.release(version, platform, options)
        return { ...(await upstream.fetch(release, options)), protocols: release.protocols }
      },
    })),
  )
  return { items, ...skippedNames(skipped) }
}

/** Registries and repositories may list names that are not versions. */
function skippedNames(count: number): Pick<FoundItems, 'skipped' | 'skippedAre'> {
  const skipped = count === 0 ? [] : [count === 1 ? 'a name' : `${count} names`]
  return { skipped, skippedAre: 'not a semantic version, such as 1.2.3' }
}
