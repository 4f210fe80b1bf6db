import type { Context } from 'hono'
import { type Backend, normalizeVersion, sha256Hex } from '../../api/v1alpha1/v1alpha1.ts'
import type { Archive } from '../../archives/storage/storage.ts'
import { hasReason, messageOf, notFound, RegistryError } from '../../base/errors/errors.ts'
import { note, type ServingEnv } from '../../base/serving/serving.ts'
import type { Catalog, VersionRow } from '../catalog/catalog.ts'
import { archiveResponse } from './archive-response.ts'
import { archivePaths, archivePattern, isAt } from './archive-url.ts'
import { type Endpoint, endpoint, queryOf } from './endpoint.ts'
import { findPlatform, findRelease, noProvider, platformNames } from './find.ts'
import type { RegistryOptions } from './options.ts'
import { providerRoutes } from './provider-answers.ts'
import type { ReadyArchives } from './ready-archives.ts'
import { downloadOf, servedArchive } from './respond.ts'

/** How many Versions an old URL may mean. */
const maxCandidates = 8

/**
 * Archives of modules. CLIs send no credentials here, so an archive is protected by its URL, which has to name a Version of
 * the catalog exactly, digest included. URLs never reach a storage backend: they are compared with the catalog, and its
 * values are used.
 */
export function moduleArchiveEndpoints(
  options: RegistryOptions,
  ready: ReadyArchives,
): readonly Endpoint[] {
  const { catalog, archives, presignModules = false } = options
  return (Object.keys(archivePaths) as Backend[]).map((backend) =>
    endpoint({
      route: archivePattern(backend),
      read: (path: Readonly<Record<string, string>>) =>
        archivePaths[backend].parameters.map((parameter) => path[parameter] ?? ''),
      answer(segments, c) {
        const { fileChecksum, version } = c.req.query()
        const rows = findModuleArchives(catalog, { backend, segments, fileChecksum, version })
        return firstGood(rows, (row) => {
          const response = archiveResponse(c, archives, named(c, row), presignModules)
          // An answer that needs no waiting and is not a 304 comes from memory.
          const isReady = response instanceof Response && response.status === 200
          if (isReady && version !== undefined) ready.remember(c.env?.incoming?.url, row)
          return response
        })
      },
    }),
  )
}

/** Archives of providers. CLIs send no credentials here either, so the URL has to name the digest. */
export function providerArchiveEndpoint(options: RegistryOptions): Endpoint {
  return endpoint({
    route: providerRoutes.archive,
    kind: 'Provider',
    read(path, parent, asked): VersionRow {
      try {
        const release = findRelease(parent ?? noProvider(path), normalizeVersion(path.version))
        return choosePlatform(release.platforms, queryOf(asked))
      } catch (error) {
        // As with modules, the reason is told by the request before this one.
        throw hasReason(error, 'Gone') ? notFound(messageOf(error), error) : error
      }
    },
    digestOf: (row) => row.sha256,
    answer(row, c) {
      // A redirect to storage counts, because the server does not see what follows.
      const count = () => options.onDownload?.(downloadOf(row, c))
      return archiveResponse(c, options.archives, named(c, row), true, count)
    },
  })
}

/** Names the archive for storage and for the log. */
function named(c: Context<ServingEnv>, row: VersionRow): Archive {
  const archive = servedArchive(row)
  const { namespace, name, version } = archive.label
  note(c, { namespace, kind: row.kind, name, version })
  return archive
}

interface ArchiveUrl {
  readonly backend: Backend
  readonly segments: readonly string[]
  readonly fileChecksum: string | undefined
  /** `namespace/name` of the Version; older URLs have none. */
  readonly version: string | undefined
}

/**
 * The Version that a URL names. A URL without a Version may mean any with that place and digest: the oldest ones are tried,
 * one for each storage.
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

/** Answers with the first archive that can be read. */
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

function choosePlatform(rows: readonly VersionRow[], query: URLSearchParams): VersionRow {
  const os = query.get('os') ?? undefined
  const arch = query.get('arch') ?? undefined
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
