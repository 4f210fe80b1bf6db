import { type Lifecycle, lifecycleWords } from '../../api/lifecycle/lifecycle.ts'
import type { Deprecation, ListedVersion } from '../../api/registry/registry.ts'
import { printable } from '../../base/errors/errors.ts'
import type { Catalog, Parent, VersionRow } from '../catalog/catalog.ts'

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

/** CLIs print each line on a screen. */
const maxBytes = 400
const maxWarnings = 5

/** Why people should take another version of a module; undefined for an active one. */
export function deprecationOf(lifecycle: Lifecycle | undefined): Deprecation | undefined {
  if (lifecycle === undefined) return undefined
  const { state, link } = lifecycle
  const words = lifecycleWords({ ...lifecycle, link: undefined })
  return {
    reason: printable(words === '' ? `it is ${state.toLowerCase()}` : words, maxBytes),
    link,
  }
}

/** The beginning of a line about those that have none. */
export const moreVersions = (count: number): string =>
  count === 1 ? '1 more version is' : `${count} more versions are`

/** A line for each listed version that people should not take, newest first, then the number of further ones. */
export function warningsOf(listed: readonly VersionRow[]): string[] | undefined {
  const noted = new Map<string, Lifecycle>()
  for (const { version, lifecycle } of listed) {
    if (lifecycle !== undefined && !noted.has(version)) noted.set(version, lifecycle)
  }
  if (noted.size === 0) return undefined
  const lines = [...noted].slice(0, maxWarnings).map(([version, lifecycle]) => {
    const words = lifecycleWords(lifecycle)
    const text = `version ${version} is ${lifecycle.state.toLowerCase()}${words && `: ${words}`}`
    return printable(text, maxBytes)
  })
  const more = noted.size - lines.length
  return more === 0 ? lines : [...lines, `${moreVersions(more)} deprecated or yanked`]
}
