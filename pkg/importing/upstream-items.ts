import type { ModuleSource, ProviderUpstream } from '../sources/sources.ts'
import type { ImportItem, ImportParent } from './item.ts'

/** The versions of a module: of another registry, or the tags of a repository. */
export async function moduleItems(
  source: ModuleSource,
  parent: ImportParent,
  chosen: (version: string) => boolean,
  signal: AbortSignal,
): Promise<ImportItem[]> {
  const { versions } = await source.list({ signal, urgent: true })
  return versions
    .map(({ version }) => version.trim().replace(/^v/i, ''))
    .filter(chosen)
    .map((version) => ({
      parent,
      version,
      async fetch(during) {
        const resolved = await source.resolve(version, { signal: during, urgent: true })
        const { file, path } = await source.fetch(resolved, { signal: during, urgent: true })
        return { file: file.path, path, remove: () => file.remove() }
      },
    }))
}

/** Every platform of every version of a provider; the signatures are checked before an archive is fetched. */
export async function providerItems(
  upstream: ProviderUpstream,
  parent: ImportParent,
  chosen: (version: string) => boolean,
  signal: AbortSignal,
): Promise<ImportItem[]> {
  const { versions } = await upstream.list({ signal, urgent: true })
  return versions
    .filter(({ version }) => chosen(version))
    .flatMap(({ version, platforms }) =>
      platforms.map((platform) => ({
        parent,
        version,
        platform,
        async fetch(during: AbortSignal) {
          const options = { signal: during, urgent: true }
          const release = await upstream.release(version, platform, options)
          const { file, sha256 } = await upstream.fetch(release, options)
          const { protocols } = release
          return { file: file.path, protocols, sha256, remove: () => file.remove() }
        },
      })),
    )
}
