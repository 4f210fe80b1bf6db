import { hash } from 'node:crypto'
import * as z from 'zod'
import { SharedResults } from '../../base/memory/memory.ts'
import type { Clock } from '../../base/pacing/pacing.ts'
import { type EgressAnswer, shownUrl } from '../egress/egress.ts'
import { expectStatus, FillError, parseJson } from './errors.ts'
import { bareVersion, versionFrom } from './listings.ts'
import { RegistryClient, type UpstreamRegistryOptions } from './registry.ts'
import { archiveHashes, readShasums, verifySignature } from './signatures.ts'
import type {
  FetchedProvider,
  FetchOptions,
  Platform,
  ProviderRelease,
  ProviderUpstream,
  UpstreamListing,
  UpstreamOptions,
  UpstreamProviderVersion,
} from './types.ts'

const documentBytes = 1024 * 1024
const signatureBytes = 256 * 1024

/** Documents that all platforms of a version share, by URL. */
type Documents = SharedResults<Buffer>

export const openDocuments = (clock: Clock): Documents =>
  new SharedResults({ maxEntries: 100, clock })

export interface RegistryProviderOptions extends UpstreamRegistryOptions {
  readonly documents: Documents
  readonly namespace: string
  /** `aws` of `hashicorp/aws`. */
  readonly providerType: string
  readonly signature: 'Required' | 'IfPresent'
  readonly trustedKeys: readonly string[]
  /** How a person accepts a release without a signature. */
  readonly unsignedRemedy: string
  readonly clock: Clock
}

const word = /^[a-z0-9]{1,32}$/
const Protocols = z.array(z.string().max(16)).max(20).nullish()

const Versions = z.object({
  versions: z
    .array(
      z.object({
        version: z.string().max(256),
        protocols: Protocols,
        platforms: z
          .array(z.object({ os: z.string().max(64), arch: z.string().max(64) }))
          .max(200)
          .nullish(),
      }),
    )
    .max(20_000),
})

