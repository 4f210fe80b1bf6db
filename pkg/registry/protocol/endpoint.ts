import type { Context, Hono } from 'hono'
import {
  type ArchiveLocation,
  normalizeVersion,
  type ParentKind,
} from '../../api/v1alpha1/v1alpha1.ts'
import type { Signer } from '../../archives/signing/signing.ts'
import type { Archive, Archives } from '../../archives/storage/storage.ts'
import { attempt, badRequest, notFound, RegistryError, statusOf } from '../../base/errors/errors.ts'
import {
  after,
  get,
  note,
  type PlainRequest,
  ReadyAnswer,
  type RouteParameters,
  type ServingEnv,
} from '../../base/serving/serving.ts'
import { type Auth, requestOf } from '../auth/auth.ts'
import type { Catalog, Parent, VersionRow } from '../catalog/catalog.ts'
import type { DownloadCounter, DownloadEvent } from '../downloads/downloads.ts'
import type { Search } from '../search/search.ts'
import { absent, HeldBackRefusal } from './find.ts'

type App = Context<ServingEnv>
type Answer = Response | ReadyAnswer
/** A request on either way to its answer: past the app, or through it. */
export type Asked = PlainRequest | App

/** The names of the parameters in a pattern. */
type Names<Route extends string> = Route extends `${string}:${infer Name}/${infer Rest}`
  ? Name | Names<Rest>
  : Route extends `${string}:${infer Name}`
    ? Name
    : never

/** One kind of question that CLIs ask. */
export interface Endpoint<Route extends string = string, Found = unknown> {
  /** Below the prefix of its protocol. */
  readonly route: Route
  /** The kind of the parent that the path names, which the caller has to be allowed to see. */
  readonly kind?: ParentKind
  /**
   * Digest of the archive that the answer is about. CLIs send no credentials here, so a URL that names this digest is
   * answered like one of a caller who may see the parent.
   */
  digestOf?(found: Found): string | undefined
  /** Finds everything that the answer needs. @throws RegistryError for a request that cannot be answered */
  read(path: Record<Names<Route>, string>, parent: Parent | undefined, asked: Asked): Found
  /** The answer, if nothing has to be waited for. Neither throws nor counts. */
  ready?(found: Found): ReadyAnswer | undefined
  /** Any other answer. */
  answer?(found: Found, c: App): Answer | Promise<Answer>
}

/** Checks an endpoint, and drops the types of its parameters so that a list can have all of them. */
export function endpoint<Route extends string, Found>(
  definition: Endpoint<Route, Found>,
): Endpoint {
  return definition
}

/** The parent that a path names. */
export function parentOf({ catalog }: RegistryOptions, kind: ParentKind, path: RouteParameters) {
  return catalog.parentAt(kind, path['namespace'] ?? '', nameIn(path), path['system'])
}

export const nameIn = (path: RouteParameters): string => path['name'] ?? path['type'] ?? ''

/** The query of a request. */
export const queryOf = (asked: Asked): URLSearchParams =>
  new URL('req' in asked ? asked.req.url : asked.url, 'http://depot').searchParams

interface AskedFor {
  readonly url: string
  readonly parent: Parent | undefined
}

const digestIn = (url: string): string | undefined => /[?&]sha256=(\w+)(?:&|$)/.exec(url)?.[1]

/** Whether an endpoint answers everybody: its parent is public, or the URL names the digest. */
export function isOpen(
  mounted: Endpoint,
  found: unknown,
  { url, parent }: AskedFor,
  options: RegistryOptions,
): boolean {
  const digest = mounted.digestOf?.(found)
  if (digest === undefined) return false
  return digestIn(url) === digest || isPublic(parent, options)
}

/**
 * Whether the URL names the digest of an archive of the parent. Without it, nothing may be read for a stranger: the time
 * would tell what exists.
 */
