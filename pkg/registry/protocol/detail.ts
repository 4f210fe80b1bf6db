import { emptyRoot, type FolderDocs } from '../../api/docs/docs.ts'
import type { ModuleDetail, ProviderDetail } from '../../api/registry/registry.ts'
import { normalizeVersion } from '../../api/v1alpha1/v1alpha1.ts'
import { ifFound } from '../../base/errors/errors.ts'
import type { Parent } from '../catalog/catalog.ts'
import { docsOfVersion, pagesOfVersion } from '../documentation/documentation.ts'
import { type Endpoint, endpoint, jsonResponse, type RegistryOptions } from './endpoint.ts'
import { findModuleVersion, findRelease, latestVersionOf, noModule, noProvider } from './find.ts'
import { deprecationOf, listedVersion } from './listed-version.ts'

export const detailRoutes = {
  latest: '/:namespace/:name/:system',
  version: '/:namespace/:name/:system/:version',
} as const
export const latestDownloadRoute = '/:namespace/:name/:system/download'

/** Modules in detail, in the form of the public registry, which editors and bots read. */
export function moduleDetailEndpoints(options: RegistryOptions): readonly Endpoint[] {
  const { catalog } = options
  const answer = async (found: Found) => jsonResponse(await moduleDetail(found, options), options)
  const latest = (path: Address, parent: Parent | undefined): Found => {
    const module = parent ?? noModule(catalog, path)
    const { version } = findModuleVersion(module, latestVersionOf(module, catalog))
    return { ...path, module, version }
  }
  return [
    endpoint({
      route: latestDownloadRoute,
      kind: 'Module',
      read: latest,
      // Relative, so that it is below the prefix and the proxy of the request.
      answer: ({ version }) =>
        new Response(null, {
          status: 302,
          headers: { Location: `${encodeURIComponent(version)}/download` },
        }),
    }),
    endpoint({ route: detailRoutes.latest, kind: 'Module', read: latest, answer }),
    endpoint({
      route: detailRoutes.version,
      kind: 'Module',
      read(path, parent) {
        const module = parent ?? noModule(catalog, path)
        const { version } = findModuleVersion(module, normalizeVersion(path.version))
        return { ...path, module, version }
      },
      answer,
    }),
  ]
}

/** The versions that lists have, newest first. */
const listedIn = ({ versions }: Parent): string[] => [
  ...new Set(versions.filter((row) => row.isListed).map((row) => row.version)),
]

/** By which a module is asked for. */
type Address = Readonly<Record<'namespace' | 'name' | 'system', string>>

interface Found extends Address {
  readonly module: Parent
  readonly version: string
}

async function moduleDetail(
  { module, namespace, name, system, version }: Found,
  { archives, catalog }: RegistryOptions,
): Promise<ModuleDetail> {
  const docs = await ifFound(docsOfVersion(module, version, archives))
  const root = docs?.root ?? emptyRoot
  const own = module.rowsOf(version).find((row) => row.downloadable)
  return {
    ...listedVersion(catalog, module, [namespace, name, system], version),
    provider: system,
    description: root.description ?? '',
    verified: false,
    root: { ...folderOf(root), empty: docs === undefined },
    submodules: docs?.submodules.map(folderOf) ?? [],
    examples: docs?.examples.map(folderOf) ?? [],
    providers: [system],
    versions: listedIn(module),
    deprecation: deprecationOf(own?.lifecycle),
  }
}

function folderOf(folder: FolderDocs): ModuleDetail['root'] {
  const { path, readme = '', inputs, outputs, providers, resources, modules } = folder
  return {
    path,
    name: path.split('/').at(-1) ?? '',
    readme,
    empty: false,
    inputs: inputs.map((input) => ({
      name: input.name,
      type: input.type ?? 'any',
      description: input.description ?? '',
      default: input.default === undefined ? '' : JSON.stringify(input.default),
      required: input.required,
    })),
    outputs: outputs.map((output) => ({
      name: output.name,
      description: output.description ?? '',
    })),
    dependencies: modules.map(({ name, source = '', version = '' }) => ({ name, source, version })),
    provider_dependencies: providers.map(({ name, source, version = '' }) => {
      const address = source ?? `hashicorp/${name}`
      return { name, namespace: address.split('/').at(-2) ?? '', source: address, version }
    }),
    resources: resources
      .filter(({ mode }) => mode === 'managed')
      .map(({ name, type }) => ({ name, type })),
  }
}

export const providerDetailRoutes = {
  latest: '/:namespace/:type',
  version: '/:namespace/:type/:version',
} as const

/** Providers in the form of the public registry. Bots find their changelogs by it. */
export function providerDetailEndpoints(options: RegistryOptions): readonly Endpoint[] {
  const answer = async (found: FoundProvider) =>
    jsonResponse(await providerDetail(found, options), options)
  const read = (
    path: { readonly namespace: string; readonly type: string; readonly version?: string },
    parent: Parent | undefined,
  ): FoundProvider => {
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

interface FoundProvider {
  readonly provider: Parent
  readonly namespace: string
  readonly type: string
  readonly version: string
}

async function providerDetail(
  { provider, namespace, type, version }: FoundProvider,
  { catalog, archives }: RegistryOptions,
): Promise<ProviderDetail> {
  const docs = await ifFound(pagesOfVersion(provider, version, archives))
  const listed = listedVersion(catalog, provider, [namespace, type], version)
  return {
    ...listed,
    versions: listedIn(provider),
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
