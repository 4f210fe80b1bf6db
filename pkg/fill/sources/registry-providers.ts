import { createHash } from 'node:crypto'
import * as z from 'zod'
import { Bounded } from '../../base/memory/memory.ts'
import type { Clock } from '../../base/pacing/pacing.ts'
import { type EgressAnswer, shownUrl } from '../egress/egress.ts'
import type { Discovery } from './discovery.ts'
import { SourceError } from './errors.ts'
import type { ListingCache } from './listing-cache.ts'
import type { FetchOptions, ListOptions } from './module-source.ts'
import type {
  FetchedProvider,
  Platform,
  ProviderListing,
  ProviderRelease,
  ProviderUpstream,
  UpstreamProviderVersion,
} from './provider-upstream.ts'
import { versionFrom } from './resolve.ts'
import type { Access } from './secrets.ts'
import { archiveHashes, readShasums } from './shasums.ts'
import { verifySignature } from './signatures.ts'
import { bareVersion } from './tags.ts'
import { etagOf, parseJson, type Upstream, unexpected } from './upstream.ts'

const documentBytes = 1024 * 1024
const signatureBytes = 256 * 1024

export interface RegistryProviderOptions {
  readonly upstream: Upstream
  readonly cache: ListingCache
  readonly discovery: Discovery
  readonly documents: Documents
  readonly host: string
  readonly namespace: string
  /** `aws` of `hashicorp/aws`. */
  readonly providerType: string
  readonly signature: 'Required' | 'IfPresent'
  readonly trustedKeys: readonly string[]
  readonly access: () => Promise<Access>
  readonly clock: Clock
}

/** Documents that all platforms of a version share, by URL. */
export type Documents = Bounded<Promise<Buffer>>

export const openDocuments = (clock: Clock): Documents => new Bounded({ maxEntries: 100, clock })
const documentsMs = 2 * 60_000

const word = z.string().regex(/^[a-z0-9]{1,32}$/)
const Versions = z.object({
  versions: z
    .array(
      z.object({
        version: z.string().max(256),
        protocols: z.array(z.string().max(16)).max(20).nullish(),
        platforms: z
          .array(z.object({ os: z.string().max(64), arch: z.string().max(64) }))
          .max(200)
          .nullish(),
      }),
    )
    .max(20_000),
})
const Kept = z.object({ etag: z.string().optional(), versions: Versions.shape.versions })

const Package = z.object({
  protocols: z.array(z.string().max(16)).max(20).nullish(),
  os: z.string(),
  arch: z.string(),
  filename: z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._+-]{0,199}$/),
  download_url: z.string().min(1).max(4096),
  shasums_url: z.string().min(1).max(4096),
  shasums_signature_url: z.string().max(4096).nullish(),
  shasum: z.string().regex(/^[0-9a-fA-F]{64}$/),
  signing_keys: z
    .object({
      gpg_public_keys: z
        .array(z.object({ ascii_armor: z.string().max(1024 * 1024) }))
        .max(50)
        .nullish(),
    })
    .nullish(),
})
type Package = z.infer<typeof Package>

/** A provider of a registry that speaks the provider protocol. */
export function registryProvider(options: RegistryProviderOptions): ProviderUpstream {
  return new RegistryProvider(options)
}

class RegistryProvider implements ProviderUpstream {
  readonly identity: string
  readonly type = 'registry'
  readonly host: string
  readonly #options: RegistryProviderOptions

  constructor(options: RegistryProviderOptions) {
    const { host, namespace, providerType } = options
    this.#options = options
    this.host = host
    this.identity = `provider:${host}/${namespace}/${providerType}`
  }

  async list(options: ListOptions): Promise<ProviderListing> {
    const { cache } = this.#options
    const access = await this.#options.access()
    const key = `${this.identity} ${access.credential?.id ?? ''}`
    const { value, unchanged } = await cache.get(key, Kept, options, async (former) => {
      const headers = former?.etag === undefined ? {} : { 'if-none-match': former.etag }
      const answer = await this.#ask('versions', access, options, headers)
      if (answer.status === 304 && former !== undefined) return { value: former, unchanged: true }
      if (answer.status !== 200) throw unexpected(answer)
      const { versions } = parseJson(answer, Versions)
      return { value: { versions, ...etagOf(answer) }, unchanged: false }
    })
    const versions = value.versions.flatMap((one) => versionOf(one) ?? [])
    return { versions, skipped: value.versions.length - versions.length, unchanged }
  }

