import type { ModuleUpstream, ProviderUpstream } from '../sources/sources.ts'
import type { FoundItems, ImportParent } from './item.ts'

/** The versions of a module: of another registry, or the tags of a repository. */
export async function moduleItems(
  source: ModuleUpstream,
  parent: ImportParent,
  signal: AbortSignal,
): Promise<FoundItems> {
  const { versions, skipped } = await source.list({ signal, urgent: true })
  const items = versions.map(({ version }) => ({
    parent,
    version,
    async fetch(during: AbortSignal, maxBytes: number) {
      const resolved = await source.resolve(version, { signal: during, urgent: true })
      const { file, path } = await source.fetch(resolved, {
        signal: during,
        urgent: true,
        maxBytes,
      })
      return { file: file.path, path, remove: () => file.remove() }
    },
  }))
  return { items, ...names(skipped) }
}

/** Every platform of every version of a provider; the signatures are checked before an archive is fetched. */
export async function providerItems(
  upstream: ProviderUpstream,
  parent: ImportParent,
  signal: AbortSignal,
): Promise<FoundItems> {
  const { versions, skipped } = await upstream.list({ signal, urgent: true })
  const items = versions.flatMap(({ version, platforms }) =>
    platforms.map((platform) => ({
      parent,
      version,
      platform,
      async fetch(during: AbortSignal, maxBytes: number) {
        const options = { signal: during, urgent: true }
        const release = await upstream.release(version, platform, options)
        const { file, sha256 } = await upstream.fetch(release, { ...options, maxBytes })
        const { protocols } = release
        return { file: file.path, protocols, sha256, remove: () => file.remove() }
      },
    })),
  )
  return { items, ...names(skipped) }
}

/** Registries have names of versions, and repositories tags, that are none. */
function names(count: number): Pick<FoundItems, 'skipped' | 'skippedAre'> {
  const skipped = count === 0 ? [] : [count === 1 ? 'a name' : `${count} names`]
  return { skipped, skippedAre: 'no semantic version, such as 1.2.3' }
}