export function namesArchive({ url, parent }: AskedFor, { catalog }: RegistryOptions): boolean {
  const sha256 = digestIn(url)
  if (sha256 === undefined) return false
  const isOwn = (row: VersionRow): boolean => parent !== undefined && row.parent === parent
  return catalog.oldestBySha256(sha256, isOwn, 1).length > 0
}

export function isPublic(parent: Parent | undefined, { catalog }: RegistryOptions): boolean {
  if (parent === undefined) return false
  const { kind, namespace, name } = parent
  const { model } = catalog
  return model.find(model.views.public, kind, namespace, name) !== undefined
}

/** Adds the route of an endpoint to the app. */
export function mount(
  app: Hono<ServingEnv>,
  prefix: string,
  mounted: Endpoint,
  options: RegistryOptions,
): void {
  const { kind } = mounted
  const { auth } = options
  get(app, prefix, mounted.route, (c: App) => {
    const path: RouteParameters = c.req.param()
    const parent = () => kind && parentOf(options, kind, path)
    const read = () => mounted.read(path, parent(), c)
    const respond = (found = counted(read)): Response | Promise<Response> => {
      const answer = mounted.ready?.(found) ?? mounted.answer?.(found, c)
      return after(answer as Answer, toResponse)
    }
    if (kind === undefined) return respond()
    const { namespace = '', version } = path
    // Permissions are for the `metadata.name`, whatever name the address has.
    const name = parent()?.name ?? nameIn(path)
    note(c, { namespace, kind, name, ...(version && { version: normalizeVersion(version) }) })
    if (auth === undefined) return respond()
    const mayRead = () => auth.mayRead(requestOf(c), kind, namespace, name)
    if (mounted.digestOf === undefined) {
      return after(mayRead(), (may) => {
        if (may) return respond()
        throw absent(kind, namespace, nameIn(path))
      })
    }
    const asked = { url: c.req.url, parent: parent() }
    // A stranger must not see an error.
    const mayBeOpen = namesArchive(asked, options) || isPublic(asked.parent, options)
    const found = mayBeOpen ? attempt(read) : undefined
    if (found !== undefined && isOpen(mounted, found, asked, options)) return respond(found)
    return after(isAllowed(mayRead), (may) => {
      if (may) return respond()
      throw notFound(
        'not found: this URL must be one that the package metadata of a provider gave out, with its sha256; run init again to get a fresh one',
      )
    })
  })
}

/** Finds what the answer needs, or counts the refusal that is the answer. */
function counted(read: () => unknown): unknown {
  try {
    return read()
  } catch (error) {
    if (error instanceof HeldBackRefusal) error.count()
    throw error
  }
}

/** Treats a refused caller like one who may see nothing, so that both get the same answer. */
async function isAllowed(mayRead: () => boolean | Promise<boolean>): Promise<boolean> {
  try {
    return await mayRead()
  } catch (error) {
    if (error instanceof RegistryError && statusOf(error.reason) < 500) return false
    throw error
  }
}

const toResponse = (answer: Answer): Response =>
  answer instanceof ReadyAnswer ? answer.toResponse() : answer

export interface RegistryOptions {
  readonly catalog: Catalog
  /** The index of the catalog. Default: one of its own. */
  readonly search?: Search | undefined
  readonly archives: Pick<Archives, 'sizeOf' | 'inMemory' | 'open' | 'presign'>
  /** Decides who may see what. Default: everybody sees everything. */
  readonly auth?: Auth | undefined
  /** Absent if no signing key is configured. */
  readonly signer?: Signer | undefined
  /** External URL of the registry without a trailing slash; default: the host that the request names. */
  readonly baseUrl?: string | undefined
  /** Believe `X-Forwarded-Proto` and `X-Forwarded-Host`. */
  readonly trustProxy?: boolean
  /** Redirect downloads of modules too, if their storage says presign; default false: only those of providers. */
  readonly presignModules?: boolean
  /** Reads when downloads were counted. Default: nobody counts them. */
  readonly history?: DownloadCounter['hourly'] | undefined
  /** The time, in milliseconds since 1970. */
  readonly clock?: (() => number) | undefined
  /** Called with each download as it begins; must neither wait nor throw. */
  readonly onDownload?: ((download: DownloadEvent) => void) | undefined
}

