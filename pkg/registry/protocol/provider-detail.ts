import type { ProviderDetail } from '../../api/registry/registry.ts'
import { normalizeVersion } from '../../api/v1alpha1/v1alpha1.ts'
import type { Parent } from '../catalog/catalog.ts'
import { type Endpoint, endpoint } from './endpoint.ts'
import { findRelease, latestVersionOf, noProvider } from './find.ts'
import type { RegistryOptions } from './options.ts'
import { jsonHeadersOf } from './respond.ts'

export const providerDetailRoutes = {
  latest: '/:namespace/:type',
  version: '/:namespace/:type/:version',
} as const

/** Providers in the form of the public registry. Bots find their changelogs by it. */
export function providerDetailEndpoints(options: RegistryOptions): readonly Endpoint[] {
  const answer = (detail: ProviderDetail) =>
    new Response(JSON.stringify(detail), { headers: jsonHeadersOf(options) })
  const read = (
    path: { readonly namespace: string; readonly type: string; readonly version?: string },
    parent: Parent | undefined,
  ): ProviderDetail => {
    const provider = parent ?? noProvider(path)
    const { version } = path
    return detailOf(
      provider,
      path,
      version === undefined
        ? latestVersionOf(provider, options.catalog)
        : normalizeVersion(version),
      options,
    )
  }
  return Object.values(providerDetailRoutes).map((route) =>
    endpoint({ route, kind: 'Provider', read, answer }),
  )
}

/** @throws RegistryError NotFound */
function detailOf(
  provider: Parent,
  { namespace, type }: { readonly namespace: string; readonly type: string },
  version: string,
  { catalog }: RegistryOptions,
): ProviderDetail {
  findRelease(provider, version)
  const downloadable = provider.versions.filter((row) => row.downloadable)
  return {
    id: [namespace, type, version].join('/'),
    owner: '',
    namespace,
    name: type,
    version,
    description: '',
    source: provider.resource?.repoUrl ?? '',
    downloads: catalog.downloads.of('Provider', provider.namespace, provider.name)?.count ?? 0,
    versions: [...new Set(downloadable.map((row) => row.version))],
  }
}
