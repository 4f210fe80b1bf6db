import { emptyRoot, type FolderDocs } from '../../api/docs/docs.ts'
import type { ModuleDetail } from '../../api/registry/registry.ts'
import { normalizeVersion } from '../../api/v1alpha1/v1alpha1.ts'
import { ifFound } from '../../base/errors/errors.ts'
import type { Parent } from '../catalog/catalog.ts'
import { docsOfVersion } from '../documentation/documentation.ts'
import { type Endpoint, endpoint } from './endpoint.ts'
import { findModuleVersion, latestVersionOf, noModule } from './find.ts'
import { deprecationOf } from './lifecycle.ts'
import { listedVersion } from './listed-version.ts'
import type { RegistryOptions } from './options.ts'
import { jsonHeadersOf } from './respond.ts'

export const detailRoutes = {
  latest: '/:namespace/:name/:system',
  version: '/:namespace/:name/:system/:version',
} as const
export const latestDownloadRoute = '/:namespace/:name/:system/download'

/** Modules in detail, in the form of the public registry, which editors and bots read. */
export function moduleDetailEndpoints(options: RegistryOptions): readonly Endpoint[] {
  const { catalog } = options
  const answer = async (found: Found) =>
    new Response(JSON.stringify(await detailOf(found, options)), {
      headers: jsonHeadersOf(options),
    })
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

/** By which a module is asked for. */
interface Address {
  readonly namespace: string
  readonly name: string
  readonly system: string
}

interface Found extends Address {
  readonly module: Parent
  readonly version: string
}

async function detailOf(
  { module, namespace, name, system, version }: Found,
  { archives, catalog }: RegistryOptions,
): Promise<ModuleDetail> {
  const docs = await ifFound(docsOfVersion(module, version, archives))
  const root = docs?.root ?? emptyRoot
  const all = module.versions.filter((row) => row.isListed)
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
    versions: [...new Set(all.map((row) => row.version))],
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
