import type { ModuleConfig, ProviderConfig } from '../../api/v1alpha1/v1alpha1.ts'
import type { ArchiveLimits } from '../../archives/archive/archive.ts'
import type { SpoolFile } from '../../archives/spool/spool.ts'
import type { ModuleAddress } from './go-getter.ts'

/** The part of a module's config that says where the module comes from. */
export type ModuleOrigin = Pick<
  ModuleConfig,
  'name' | 'provider' | 'repoOwner' | 'repoUrl' | 'githubClientConfig' | 'source'
>

/** The part of a provider's config that says where the provider comes from. */
export interface ProviderOrigin
  extends Partial<
    Pick<ProviderConfig, 'name' | 'namespace' | 'upstreamHost' | 'signature' | 'trustedKeys'>
  > {
  /** A Secret with a token for the registry. */
  readonly secretRef?: { readonly name: string } | undefined
}

/** A version as an upstream lists it. */
export interface UpstreamVersion {
  /** Without the tag prefix and without `v`. */
  readonly version: string
  /** The tag or version to ask the upstream for. */
  readonly ref: string
  /** The commit that the ref points to, if the list names it. */
  readonly commit?: string | undefined
  /** When it was published, RFC 3339: set by the host, not by authors. */
  readonly publishedAt?: string | undefined
}

export interface UpstreamListing<V> {
  readonly versions: readonly V[]
  /** How many names were not versions. */
  readonly skipped: number
  /** Whether the upstream said that nothing changed since the last request. */
  readonly unchanged: boolean
  /** How far the clock of the host is ahead of this one, in milliseconds; undefined if it did not say. */
  readonly skewMs?: number | undefined
  /** SPDX id of the licence; undefined if the host names none, or if it was not asked. */
  readonly licence?: string | undefined
}

export interface UpstreamOptions {
  readonly signal: AbortSignal
  /** Whether a person waits: such requests continue when little of a rate limit is left. */
  readonly urgent?: boolean | undefined
  /** Maximum age of a list that is returned without asking, in milliseconds. Default: 0. */
  readonly maxAgeMs?: number | undefined
  /** Maximum age of a list that does not have the wanted version, in milliseconds. Default: 0. */
  readonly maxIncompleteAgeMs?: number | undefined
  /** Tells for which versions to ask for the date of publication, too. Default: for none. */
  readonly datesOf?: ((version: string) => boolean) | undefined
  /** Whether to ask for the licence too. Default: false. */
  readonly needsLicence?: boolean | undefined
}

/** A version as the upstream has it now. */
export interface ResolvedVersion {
  readonly version: string
  readonly ref: string
  /** For the status: `v1.2.3@sha1:...`. Changes with the content, as far as that is known without a download. */
  readonly revision: string
  /** Place of that content, if a registry names it. */
  readonly place?: ModuleAddress
}

export interface FetchOptions {
  readonly signal: AbortSignal
  readonly urgent?: boolean | undefined
  /** Called once if the file does not fit into the spool yet. */
  readonly onWaiting?: (() => void) | undefined
  /** Maximum size of the packed archive, and the option that raises it. */
  readonly limits: Pick<ArchiveLimits, 'kind' | 'packedBytes'>
}

/** A file in the spool. The caller removes it. */
export interface FetchedFile {
  readonly file: SpoolFile
  readonly sizeBytes: number
  /** Hexadecimal. */
  readonly sha256: string
}

export interface FetchedArchive extends FetchedFile {
  readonly revision: string
  /** The folder of the module in the archive, below the folder that wraps everything. */
  readonly path?: string | undefined
}

export interface ModuleUpstream {
  /** Names the place: part of the key of a stored archive. Printable, without credentials. */
  readonly identity: string
  /** The label of metrics. */
  readonly type: 'github' | 'git' | 'archive' | 'registry'
  /** @throws FillError */
  list(options: UpstreamOptions): Promise<UpstreamListing<UpstreamVersion>>
  /** @param version with or without `v` @throws FillError NotFound and others */
  resolve(version: string, options: UpstreamOptions): Promise<ResolvedVersion>
  /** @throws FillError */
  fetch(resolved: ResolvedVersion, options: FetchOptions): Promise<FetchedArchive>
  /** Host that is asked in place of that of the repository. */
  readonly apiHost?: string
  /** Whether everybody may read it, if the host can be asked. True without a credential. @throws FillError */
  isPublic?(options: UpstreamOptions): Promise<boolean>
  /** Reads one file, if the host can be asked for one. @returns undefined if it is missing @throws FillError */
  file?(
    resolved: ResolvedVersion,
    path: string,
    options: UpstreamOptions & { readonly maxBytes: number },
  ): Promise<Buffer | undefined>
}

export interface Platform {
  readonly os: string
  readonly arch: string
}

export interface UpstreamProviderVersion {
  /** Without `v`. */
  readonly version: string
  readonly protocols: readonly string[]
  readonly platforms: readonly Platform[]
  /** When it was published, RFC 3339, as its registry says. */
  readonly publishedAt?: string | undefined
}

/** The key that signed a list of checksums. */
export interface ReleaseSigner {
  /** Fingerprint of the primary key: 40 upper-case hexadecimal digits, 64 for a version 6 key. */
  readonly fingerprint: string
  /** The last 16 digits of the fingerprint. */
  readonly keyId: string
  /** Whether `trustedKeys` holds the key; false if there are no `trustedKeys`. */
  readonly trusted: boolean
}

/** One version and platform as an upstream has it, with documents whose signature was verified. */
export interface ProviderRelease {
  readonly version: string
  readonly platform: Platform
  readonly protocols: readonly string[]
  /** Name of the archive, a single path segment. */
  readonly fileName: string
  /** Digest of the archive, hexadecimal: the package answer and the list of checksums agree on it. */
  readonly shasum: string
  readonly downloadUrl: string
  /** SHA256SUMS, byte for byte. */
  readonly shasums: Buffer
  readonly signatureState: 'Verified' | 'Unsigned'
  /** Binary, detached; converted if the upstream has an armored signature. */
  readonly signature?: Buffer | undefined
  /** The public key of the signer, armored. */
  readonly key?: string | undefined
  readonly signer?: ReleaseSigner | undefined
  /** `zh:` of the archives of every platform, by `os_arch`. */
  readonly hashes: ReadonlyMap<string, string>
  /** Names the archive: `sha256:...`. */
  readonly revision: string
}

export interface FetchedProvider extends FetchedArchive {
  readonly fileName: string
}

export interface ProviderUpstream {
  readonly identity: string
  readonly type: 'registry'
  readonly host: string
  /** `host/namespace/type`. */
  readonly address: string
  /** @throws FillError */
  list(options: UpstreamOptions): Promise<UpstreamListing<UpstreamProviderVersion>>
  /**
   * Reads the digests of a version's archives by file name, which no signature has to confirm: a difference is only worth a
   * closer look.
   *
   * @throws FillError
   */
  sums(
    version: string,
    platform: Platform,
    options: UpstreamOptions,
  ): Promise<ReadonlyMap<string, string>>
  /** The web page of the source repository; undefined if nobody knows it. @throws FillError */
  sourceRepository(options: UpstreamOptions): Promise<string | undefined>
  /** @param version with or without `v` @throws FillError Unsigned, SignatureInvalid, SigningKeyChanged and others */
  release(version: string, platform: Platform, options: UpstreamOptions): Promise<ProviderRelease>
  /** @throws FillError ChecksumMismatch if the bytes are not the signed ones */
  fetch(release: ProviderRelease, options: FetchOptions): Promise<FetchedProvider>
}
