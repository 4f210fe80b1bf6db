import type { ModuleVersions } from '../../api/registry/registry.ts'
import { archiveFormat, normalizeVersion } from '../../api/v1alpha1/v1alpha1.ts'
import { ReadyAnswer } from '../../base/serving/serving.ts'
import type { Parent, VersionRow } from '../catalog/catalog.ts'
import { archivePath } from './archives.ts'
import { modulePrefix } from './discovery.ts'
import {
  baseUrlOf,
  downloadOf,
  type Endpoint,
  endpoint,
  jsonHeadersOf,
  linkHeadersOf,
  type RegistryOptions,
} from './endpoint.ts'
import { findModuleVersion, noModule } from './find.ts'
import { deprecationOf, sourceOf } from './listed-version.ts'

export const moduleRoutes = {
  versions: '/:namespace/:name/:system/versions',
  download: '/:namespace/:name/:system/:version/download',
} as const

/** The module registry protocol, without the archives. */
export function moduleEndpoints(options: RegistryOptions): readonly Endpoint[] {
  const { catalog } = options
  return [
    endpoint({
      route: moduleRoutes.versions,
      kind: 'Module',
      read: (path, parent) => parent ?? noModule(catalog, path),
      ready: (module) => versionsAnswer(module, options),
    }),
    endpoint({
      route: moduleRoutes.download,
      kind: 'Module',
      read(path, parent, asked) {
        const module = parent ?? noModule(catalog, path)
        const row = findModuleVersion(module, normalizeVersion(path.version))
        return { row, url: baseUrlOf(asked, options) + archiveUrlPath(module, row) }
      },
      answer({ row, url }, c) {
        if (c.req.method !== 'HEAD') options.onDownload?.(downloadOf(row, c))
        return new Response(null, {
          status: 204,
          headers: { ...linkHeadersOf(options), 'X-Registry-Get': url, 'X-Terraform-Get': url },
        })
      },
    }),
  ]
}

function versionsAnswer(module: Parent, options: RegistryOptions): ReadyAnswer {
  return module.memo('versions', () => {
    const { namespace, name } = module
    const route = modulePrefix + moduleRoutes.versions
    const facts = { route, namespace, kind: 'Module' as const, name }
    return new ReadyAnswer(versionList(module), jsonHeadersOf(options), facts)
  })
}

/** Every listed version, newest first. */
function versionList(module: Parent): string {
  const listed = new Map(
    module.versions.filter((row) => row.isListed).map((row) => [row.version, row]),
  )
  const versions = Array.from(listed, ([version, row]) => ({
    version,
    deprecation: deprecationOf(row.lifecycle),
  }))
  const list: ModuleVersions = { modules: [{ source: sourceOf(module), versions }] }
  return JSON.stringify(list)
}

/**
 * Path of the archive endpoint. CLIs remove `archive` and `checksum` from the query before they ask: the first tells them
 * how to unpack, the second is the digest to check.
 */
function archiveUrlPath(module: Parent, row: VersionRow): string {
  const { location, sha256 } = row
  if (location === undefined || sha256 === undefined) throw new TypeError('row is not downloadable')
  const format = archiveFormat(location.fileName, module.resource?.fileFormat)
  const version = encodeURIComponent(`${row.namespace}/${row.name}`)
  const query = `fileChecksum=${sha256}&version=${version}&archive=${format}&checksum=sha256:${sha256}`
  return `/depot/modules/v1/${archivePath(location)}?${query}`
}
