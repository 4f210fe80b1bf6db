import type { ProviderDetail } from '../../api/registry/registry.ts'
import { normalizeVersion } from '../../api/v1alpha1/v1alpha1.ts'
import { hasReason } from '../../base/errors/errors.ts'
import type { Parent } from '../catalog/catalog.ts'
import { pagesOfVersion } from '../documentation/documentation.ts'
import { type Endpoint, endpoint } from './endpoint.ts'
import { findRelease, latestVersionOf, noProvider } from './find.ts'
import { listedVersion } from './listed-version.ts'
import type { RegistryOptions } from './options.ts'
import { jsonHeadersOf } from './respond.ts'

export const providerDetailRoutes = {
  latest: '/:namespace/:type',
  version: '/:namespace/:type/:version',
} as const

/** Providers in the form of the public registry. Bots find their changelogs by it. */
export function providerDetailEndpoints(options: RegistryOptions): readonly Endpoint[] {
  const answer = async (found: Found) =>
    new Response(JSON.stringify(await detailOf(found, options)), {
      headers: jsonHeadersOf(options),
    })
  const read = (
    path: { readonly namespace: string; readonly type: string; readonly version?: string },
    parent: Parent | undefined,
  ): Found => {
    const provider = parent ?? noProvider(path)
    const { namespace, type } = path
    const version = path.version
      ? normalizeVersion(path.version)
      : latestVersionOf(provider, options.catalog)
    findRelease(provider, version)
    return { provider, namespace, type, version }
  }
  return Object.values(providerDetailRoutes).map((route) =>
    endpoint({ route, kind: 'Provider', read, answer }),
  )
}

interface Found {
  readonly provider: Parent
  readonly namespace: string
  readonly type: string
  readonly version: string
}

async function detailOf(
  { provider, namespace, type, version }: Found,
  { catalog, archives }: RegistryOptions,
): Promise<ProviderDetail> {
  const docs = await pagesOfVersion(provider, version, archives).catch((error: unknown) => {
    if (hasReason(error, 'NotFound')) return undefined
    throw error
  })
  const listed = listedVersion(catalog, provider, [namespace, type], version)
  const all = provider.versions.filter((row) => row.isListed)
  return {
    ...listed,
    versions: [...new Set(all.map((row) => row.version))],
    docs: (docs?.pages ?? []).map(
      ({ page: { title, path, slug, category, subcategory = '' } }) => ({
        id: `${listed.id}/${category}/${slug}`,
        title,
        path,
        slug,
        category,
        subcategory,
        language: 'hcl',
      }),
    ),
  }
}
