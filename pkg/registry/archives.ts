import { type Context, Hono } from 'hono'
import { normalizeVersion, sha256Hex } from '../apis/v1alpha1/v1alpha1.ts'
import type { Catalog, VersionRow } from '../catalog/catalog.ts'
import { notFound, RegistryError } from '../errors/errors.ts'
import type { Backend } from '../storage/storage.ts'
import { archiveResponse } from './archive-response.ts'
import { archivePaths, isAt } from './archive-url.ts'
import { findPlatform, platformNames, platformsOf } from './providers.ts'
import {
  downloadOf,
  findProvider,
  note,
  type RegistryEnv,
  type RegistryOptions,
  servedArchive,
} from './routes.ts'

/**
 * Archives of modules and providers. CLIs send no credentials here, so what protects an archive is that the URL has to
 * name a Version of the catalog exactly, digest included. Nothing of a URL ever reaches a storage backend: it is compared
 * with what the catalog knows, and the catalog's own words are used.
 */
export function archiveRoutes(options: RegistryOptions): Hono<RegistryEnv> {
  const { catalog } = options
  const app = new Hono<RegistryEnv>()

  for (const backend of Object.keys(archivePaths) as Backend[]) {
    const { name, parameters } = archivePaths[backend]
    const route = `/modules/v1/download/${name}/:${parameters.join('/:')}`
    app.get(route, (c) => {
      note(c, `/depot${route}`)
      const segments = parameters.map((parameter) => c.req.param(parameter) ?? '')
      const row = findModuleArchive(catalog, backend, segments, c.req.query('fileChecksum'))
      const presign = options.presignModules ?? false
      return archiveResponse(c, options.archives, served(c, route, row), presign)
    })
  }

  app.get('/providers/v1/download/:namespace/:type/:version', async (c) => {
    const { namespace, type } = c.req.param()
    const version = normalizeVersion(c.req.param('version'))
    const route = '/providers/v1/download/:namespace/:type/:version'
    note(c, `/depot${route}`)
    const rows = platformsOf(findProvider(catalog, namespace, type), version)
    const row = choosePlatform(rows, c.req.query('os'), c.req.query('arch'))
    const archive = served(c, route, row)
    const response = await archiveResponse(c, options.archives, archive, true)
    if (beginsDownload(c, response)) options.onDownload?.(downloadOf(row))
    return response
  })

  return app
}

/**
 * Once for each archive: what asks for its rest, or whether it changed, was counted when it began. A redirect to storage
 * counts, as nothing of what comes then is seen here.
 */
function beginsDownload({ req }: Context<RegistryEnv>, { status }: Response): boolean {
  if (req.method === 'HEAD' || ![200, 206, 307].includes(status)) return false
  const range = req.header('range')
  return range === undefined || !/^\s*bytes\s*=/i.test(range) || /=\s*0+\s*-/.test(range)
}

function served(c: Context<RegistryEnv>, route: string, row: VersionRow) {
  const archive = servedArchive(row)
  const { namespace, name, version } = archive.label
  note(c, `/depot${route}`, { namespace, kind: row.kind, name, version })
  return archive
}

function findModuleArchive(
  catalog: Catalog,
  backend: Backend,
  segments: readonly string[],
  fileChecksum = '',
): VersionRow {
  // A plus sign of base64 that was not encoded arrives as a blank.
  const sha256 = sha256Hex(fileChecksum.replaceAll(' ', '+'))
  const rows = sha256 === undefined ? [] : catalog.versionsBySha256(sha256)
  const row = rows.find(
    ({ kind, location, downloadable }) =>
      kind === 'Module' && downloadable && location && isAt(location, backend, segments),
  )
  if (row !== undefined) return row
  throw notFound(
    'archive not found: its URL must be one that the download endpoint of a module version gave out; run init again to get a fresh one',
  )
}

function choosePlatform(
  rows: readonly VersionRow[],
  os: string | undefined,
  arch: string | undefined,
): VersionRow {
  const [first] = rows
  if (os !== undefined && arch !== undefined && first?.parent !== undefined) {
    return findPlatform(first.parent, first.version, os, arch)
  }
  const matching = rows.filter(
    (row) => (os === undefined || row.os === os) && (arch === undefined || row.arch === arch),
  )
  if (matching.length === 1 && matching[0] !== undefined) return matching[0]
  throw new RegistryError(
    'BadRequest',
    `add ?os= and &arch= to choose a platform; there are ${platformNames(rows)}`,
  )
}
