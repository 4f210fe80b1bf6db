import type { HttpBindings } from '@hono/node-server'
import type { Context } from 'hono'
import type { ArchiveLocation } from '../apis/v1alpha1/v1alpha1.ts'
import type { Catalog, Parent, VersionRow } from '../catalog/catalog.ts'
import { notFound, RegistryError } from '../errors/errors.ts'
import type { RequestFacts } from '../telemetry/telemetry.ts'
import type { ByteRange } from './byte-range.ts'

/** What the server passes along with a request; a test that calls the app directly passes nothing. */
export interface RegistryEnv {
  Bindings: Partial<HttpBindings> & { facts?: RequestFacts }
}

/** One archive as the storage backends want it named. */
export interface ServedArchive {
  readonly location: ArchiveLocation
  /** Hexadecimal. */
  readonly sha256: string
  /** Names the Version in logs. */
  readonly label: { namespace: string; kind: string; name: string; version: string }
}

/** Bytes on demand. A chunk stays as it is until the second call of `read` after, or `close`; nothing means the end. */
export interface ArchiveBody {
  read(): Promise<Uint8Array | undefined>
  close(): void
}

export interface Archives {
  sizeOf(archive: ServedArchive): Promise<number>
  /** A small archive that many ask for, whole and at once. */
  inMemory(archive: ServedArchive): Uint8Array | undefined
  /**
   * Bytes `start` to `end`, both included; `range` is missing from the answer where the whole is given all the same.
   * Reading fails where the bytes do not match the digest.
   */
  open(
    archive: ServedArchive,
    range?: ByteRange,
  ): Promise<{
    readonly sizeBytes: number
    readonly range?: ByteRange
    readonly body: ArchiveBody
  }>
  /** The URL that gives the archive instead; nothing where the server is to stream it. */
  presign(archive: ServedArchive): Promise<string | undefined>
}

export interface Signer {
  /** Counts how often the key was changed. */
  readonly revision: number
  publicKeys(): readonly { readonly key_id: string; readonly ascii_armor: string }[]
  /** A binary detached signature; at once where it is known. */
  sign(text: string): Uint8Array | Promise<Uint8Array>
}

/** One archive that somebody downloads. */
export interface Download {
  readonly kind: 'Module' | 'Provider'
  readonly namespace: string
  readonly name: string
  readonly version: string
  /** Platform of a provider's archive; absent for modules. */
  readonly os?: string | undefined
  readonly arch?: string | undefined
}

export interface RegistryOptions {
  readonly catalog: Catalog
  readonly archives: Archives
  /** Absent where no signing key is configured. */
  readonly signer?: Signer | undefined
  /** External URL of the registry without a trailing slash; default: what the request says. */
  readonly baseUrl?: string | undefined
  /** Believe `X-Forwarded-Proto` and `X-Forwarded-Host`. */
  readonly trustProxy?: boolean
  /** Redirect downloads of modules too, where their storage says presign; default false: only those of providers. */
  readonly presignModules?: boolean
  /** Told of each download as it begins; must neither wait nor throw. */
  readonly onDownload?: ((download: Download) => void) | undefined
  /**
   * Whether the caller may use a module or provider; where not, it looks as if there were none. Default: everybody may.
   *
   * @throws RegistryError Unauthenticated, Forbidden or Unavailable, which become the answer
   */
  readonly mayRead?:
    | ((
        c: RegistryContext,
        kind: 'Module' | 'Provider',
        namespace: string,
        name: string,
      ) => boolean | Promise<boolean>)
    | undefined
  /** What discovery says of logging in, as soon as that is known. Default: there is no login. */
  readonly login?: (() => object | undefined) | undefined
}

type RegistryContext = Context<RegistryEnv>

/** Answers callers who may use the module or provider, and tells all others that there is none. */
export function guard(
  c: RegistryContext,
  { mayRead }: RegistryOptions,
  { kind, namespace, name }: { kind: 'Module' | 'Provider'; namespace: string; name: string },
  answer: () => Response,
): Response | Promise<Response> {
  const checked = (may: boolean): Response => {
    if (!may) throw absent(kind, namespace, name)
    return answer()
  }
  const may = mayRead?.(c, kind, namespace, name) ?? true
  return may instanceof Promise ? may.then(checked) : checked(may)
}

function absent(kind: 'Module' | 'Provider', namespace: string, name: string): RegistryError {
  return notFound(
    kind === 'Module'
      ? `module ${namespace}/${name} not found: check its namespace and name, and that it exists as a Module`
      : `provider ${namespace}/${name} not found: check its namespace and type, and that it exists as a Provider`,
  )
}

/** Tells the access log which route answers, and for what. */
export function note(c: RegistryContext, route: string, facts: RequestFacts = {}): void {
  const known = c.env?.facts
  if (known === undefined) return
  Object.assign(known, facts)
  known.route = route
}

const jsonHeaders = { 'Content-Type': 'application/json' }

/** Text as it is sent fastest, for answers that are kept: Node joins a short one with the headers, and encodes a long one. */
export function kept(text: string): string | Uint8Array {
  return text.length > longTextLength ? Buffer.from(text) : text
}

const longTextLength = 8192

/** A JSON answer from text that is ready. */
export function json(text: string | Uint8Array): Response {
  return new Response(text as string | Uint8Array<ArrayBuffer>, { headers: jsonHeaders })
}

/** The module of a request, or 404. A module that names no system answers to any. */
export function findModule(
  catalog: Catalog,
  namespace: string,
  name: string,
  system: string,
): Parent {
  const parent = catalog.module(namespace, name)
  if (parent === undefined) throw absent('Module', namespace, name)
  const own = parent.resource?.system
  if (own !== undefined && own !== system) {
    throw notFound(
      `module ${namespace}/${name} is for ${own}, not for ${system}: use ${namespace}/${name}/${own}`,
    )
  }
  return parent
}

/** The provider of a request, or 404. */
export function findProvider(catalog: Catalog, namespace: string, type: string): Parent {
  const parent = catalog.provider(namespace, type)
  if (parent === undefined) throw absent('Provider', namespace, type)
  return parent
}

/** @throws RegistryError NotConfigured where the operator gave no key. */
export function requireSigner(signer: Signer | undefined): Signer {
  if (signer !== undefined) return signer
  throw new RegistryError(
    'NotConfigured',
    'signing metadata not configured: start the server with --gpg-private-key-path to serve providers',
  )
}

/** Names an archive to whoever counts downloads. */
export function downloadOf(row: VersionRow): Download {
  const { kind, namespace, version, os, arch } = row
  return { kind, namespace, name: row.parent?.name ?? '', version, os, arch }
}

/** Names an archive to storage; the row must be downloadable. */
export function servedArchive(row: VersionRow): ServedArchive {
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
