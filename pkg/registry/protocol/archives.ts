import { posix } from 'node:path'
import type { Context } from 'hono'
import {
  type ArchiveLocation,
  type Backend,
  backendOf,
  normalizeVersion,
  sha256Hex,
} from '../../api/v1alpha1/v1alpha1.ts'
import type { Archive } from '../../archives/storage/storage.ts'
import {
  badRequest,
  hasReason,
  messageOf,
  notFound,
  RegistryError,
} from '../../base/errors/errors.ts'
import { SendableBody } from '../../base/fast/fast.ts'
import { CappedMap } from '../../base/memory/memory.ts'
import {
  note,
  type PlainRequest,
  ReadyAnswer,
  type ServingEnv,
} from '../../base/serving/serving.ts'
import type { Catalog, VersionRow } from '../catalog/catalog.ts'
import { archiveHeaders, archiveResponse, etagOf } from './archive-response.ts'
import { modulePrefix } from './discovery.ts'
import {
  downloadOf,
  type Endpoint,
  endpoint,
  queryOf,
  type RegistryOptions,
  servedArchive,
} from './endpoint.ts'
import { findPlatform, findRelease, noProvider, platformNames } from './find.ts'
import { providerRoutes } from './providers.ts'

/** The archive routes: the name of each backend in a path, and the segments that follow. */
export const archivePaths = {
  s3: { name: 's3', parameters: ['bucket', 'region', 'name', 'fileName'] },
  azure: {
    name: 'azure',
    parameters: ['subID', 'rg', 'account', 'accountUrl', 'name', 'fileName'],
  },
  gcs: { name: 'gcs', parameters: ['bucket', 'name', 'fileName'] },
  filesystem: { name: 'fileSystem', parameters: ['directory', 'name', 'fileName'] },
} as const satisfies Record<Backend, { name: string; parameters: readonly string[] }>

/** Pattern of the route of a backend's archives, below the module protocol. */
export function archivePattern(backend: Backend): `/download/${string}` {
  const { name, parameters } = archivePaths[backend]
  return `/download/${name}/:${parameters.join('/:')}`
}

/** Path of an archive below the module protocol: its segments, each encoded, so that they may hold slashes. */
export function archivePath(location: ArchiveLocation): string {
  const segments = locationSegments(location).map((segment) => encodeURIComponent(segment))
  return `download/${archivePaths[backendOf(location.storage)].name}/${segments.join('/')}`
}

/** Whether the decoded segments of a request are those of a location. */
export function isAt(
  location: ArchiveLocation,
  backend: Backend,
  segments: readonly string[],
): boolean {
  if (backendOf(location.storage) !== backend) return false
  const own = locationSegments(location)
  return (
    own.length === segments.length && own.every((segment, index) => segment === segments[index])
  )
}

/**
 * The path segments of an archive's URL after the backend, not encoded. They name the archive to clients and are
 * compared with those of Versions; they are never turned back into a location.
 *
 * The prefix of an S3 object is not among them: archives that differ in nothing else are distinguished by their digest,
 * and archives of one digest are the same bytes.
 */
function locationSegments({ storage, configName, fileName }: ArchiveLocation): string[] {
  const { s3, azureStorage: azure, gcs, fileSystem } = storage
  if (s3) return [s3.bucket, s3.region, configName, fileName]
  if (azure) {
    const { subscriptionID, resourceGroup, accountName, accountUrl } = azure
    return [subscriptionID, resourceGroup, accountName, accountUrl, configName, fileName]
  }
  if (gcs) return [gcs.bucket, configName, fileName]
  return [directorySegment(fileSystem?.directoryPath ?? ''), configName, fileName]
}

/** Clients drop segments that are empty, `.` or `..`, so the mounted directory itself is named `/`. */
function directorySegment(directoryPath: string): string {
  const path = posix.normalize(directoryPath)
  return path === '.' || path === './' ? '/' : path
}

/** This bounds the URLs to some megabytes. */
const maxUrls = 4096
const maxUrlCharacters = 1024

/**
 * Archives of modules in memory, sent at once for a URL that the route has answered before. A URL is valid until its module
 * changes; then the route checks it again.
 */
export class ReadyArchives {
  readonly #options: RegistryOptions
  readonly #rows = new CappedMap<string, VersionRow>(maxUrls)
  /** By their bytes: an answer is kept as long as those are in memory. */
  readonly #answers = new WeakMap<Uint8Array, { row: VersionRow; answer: ReadyAnswer }>()

  constructor(options: RegistryOptions) {
    this.#options = options
  }

  /** @param url path and query of a GET that names the Version and was answered with the whole archive */
  remember(url: string | undefined, row: VersionRow): void {
    if (url === undefined || url.length > maxUrlCharacters) return
    this.#rows.set(url, row)
    urlsOf(row)?.add(url)
  }

  find({ url, ifNoneMatch }: PlainRequest): ReadyAnswer | undefined {
    const row = this.#rows.get(url)
    if (row === undefined || ifNoneMatch !== undefined) return undefined
    const { namespace, name } = row
    const isCurrent = this.#options.catalog.version(namespace, name) === row
    if (isCurrent && urlsOf(row)?.has(url)) return this.#answer(row)
    this.#rows.delete(url)
    return undefined
  }

  /** The archive of a module's version, if it is in memory. @param row one that can be downloaded */
  #answer(row: VersionRow): ReadyAnswer | undefined {
    const { sha256 = '' } = row
    const bytes = this.#options.archives.inMemory(sha256)
    if (bytes === undefined) return undefined
    const known = this.#answers.get(bytes)
    if (known?.row === row) return known.answer
    const { location, label } = servedArchive(row)
    const { namespace, name, version } = label
    const route = modulePrefix + archivePattern(backendOf(location.storage))
    const answer = new ReadyAnswer(
      SendableBody.sharing(bytes),
      archiveHeaders(location.fileName),
      { route, namespace, kind: 'Module', name, version },
      etagOf(sha256),
    )
    this.#answers.set(bytes, { row, answer })
    return answer
  }
}

/** URLs that are known to lead to a module's archives since its last change. */
const urlsOf = ({ parent }: VersionRow): Set<string> | undefined =>
  parent?.memo('archiveUrls', () => new Set<string>())

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
          const response = archiveResponse(c, {
            archives,
            archive: named(c, row),
            mayPresign: presignModules,
          })
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
      return archiveResponse(c, {
        archives: options.archives,
        archive: named(c, row),
        mayPresign: true,
        // A redirect to storage counts, because the server does not see what follows.
        onWhole: () => options.onDownload?.(downloadOf(row, c)),
      })
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
  throw badRequest(`add ?os= and &arch= to choose a platform; there are ${platformNames(rows)}`)
}