const Package = z.object({
  protocols: Protocols,
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

const Detail = z.object({ source: z.string().max(2048).nullish() })

/** The package answer of a registry, and the URL that its own URLs are relative to. */
interface Offer extends z.infer<typeof Package> {
  readonly base: URL
}

/** A provider of a registry that speaks the provider protocol. */
export class RegistryProvider implements ProviderUpstream {
  readonly identity: string
  readonly type = 'registry'
  readonly host: string
  readonly address: string
  readonly #options: RegistryProviderOptions
  readonly #registry: RegistryClient

  constructor(options: RegistryProviderOptions) {
    const { host, namespace, providerType } = options
    this.#options = options
    this.#registry = new RegistryClient(options, 'providers.v1', `${namespace}/${providerType}`)
    this.host = host
    this.address = `${host}/${namespace}/${providerType}`
    this.identity = `provider:${this.address}`
  }

  async list(options: UpstreamOptions): Promise<UpstreamListing<UpstreamProviderVersion>> {
    const { value, unchanged } = await this.#registry.versions(this.identity, Versions, options)
    const listed = value.versions.flatMap(({ version: text, protocols, platforms }) => {
      const version = bareVersion(text)
      if (version === undefined) return []
      const known = (platforms ?? []).filter(({ os, arch }) => word.test(os) && word.test(arch))
      return [{ version, protocols: protocolsIn(protocols), platforms: known }]
    })
    const { published, namespace, providerType, upstream } = this.#options
    const address = `${namespace}/${providerType}`
    const asked = { identity: this.identity, registry: this.#registry, versions: listed, address }
    const dates = await published.ofProvider(asked, options)
    const versions = listed.map((one) => ({ ...one, publishedAt: dates.get(one.version) }))
    const skipped = value.versions.length - versions.length
    return { versions, skipped, unchanged, skewMs: upstream.skewMs(this.host) }
  }

  async sums(
    version: string,
    platform: Platform,
    options: UpstreamOptions,
  ): Promise<ReadonlyMap<string, string>> {
    const offer = await this.#offer(versionFrom(version), platform, options)
    const sums = readShasums(await this.#shasums(offer, options))
    return sums.set(offer.filename, offer.shasum.toLowerCase())
  }

  /** OpenTofu's registry only answers about versions. */
  async sourceRepository(options: UpstreamOptions): Promise<string | undefined> {
    const answer = await this.#registry.ask('', options)
    if (answer.status === 404) return conventionalRepository(this.#options)
    const { source } = parseJson(expectStatus(answer, 200), Detail)
    const url = URL.parse(source ?? '')
    const isPage = url?.protocol === 'https:' && url.username === '' && url.password === ''
    return isPage ? url.href : conventionalRepository(this.#options)
  }

  async release(
    text: string,
    platform: Platform,
    options: UpstreamOptions,
  ): Promise<ProviderRelease> {
    const version = versionFrom(text)
    const offer = await this.#offer(version, platform, options)
    const shasums = await this.#shasums(offer, options)
    const sums = readShasums(shasums)
    const shasum = offer.shasum.toLowerCase()
    if (sums.get(offer.filename) !== shasum) {
      throw new FillError(
        'ChecksumMismatch',
        `${this.identity} ${version}: the package answer and SHA256SUMS do not agree on ${offer.filename}`,
      )
    }
    return {
      version,
      platform,
      protocols: protocolsIn(offer.protocols),
      fileName: offer.filename,
      shasum,
      downloadUrl: absolute(offer.download_url, offer),
      shasums,
      ...(await this.#verified(shasums, offer, options)),
      hashes: archiveHashes(sums, this.#options.providerType, version),
      revision: `sha256:${shasum}`,
    }
  }

  async fetch(release: ProviderRelease, options: FetchOptions): Promise<FetchedProvider> {
    const { downloadUrl, fileName, shasum, revision } = release
    const request = { namedByUpstream: true }
    const fetched = await this.#options.upstream.fetch(downloadUrl, this.type, options, request)
    const { file, sha256 } = fetched
    if (sha256 === shasum) return { ...fetched, fileName, revision }
    await file.remove()
    throw new FillError(
      'ChecksumMismatch',
      `${shownUrl(downloadUrl)} has SHA-256 ${sha256.slice(0, 16)}…, and ${shasum.slice(0, 16)}… was signed`,
    )
  }

  /** The package answer. */
  async #offer(version: string, { os, arch }: Platform, options: UpstreamOptions): Promise<Offer> {
    if (!word.test(os) || !word.test(arch)) {
      throw new FillError('InvalidSpec', `"${os}_${arch}" is not a platform, such as linux_amd64`)
    }
    const answer = await this.#registry.ask(`${version}/download/${os}/${arch}`, options)
    const offer = { ...parseJson(expectStatus(answer, 200), Package), base: answer.url }
    if (offer.os === os && offer.arch === arch) return offer
    throw new FillError('FetchFailed', `${shownUrl(answer.url)} answers for another platform`)
  }

  #shasums(offer: Offer, options: UpstreamOptions): Promise<Buffer> {
    return this.#document(offer.shasums_url, offer, options, documentBytes)
  }

  /** Verifies the signature of the list of checksums. */
  async #verified(
    shasums: Buffer,
    offer: Offer,
    options: UpstreamOptions,
  ): Promise<Pick<ProviderRelease, 'signatureState' | 'signature' | 'key' | 'signer'>> {
    const { trustedKeys, clock } = this.#options
    const url = offer.shasums_signature_url ?? ''
    if (url === '') {
      if (this.#options.signature === 'IfPresent') return { signatureState: 'Unsigned' }
      throw new FillError(
        'Unsigned',
        `${this.identity} is not signed: ${this.#options.unsignedRemedy}`,
      )
    }
    const signature = await this.#document(url, offer, options, signatureBytes)
    const keys = offer.signing_keys?.gpg_public_keys ?? []
    const offered = keys.map(({ ascii_armor }) => ascii_armor)
    const input = { shasums, signature, offered, trustedKeys, nowMs: clock() }
    return { signatureState: 'Verified', ...(await verifySignature(input)) }
  }

  /** Reads a document once for the platforms of a version, which ask for it at about the same time. */
  async #document(
    url: string,
    offer: Offer,
    { signal, urgent }: UpstreamOptions,
    maxBytes: number,
  ): Promise<Buffer> {
    const { documents, upstream } = this.#options
    const href = absolute(url, offer)
    const key = hash('sha256', `${this.identity} ${href}`)
    const ask = () =>
      upstream
        .ask(href, { signal, urgent, namedByUpstream: true, maxBytes })
        .then((answer: EgressAnswer) => expectStatus(answer, 200).body)
    return documents.get(key, ask, { isFresh: urgent === true })
  }
}

const publicHosts: ReadonlySet<string> = new Set(['registry.terraform.io', 'registry.opentofu.org'])

/** Public registries take only providers from GitHub whose repository has such a name. */
export function conventionalRepository({
  host,
  namespace,
  providerType,
}: Pick<RegistryProviderOptions, 'host' | 'namespace' | 'providerType'>): string | undefined {
  if (!publicHosts.has(host)) return undefined
  return `https://github.com/${namespace}/terraform-provider-${providerType}`
}

function absolute(url: string, { base }: Offer): string {
  const parsed = URL.parse(url, base.href)
  if (parsed !== null) return parsed.href
  throw new FillError('FetchFailed', `${shownUrl(base)} names a URL that cannot be read`)
}

const protocolsIn = (protocols: z.infer<typeof Protocols>): string[] =>
  (protocols ?? []).filter((one) => /^\d+(\.\d+)?$/.test(one))
