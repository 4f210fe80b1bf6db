import type { FetchedArchive, FetchOptions, ListOptions } from './module-source.ts'

/** What a provider's config says about where it comes from. */
export interface ProviderOrigin {
  /** The type: `aws`. */
  readonly name?: string | undefined
  /** Default: hashicorp. */
  readonly namespace?: string | undefined
  /** Default: the first of the upstream hosts. */
  readonly upstreamHost?: string | undefined
  /** Default: Required. */
  readonly signature?: 'Required' | 'IfPresent' | undefined
  /** Fingerprints or armored keys. Where there are any, the signer must be among them. */
  readonly trustedKeys?: readonly string[] | undefined
  /** A Secret with a token for a registry that asks for one. */
  readonly secretRef?: { readonly name: string } | undefined
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
}

export interface ProviderListing {
  readonly versions: readonly UpstreamProviderVersion[]
  readonly skipped: number
  readonly unchanged: boolean
}

/** Who signed a list of checksums. */
export interface ReleaseSigner {
  /** Of the primary key: 40 upper-case hexadecimal digits, 64 for a version 6 key. */
  readonly fingerprint: string
  /** The last 16 of them. */
  readonly keyId: string
  /** Whether it is among `trustedKeys`; false as well where there are none. */
  readonly trusted: boolean
}

/** What an upstream says of one version and platform, with documents whose signature was verified. */
export interface ProviderRelease {
  readonly version: string
  readonly platform: Platform
  readonly protocols: readonly string[]
  /** Of the archive, a single path segment. */
  readonly fileName: string
  /** Of the archive, hexadecimal: what the package answer and the list of checksums agree on. */
  readonly shasum: string
  readonly downloadUrl: string
  /** SHA256SUMS, byte for byte. */
  readonly shasums: Buffer
  readonly signatureState: 'Verified' | 'Unsigned'
  /** Binary, detached; converted where the upstream had an armored one. */
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
  /** @throws SourceError */
  list(options: ListOptions): Promise<ProviderListing>
  /** @param version with or without `v` @throws SourceError Unsigned, SignatureInvalid, SigningKeyChanged and others */
  release(version: string, platform: Platform, options: ListOptions): Promise<ProviderRelease>
  /** @throws SourceError ChecksumMismatch where the bytes are not those that were signed */
  fetch(release: ProviderRelease, options: FetchOptions): Promise<FetchedProvider>
}
