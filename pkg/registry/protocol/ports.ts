import type { Context } from 'hono'
import type { Login } from '../../api/registry/registry.ts'
import type { ArchiveLocation, ParentKind } from '../../api/v1alpha1/v1alpha1.ts'
import type { PlainRequest, ServingEnv } from '../../base/serving/serving.ts'
import type { Catalog } from '../catalog/catalog.ts'
import type { ByteRange } from './byte-range.ts'

/* What the protocols need of others, in their own words. */

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
  /** A small archive that many ask for, whole and at once, by its digest; the same object for as long as it is kept. */
  inMemory(sha256: string): Uint8Array<ArrayBuffer> | undefined
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
  /** Counts a signature that was given once more from where it was kept. */
  countReuse(): void
}

/** One archive that is downloaded. */
export interface Download {
  readonly kind: ParentKind
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
  /** Called with each download as it begins; must neither wait nor throw. */
  readonly onDownload?: ((download: Download) => void) | undefined
  /**
   * Whether the caller may use a module or provider; where not, it looks as if there were none. Default: everybody may.
   *
   * @throws RegistryError Unauthenticated, Forbidden or Unavailable, which become the answer
   */
  readonly mayRead?:
    | ((
        c: Context<ServingEnv>,
        kind: ParentKind,
        namespace: string,
        name: string,
      ) => boolean | Promise<boolean>)
    | undefined
  /**
   * As `mayRead`, where that is known without waiting. False: `mayRead` has to be asked, and nothing has been counted yet.
   * Default: everybody may.
   */
  readonly mayReadNow?:
    | ((request: PlainRequest, kind: ParentKind, namespace: string, name: string) => boolean)
    | undefined
  /** Whether answers differ by caller, which caches have to know. Default: no. */
  readonly answersDiffer?: boolean | undefined
  /** What discovery says of logging in, as soon as that is known; the same object for as long as it says the same. Default: there is no login. */
  readonly login?: (() => Login | undefined) | undefined
}
