import type { Context, Hono } from 'hono'
import { type Backend, normalizeVersion, sha256Hex } from '../../api/v1alpha1/v1alpha1.ts'
import { notFound, RegistryError } from '../../base/errors/errors.ts'
import { get, note, type ServingEnv } from '../../base/serving/serving.ts'
import type { Catalog, VersionRow } from '../catalog/catalog.ts'
import { archiveResponse } from './archive-response.ts'
import { archivePaths, archivePattern, isAt } from './archive-url.ts'
import { findPlatform, findProvider, findRelease, platformNames } from './find.ts'
import type { RegistryOptions, ServedArchive } from './ports.ts'
import type { ReadyArchives } from './ready-archives.ts'
import { downloadOf, servedArchive } from './respond.ts'

/** Of Versions that an old URL may mean. */
const maxCandidates = 8

/**
 * Archives of modules. CLIs send no credentials here, so what protects an archive is that the URL has to name a Version of
 * the catalog exactly, digest included. Nothing of a URL ever reaches a storage backend: it is compared with what the
 * catalog knows, and the catalog's own words are used.
 */
export function moduleArchiveRoutes(
  app: Hono<ServingEnv>,
  prefix: string,
  options: RegistryOptions,
  ready: ReadyArchives,
): void {
  for (const backend of Object.keys(archivePaths) as Backend[]) {
    const { parameters } = archivePaths[backend]
    get(app, prefix, archivePattern(backend), (c) => {
      const path: Readonly<Record<string, string>> = c.req.param()
      const segments = parameters.map((parameter) => path[parameter] ?? '')
      const presign = options.presignModules ?? false
      const { fileChecksum, version } = c.req.query()
      return firstGood(
        findModuleArchives(options.catalog, { backend, segments, fileChecksum, version }),
        (row) => {
          const response = archiveResponse(c, options.archives, named(c, row), presign)
          // What needs no waiting and is no 304 comes from memory.
          const isReady = response instanceof Response && response.status === 200
          if (isReady && version !== undefined) ready.remember(c.env?.incoming?.url, row)
          return response
        },
      )
    })
  }
}

/** Archives of providers, for which CLIs send no credentials either. */
export function providerArchiveRoutes(
  app: Hono<ServingEnv>,
  prefix: string,
  options: RegistryOptions,
): void {
  get(app, prefix, '/download/:namespace/:type/:version', (c) => {
    const { namespace, type } = c.req.param()
    const version = normalizeVersion(c.req.param('version'))
    const { platforms } = findRelease(findProvider(options.catalog, namespace, type), version)
    const row = choosePlatform(platforms, c.req.query('os'), c.req.query('arch'))
    // Nothing is seen of what comes after a redirect to storage, so that counts.
    const count = () => options.onDownload?.(downloadOf(row))
    return archiveResponse(c, options.archives, named(c, row), true, count)
  })
}

/** Names the archive for storage and for the log. */
function named(c: Context<ServingEnv>, row: VersionRow): ServedArchive {
  const archive = servedArchive(row)
  const { namespace, name, version } = archive.label
  note(c, { namespace, kind: row.kind, name, version })
  return archive
}

interface ArchiveUrl {
  readonly backend: Backend
  readonly segments: readonly string[]
  readonly fileChecksum: string | undefined
  /** `namespace/name` of the Version; URLs of before have none. */
  readonly version: string | undefined
}

/**
 * The Version that a URL names. A URL that names none may mean any with that place and digest: then the oldest ones that
 * differ in where their archives are.
 */
function findModuleArchives(catalog: Catalog, url: ArchiveUrl): readonly VersionRow[] {
  // A plus sign of base64 that was not encoded arrives as a blank.
  const sha256 = sha256Hex((url.fileChecksum ?? '').replaceAll(' ', '+'))
  const isMeant = (row: VersionRow): boolean =>
    row.kind === 'Module' &&
    row.sha256 === sha256 &&
    row.location !== undefined &&
    isAt(row.location, url.backend, url.segments) &&
    row.downloadable
  const rows: VersionRow[] = []
  if (url.version !== undefined) {
    const [namespace = '', ...rest] = url.version.split('/')
    // A name in a folder may hold slashes.
    const row = catalog.version(namespace, rest.join('/'))
    if (row !== undefined && sha256 !== undefined && isMeant(row)) rows.push(row)
  } else if (sha256 !== undefined) {
    rows.push(...catalog.oldestBySha256(sha256, isMeant, maxCandidates))
  }
  if (rows.length > 0) return rows
  throw notFound(
    'archive not found: its URL must be one that the download endpoint of a module version gave out; run init again to get a fresh one',
  )
}

/** Answers with the first of several that can be had. */
function firstGood(
  [row, ...others]: readonly VersionRow[],
  answer: (row: VersionRow) => Response | Promise<Response>,
): Response | Promise<Response> {
  const answered = answer(row as VersionRow)
  if (others.length === 0 || answered instanceof Response) return answered
  return answered.catch((error: unknown) => {
    if (error instanceof RegistryError && ['NotFound', 'BadGateway'].includes(error.reason)) {
      return firstGood(others, answer)
    }
    throw error
  })
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