  async release(text: string, platform: Platform, options: ListOptions): Promise<ProviderRelease> {
    const version = versionFrom(text)
    const { os, arch } = platform
    if (!word.safeParse(os).success || !word.safeParse(arch).success) {
      throw new SourceError('InvalidSpec', `${os}_${arch} is no platform, such as linux_amd64`)
    }
    const access = await this.#options.access()
    const answer = await this.#ask(`${version}/download/${os}/${arch}`, access, options)
    if (answer.status !== 200) throw unexpected(answer)
    const offer = parseJson(answer, Package)
    if (offer.os !== os || offer.arch !== arch) {
      throw new SourceError('FetchFailed', `${shownUrl(answer.url)} answers for another platform`)
    }
    const shasums = await this.#document(offer.shasums_url, answer, options, documentBytes)
    const sums = readShasums(shasums)
    const shasum = offer.shasum.toLowerCase()
    if (sums.get(offer.filename) !== shasum) {
      throw new SourceError(
        'ChecksumMismatch',
        `${this.identity} ${version}: the package answer and SHA256SUMS do not agree on ${offer.filename}`,
      )
    }
    return {
      version,
      platform,
      protocols: protocolsOf(offer),
      fileName: offer.filename,
      shasum,
      downloadUrl: resolved(offer.download_url, answer),
      shasums,
      ...(await this.#verified(shasums, offer, answer, options)),
      hashes: archiveHashes(sums, this.#options.providerType, version),
      revision: `sha256:${shasum}`,
    }
  }

  async fetch(release: ProviderRelease, options: FetchOptions): Promise<FetchedProvider> {
    const { downloadUrl, fileName, shasum, revision } = release
    const { signal, urgent } = options
    const request = { signal, urgent, namedByUpstream: true }
    const { upstream } = this.#options
    const { file, download } = await upstream.fetch(downloadUrl, this.type, request, options)
    const { sizeBytes, sha256 } = download
    if (sha256 === shasum) return { file, sizeBytes, sha256, fileName, revision }
    await file.remove()
    throw new SourceError(
      'ChecksumMismatch',
      `${shownUrl(downloadUrl)} has SHA-256 ${sha256.slice(0, 16)}…, and ${shasum.slice(0, 16)}… was signed`,
    )
  }

  /** What is known of the signature of the list of checksums. */
  async #verified(
    shasums: Buffer,
    offer: Package,
    answer: EgressAnswer,
    options: ListOptions,
  ): Promise<Pick<ProviderRelease, 'signatureState' | 'signature' | 'key' | 'signer'>> {
    const { trustedKeys, clock } = this.#options
    const url = offer.shasums_signature_url
    if (url === undefined || url === null || url === '') {
      if (this.#options.signature === 'IfPresent') return { signatureState: 'Unsigned' }
      throw new SourceError(
        'Unsigned',
        `${this.identity} is not signed: set signature: IfPresent to take it nevertheless`,
      )
    }
    const signature = await this.#document(url, answer, options, signatureBytes)
    const offered = (offer.signing_keys?.gpg_public_keys ?? []).map(
      ({ ascii_armor }) => ascii_armor,
    )
    const input = { shasums, signature, offered, trustedKeys, nowMs: clock() }
    return { signatureState: 'Verified', ...(await verifySignature(input)) }
  }

  /** Shared by the platforms of a version, which ask for it at about the same time. */
  async #document(
    url: string,
    answer: EgressAnswer,
    { signal, urgent }: ListOptions,
    maxBytes: number,
  ): Promise<Buffer> {
    const { documents, upstream } = this.#options
    const href = resolved(url, answer)
    const key = createHash('sha256').update(`${this.identity} ${href}`).digest('hex')
    const known = documents.get(key)
    // Another caller may have given up; its reason is none for this one.
    if (known !== undefined) {
      const document = await known.catch(() => undefined)
      if (document !== undefined) return document
    }
    const asked = upstream
      .ask(href, { signal, urgent, namedByUpstream: true, maxBytes })
      .then((document) => {
        if (document.status !== 200) throw unexpected(document)
        return document.body
      })
    documents.set(key, asked, this.#options.clock() + documentsMs)
    asked.catch(() => documents.delete(key))
    return asked
  }

  async #ask(
    what: string,
    { ca, credential }: Access,
    options: ListOptions,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<EgressAnswer> {
    const { upstream, discovery, host, namespace, providerType } = this.#options
    const service = await discovery.find(host, 'providers.v1', ca, options)
    const { signal, urgent } = options
    // A service elsewhere was not what the credential is for.
    const isOwn = new URL(service).host === host
    return upstream.ask(`${service}${namespace}/${providerType}/${what}`, {
      headers,
      signal,
      urgent,
      ca,
      ...(isOwn && { credential }),
    })
  }
}

function resolved(url: string, { url: base }: EgressAnswer): string {
  const parsed = URL.parse(url, base.href)
  if (parsed !== null) return parsed.href
  throw new SourceError('FetchFailed', `${shownUrl(base)} names a URL that cannot be read`)
}

const protocolsOf = ({ protocols }: Pick<Package, 'protocols'>): string[] =>
  (protocols ?? []).filter((one) => /^\d+(\.\d+)?$/.test(one))

type Listed = z.infer<typeof Versions>['versions'][number]

function versionOf({
  version: text,
  protocols,
  platforms,
}: Listed): UpstreamProviderVersion | undefined {
  const version = bareVersion(text)
  if (version === undefined) return undefined
  return {
    version,
    protocols: protocolsOf({ protocols }),
    platforms: (platforms ?? []).filter(
      ({ os, arch }) => word.safeParse(os).success && word.safeParse(arch).success,
    ),
  }
}
