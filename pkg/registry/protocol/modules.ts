import type { Hono } from 'hono'
import type { ModuleVersions } from '../../api/registry/registry.ts'
import { normalizeVersion } from '../../api/v1alpha1/v1alpha1.ts'
import { get, type PlainRequest, ReadyAnswer, type ServingEnv } from '../../base/serving/serving.ts'
import type { Parent, VersionRow } from '../catalog/catalog.ts'
import { archivePath } from './archive-url.ts'
import { baseUrlOf } from './base-url.ts'
import { modulePrefix } from './discovery.ts'
import { findModule, findModuleVersion } from './find.ts'
import type { RegistryOptions } from './ports.ts'
import { cacheHeadersOf, downloadOf, guard, jsonHeadersOf } from './respond.ts'

const versionsPattern = '/:namespace/:name/:system/versions'

/** The module registry protocol, but for the archives themselves. */
export function moduleRoutes(
  app: Hono<ServingEnv>,
  prefix: string,
  options: RegistryOptions,
): void {
  const { catalog } = options

  get(app, prefix, versionsPattern, (c) => {
    const { namespace, name, system } = c.req.param()
    return guard(c, options, { namespace, kind: 'Module', name, system }, () => {
      const module = findModule(catalog, namespace, name, system)
      return versionsAnswer(module, options).toResponse()
    })
  })

  get(app, prefix, '/:namespace/:name/:system/:version/download', (c) => {
    const { namespace, name, system } = c.req.param()
    const version = normalizeVersion(c.req.param('version'))
    return guard(c, options, { namespace, kind: 'Module', name, system, version }, () => {
      const module = findModule(catalog, namespace, name, system)
      const row = findModuleVersion(module, version)
      const url = baseUrlOf(c, options) + archiveUrlPath(module, row)
      if (c.req.method !== 'HEAD') options.onDownload?.(downloadOf(row))
      return new Response(null, {
        status: 204,
        headers: { ...cacheHeadersOf(options), 'X-Registry-Get': url, 'X-Terraform-Get': url },
      })
    })
  })
}

/**
 * The answers that are ready, for paths below `/depot/modules/v1`.
 *
 * @param segments of the path, the first empty
 */
export function readyModuleAnswer(
  segments: readonly string[],
  request: PlainRequest,
  options: RegistryOptions,
): ReadyAnswer | undefined {
  const [, , , , namespace = '', name = '', system, word] = segments
  if (segments.length !== 8 || word !== 'versions') return undefined
  const module = options.catalog.modules.get(namespace)?.get(name)
  if (module === undefined || (module.resource?.system ?? system) !== system) return undefined
  if (options.mayReadNow?.(request, 'Module', namespace, name) === false) return undefined
  return versionsAnswer(module, options)
}

function versionsAnswer(module: Parent, options: RegistryOptions): ReadyAnswer {
  return module.memo('versions', () => {
    const { namespace, name } = module
    const route = modulePrefix + versionsPattern
    const facts = { route, namespace, kind: 'Module' as const, name }
    return new ReadyAnswer(versionList(module), jsonHeadersOf(options), facts)
  })
}

/** Every version that can be downloaded, newest first. */
function versionList(module: Parent): string {
  const downloadable = module.versions.filter((row) => row.downloadable)
  const versions = [...new Set(downloadable.map((row) => row.version))]
  const list: ModuleVersions = {
    modules: [{ source: sourceOf(module), versions: versions.map((version) => ({ version })) }],
  }
  return JSON.stringify(list)
}

/** Where the sources of a module are, if that is a URL to click on. */
function sourceOf({ resource }: Parent): string | undefined {
  const url = resource?.repoUrl
  return url !== undefined && /^https?:\/\//i.test(url) && URL.canParse(url) ? url : undefined
}

/**
 * Path of the archive endpoint. CLIs take `archive` and `checksum` out of the query before they ask: the first tells them
 * how to unpack, the second what the bytes must hash to.
 */
function archiveUrlPath(module: Parent, row: VersionRow): string {
  const { location, sha256 } = row
  if (location === undefined || sha256 === undefined) throw new TypeError('row is not downloadable')
  const format = archiveFormat(location.fileName, module.resource?.fileFormat)
  const version = encodeURIComponent(`${row.namespace}/${row.name}`)
  const query = `fileChecksum=${sha256}&version=${version}&archive=${format}&checksum=sha256:${sha256}`
  return `/depot/modules/v1/${archivePath(location)}?${query}`
}

/** By the ending of the file, else by what the module says. */
function archiveFormat(fileName: string, fileFormat: 'zip' | 'tar' | undefined): 'zip' | 'tar.gz' {
  if (/\.zip$/i.test(fileName)) return 'zip'
  if (/\.(tar\.gz|tgz)$/i.test(fileName)) return 'tar.gz'
  return fileFormat === 'tar' ? 'tar.gz' : 'zip'
}
