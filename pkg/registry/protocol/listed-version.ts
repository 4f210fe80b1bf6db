import type { ListedVersion } from '../../api/registry/registry.ts'
import type { Catalog, Parent } from '../catalog/catalog.ts'

/**
 * The fields that lists and details have of a version.
 *
 * @param address the names that its id consists of
 */
export function listedVersion(
  { downloads }: Catalog,
  parent: Parent,
  address: readonly [namespace: string, name: string, system?: string],
  version: string,
): ListedVersion {
  const rows = parent.rowsOf(version).filter((row) => row.downloadable)
  const times = rows.map((row) => row.publishedAt).filter((seconds) => seconds > 0)
  const [namespace, name] = address
  return {
    id: [...address, version].join('/'),
    owner: '',
    namespace,
    name,
    version,
    description: '',
    source: sourceOf(parent),
    tag: rows[0]?.tag,
    published_at: times.length > 0 ? new Date(Math.min(...times) * 1000).toISOString() : undefined,
    downloads: downloads.of(parent.kind, parent.namespace, parent.name)?.count ?? 0,
  }
}

/** The URL of the sources of a module or provider, if it can be opened in a browser. */
export function sourceOf({ resource }: Parent): string | undefined {
  const url = resource?.repoUrl
  return url !== undefined && /^https?:\/\//i.test(url) && URL.canParse(url) ? url : undefined
}
