import type { Context, Hono } from 'hono'
import { normalizeVersion, sha256Hex } from '../apis/v1alpha1/v1alpha1.ts'
import type { Catalog, VersionRow } from '../catalog/catalog.ts'
import { notFound, RegistryError } from '../errors/errors.ts'
import { get, note, type ServingEnv } from '../serving/serving.ts'
import type { Backend } from '../storage/storage.ts'
import { archiveResponse } from './archive-response.ts'
import { archivePaths, isAt } from './archive-url.ts'
import { findPlatform, findProvider, findRelease, platformNames } from './find.ts'
import type { RegistryOptions, ServedArchive } from './ports.ts'
import { downloadOf, servedArchive } from './respond.ts'

/**
 * Archives of modules. CLIs send no credentials here, so what protects an archive is that the URL has to name a Version of
 * the catalog exactly, digest included. Nothing of a URL ever reaches a storage backend: it is compared with what the
 * catalog knows, and the catalog's own words are used.
 */
export function moduleArchiveRoutes(
  app: Hono<ServingEnv>,
  prefix: string,
  options: RegistryOptions,
): void {
  for (const backend of Object.keys(archivePaths) as Backend[]) {
    const { name, parameters } = archivePaths[backend]
    get(app, prefix, `/download/${name}/:${parameters.join('/:')}`, (c) => {
      const path: Readonly<Record<string, string>> = c.req.param()
      const segments = parameters.map((parameter) => path[parameter] ?? '')
      const row = findModuleArchive(options.catalog, backend, segments, c.req.query('fileChecksum'))
      const presign = options.presignModules ?? false
      return archiveResponse(c, options.archives, named(c, row), presign)
    })
  }
}

/** Archives of providers, for which CLIs send no credentials either. */
export function providerArchiveRoutes(
  app: Hono<ServingEnv>,
  prefix: string,
  options: RegistryOptions,
): void {
  get(app, prefix, '/download/:namespace/:type/:version', async (c) => {
    const { namespace, type } = c.req.param()
    const version = normalizeVersion(c.req.param('version'))
    const { platforms } = findRelease(findProvider(options.catalog, namespace, type), version)
    const row = choosePlatform(platforms, c.req.query('os'), c.req.query('arch'))
    const response = await archiveResponse(c, options.archives, named(c, row), true)
    if (beginsDownload(c, response)) options.onDownload?.(downloadOf(row))
    return response
  })
}

/**
 * Once for each archive: what asks for its rest, or whether it changed, was counted when it began. A redirect to storage
 * counts, as nothing of what comes then is seen here.
 */
function beginsDownload({ req }: Context<ServingEnv>, { status }: Response): boolean {
  if (req.method === 'HEAD' || ![200, 206, 307].includes(status)) return false
  const range = req.header('range')
  return range === undefined || !/^\s*bytes\s*=/i.test(range) || /=\s*0+\s*-/.test(range)
}

/** Names the archive for storage and for the log. */
function named(c: Context<ServingEnv>, row: VersionRow): ServedArchive {
  const archive = servedArchive(row)
  const { namespace, name, version } = archive.label
  note(c, { namespace, kind: row.kind, name, version })
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
  if (os !== undefined && arch !== undefined) return findPlatform(rows, os, arch)
  const matching = rows.filter(
    (row) => (os === undefined || row.os === os) && (arch === undefined || row.arch === arch),
  )
  if (matching.length === 1 && matching[0] !== undefined) return matching[0]
  throw new RegistryError(
    'BadRequest',
    `add ?os= and &arch= to choose a platform; there are ${platformNames(rows)}`,
  )
}