const jsonHeaders = { 'Content-Type': 'application/json' }
const noSharedCache = { 'Cache-Control': 'private, no-cache', Vary: 'Authorization' }
const privateJsonHeaders = { ...jsonHeaders, ...noSharedCache }

/** Whether answers differ by caller, which caches have to know. */
const isPrivate = ({ auth }: RegistryOptions): boolean =>
  auth !== undefined && auth.mode !== 'anonymous'

/** Headers of JSON that depends on the caller. */
export const jsonHeadersOf = (options: RegistryOptions): Readonly<Record<string, string>> =>
  isPrivate(options) ? privateJsonHeaders : jsonHeaders

/** An answer that depends on the caller. */
export const jsonResponse = (value: object, options: RegistryOptions): Response =>
  new Response(JSON.stringify(value), { headers: jsonHeadersOf(options) })

/** Headers for caches, of an answer with URLs: they depend on the Host or X-Forwarded headers, unless the base URL is set. */
export function linkHeadersOf(options: RegistryOptions): Readonly<Record<string, string>> {
  if (isPrivate(options)) return noSharedCache
  return options.baseUrl === undefined ? { 'Cache-Control': 'private, no-cache' } : {}
}

/** Names an archive for the count of downloads, and the caller if it is known. */
export function downloadOf(row: VersionRow, c: Context<ServingEnv>): DownloadEvent {
  const { kind, namespace, version, os, arch } = row
  const consumer = c.env?.facts?.consumer?.()
  return { kind, namespace, name: row.parent?.name ?? '', version, os, arch, consumer }
}

/** Names an archive to storage; the row must be downloadable. */
export function servedArchive(row: VersionRow): Archive {
  return {
    location: row.location as ArchiveLocation,
    sha256: row.sha256 as string,
    label: {
      namespace: row.namespace,
      kind: row.kind,
      name: row.parent?.name ?? '',
      version: row.version,
    },
  }
}

/** Names, IPv4 and bracketed IPv6 addresses, with or without a port. */
const hostPattern = /^(?:[a-z0-9_.-]+|\[[0-9a-f:.]+\])(?::\d{1,5})?$/i

/**
 * The URL under which the client reaches this server, without a trailing slash. The first of these that there is: the URL
 * that the operator configured, the one that a trusted proxy forwards, the Host header.
 *
 * @throws RegistryError BadRequest if the host is not valid, and for a plain request if a proxy has to be trusted
 */
export function baseUrlOf(
  asked: Asked,
  { baseUrl, trustProxy }: Pick<RegistryOptions, 'baseUrl' | 'trustProxy'>,
): string {
  if (baseUrl !== undefined) return baseUrl
  if (!('req' in asked)) {
    if (trustProxy === true && asked.isForwarded) throw badHost()
    return asked.origin
  }
  const { url } = asked.req
  const forwarded = (name: string) =>
    trustProxy === true ? asked.req.header(name)?.split(',')[0]?.trim() || undefined : undefined
  const protocol = forwarded('x-forwarded-proto') ?? url.slice(0, url.indexOf(':'))
  const host = forwarded('x-forwarded-host') ?? asked.req.header('host') ?? new URL(url).host
  if (!/^https?$/i.test(protocol) || !hostPattern.test(host)) throw badHost()
  // Such as x:99999 and 1.2.3.4.5.
  if (!URL.canParse(`http://${host}`)) throw badHost()
  return `${protocol.toLowerCase()}://${host}`
}

const badHost = () => badRequest('the Host or X-Forwarded header of the request is not a host name')
