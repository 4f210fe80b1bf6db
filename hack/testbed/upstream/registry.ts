import { createHash } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { answer, Faults, type StandInAnswer } from './faults.ts'
import { type HttpsServer, serveHttps, type UpstreamAuthority } from './https-server.ts'
import type { UpstreamKey } from './signing-keys.ts'

export interface UpstreamProvider {
  /** `acme/dns`. */
  readonly address: string
  readonly version: string
  readonly protocols?: readonly string[]
  /** The source repository that the registry names. Default: the registry has no such answer. */
  readonly source?: string
  /** Zips by `os_arch`. */
  readonly platforms: Readonly<Record<string, Buffer>>
  /** RFC 3339. Default: the registry does not tell. */
  readonly publishedAt?: string
  readonly key?: UpstreamKey | undefined
  /** Default: a binary signature by `key`. */
  readonly sign?: (shasums: string) => Buffer
}

export interface UpstreamModule {
  /** `acme/vpc/aws`. */
  readonly address: string
  readonly version: string
  /** A tar.gz that is served here. */
  readonly archive?: Buffer
  /** The location to answer instead. */
  readonly location?: string
  /** Puts the location into a body instead of the header. */
  readonly inBody?: boolean
  /** RFC 3339. Default: the registry does not tell. */
  readonly publishedAt?: string
}

/**
 * A registry of modules and providers, with its archives and documents on a second host, where no token may come.
 *
 * Not imitated: pages of lists, search, download counts, redirects of discovery, keys with trust signatures,
 * several signing keys of one provider, compressed answers, and the caches in front of public registries.
 */
export class UpstreamRegistry {
  readonly faults = new Faults()
  /** Tokens that were sent to the wrong host. */
  readonly leaks: string[] = []
  readonly #providers: UpstreamProvider[] = []
  readonly #modules: UpstreamModule[] = []
  readonly #registry: HttpsServer
  readonly #downloads: HttpsServer
  /** By default everyone may read. */
  token: string | undefined
  /** Whether it has an answer with all versions of a provider, as registry.terraform.io has. */
  hasProviderVersions = false

  private constructor(registry: HttpsServer, downloads: HttpsServer) {
    this.#registry = registry
    this.#downloads = downloads
  }

  static async start(authority: UpstreamAuthority): Promise<UpstreamRegistry> {
    const started: UpstreamRegistry[] = []
    const serve = (
      name: string,
      of: (one: UpstreamRegistry, url: string) => Partial<StandInAnswer>,
    ) =>
      serveHttps(authority, name, async (incoming, outgoing) => {
        await Promise.all(started.map((one) => one.#answer(incoming, outgoing, of)))
      })
    const registry = await serve('registry', (one, url) => one.#ofRegistry(url))
    const downloads = await serve('downloads', (one, url) => one.#ofDownloads(url))
    const one = new UpstreamRegistry(registry, downloads)
    started.push(one)
    return one
  }

  get host(): string {
    return this.#registry.host
  }

  get downloadHost(): string {
    return this.#downloads.host
  }

  /** Paths that were asked for, of both hosts. */
  get asked(): string[] {
    return [...this.#registry.seen, ...this.#downloads.seen].map(({ url }) => url)
  }

  /** Replaces what had the same address and version. */
  addProvider(provider: UpstreamProvider): void {
    const { key } = provider
    const shasums = shasumsOf(provider)
    // Signed now: the key may be another one later.
    const signature = provider.sign?.(shasums) ?? key?.sign(shasums)
    replace(this.#providers, { ...provider, ...(signature && { sign: () => signature }) })
  }

  addModule(module: UpstreamModule): void {
    replace(this.#modules, module)
  }

  removeModule(address: string, version: string): void {
    const kept = this.#modules.filter((one) => one.address !== address || one.version !== version)
    this.#modules.splice(0, Infinity, ...kept)
  }

  async close(): Promise<void> {
    await Promise.all([this.#registry.close(), this.#downloads.close()])
  }

  async #answer(
    incoming: IncomingMessage,
    outgoing: ServerResponse,
    of: (one: UpstreamRegistry, url: string) => Partial<StandInAnswer>,
  ): Promise<void> {
    const { url = '', headers } = incoming
    const isDownload = incoming.headers.host === this.#downloads.host
    const { authorization } = headers
    const isLeak = isDownload && authorization !== undefined
    if (isLeak) this.leaks.push(url)
    const isOpen = isDownload || this.token === undefined || url.startsWith('/.well-known/')
    const isAllowed = isOpen || authorization === `Bearer ${this.token}`
    const allowed = isAllowed ? of(this, url) : { status: 401, body: Buffer.from('no') }
    const found: Partial<StandInAnswer> = isLeak ? { status: 400 } : allowed
    const etag = `"${sha256(found.body ?? Buffer.alloc(0)).slice(0, 16)}"`
    const isSame = found.status === undefined && headers['if-none-match'] === etag
    const tagged = { ...found, headers: { etag, ...found.headers } }
    await answer(outgoing, this.faults.for(url), isSame ? { status: 304 } : tagged)
  }

  #ofRegistry(url: string): Partial<StandInAnswer> {
    if (url === '/.well-known/terraform.json') {
      const [modules, providers] = ['/v1/modules/', '/v1/providers/']
      // With another service, as registries have, damage in the middle hits the modules.
      return json({ 'state.v2': '/state/', 'modules.v1': modules, 'providers.v1': providers })
    }
    const [, kind, address = '', rest = ''] =
      /^\/v1\/(modules\/(?=(?:[^/]+\/){3})|providers\/)((?:[^/]+\/)+?)(versions|[^/]+|[^/]+\/download.*)$/.exec(
        url,
      ) ?? []
    const [, provider] = /^\/v1\/providers\/([^/]+\/[^/]+)$/.exec(url) ?? []
    if (provider !== undefined) return this.#ofProvider(provider)
    const [, inDetail] =
      /^\/v2\/providers\/([^/]+\/[^/]+)\?include=provider-versions$/.exec(url) ?? []
    if (inDetail !== undefined && this.hasProviderVersions) return this.#providerVersions(inDetail)
    const bare = address.replace(/\/$/, '')
    return kind === 'modules/' ? this.#ofModules(bare, rest) : this.#ofProviders(bare, rest)
  }

  #ofModules(address: string, rest: string): Partial<StandInAnswer> {
    const known = this.#modules.filter((one) => one.address === address)
    if (known.length === 0) return missing
    if (rest === 'versions') {
      return json({ modules: [{ versions: known.map(({ version }) => ({ version })) }] })
    }
    const dated = known.find(({ version }) => rest === version)
    if (dated?.publishedAt !== undefined) return json({ published_at: dated.publishedAt })
    const module = known.find(({ version }) => rest === `${version}/download`)
    if (module === undefined) return missing
    const file = `${address.replaceAll('/', '-')}-${module.version}.tar.gz`
    const place = module.location ?? `${this.#downloads.origin}/modules/${file}?archive=tar.gz`
    if (module.inBody === true) return json({ location: place })
    return { status: 204, headers: { 'x-terraform-get': place } }
  }

  #ofProvider(address: string): Partial<StandInAnswer> {
    const named = this.#providers.find((one) => one.address === address && one.source !== undefined)
    return named === undefined ? missing : json({ id: address, source: named.source })
  }

  #providerVersions(address: string): Partial<StandInAnswer> {
    const known = this.#providers.filter((one) => one.address === address)
    const included = known.map(({ version, publishedAt }) => ({
      type: 'provider-versions',
      attributes: { version, 'published-at': publishedAt },
    }))
    return json({ data: { type: 'providers' }, included })
  }

  #ofProviders(address: string, rest: string): Partial<StandInAnswer> {
    const known = this.#providers.filter((one) => one.address === address)
    if (known.length === 0) return missing
    if (rest === 'versions') {
      const versions = known.map(({ version, protocols, platforms }) => ({
        version,
        protocols: protocols ?? ['5.0'],
        platforms: Object.keys(platforms).map(platformOf),
      }))
      return json({ versions })
    }
    const dated = known.find(({ version }) => rest === version)
    if (dated?.publishedAt !== undefined) return json({ published_at: dated.publishedAt })
    const [, version, os, arch] = /^([^/]+)\/download\/([^/]+)\/([^/]+)$/.exec(rest) ?? []
    const provider = known.find((one) => one.version === version)
    const archive = provider?.platforms[`${os}_${arch}`]
    if (provider === undefined || archive === undefined) return missing
    const base = `${this.#downloads.origin}/providers/${stemOf(provider)}`
    const hasSignature = provider.sign !== undefined
    return json({
      protocols: provider.protocols ?? ['5.0'],
      os,
      arch,
      filename: `${stemOf(provider)}_${os}_${arch}.zip`,
      download_url: `${base}_${os}_${arch}.zip`,
      shasum: sha256(archive),
      shasums_url: `${base}_SHA256SUMS`,
      ...(hasSignature && { shasums_signature_url: `${base}_SHA256SUMS.sig` }),
      signing_keys: { gpg_public_keys: provider.key ? [offered(provider.key)] : [] },
    })
  }

  #ofDownloads(url: string): Partial<StandInAnswer> {
    const path = url.replace(/\?.*$/, '')
    for (const { address, version, archive } of this.#modules) {
      const file = `/modules/${address.replaceAll('/', '-')}-${version}.tar.gz`
      if (path === file && archive !== undefined) return { body: archive }
    }
    for (const provider of this.#providers) {
      const base = `/providers/${stemOf(provider)}_`
      if (!path.startsWith(base)) continue
      const file = path.slice(base.length)
      const shasums = shasumsOf(provider)
      if (file === 'SHA256SUMS') return { body: Buffer.from(shasums) }
      if (file === 'SHA256SUMS.sig') {
        const signature = provider.sign?.(shasums)
        return signature === undefined ? missing : { body: signature }
      }
      const archive = provider.platforms[file.replace(/\.zip$/, '')]
      if (archive !== undefined) return { body: archive }
    }
    return missing
  }
}

const missing = { status: 404, body: Buffer.from('{"errors":["Not Found"]}') }

const sha256 = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex')

const platformOf = (platform: string) => {
  const [os = '', arch = ''] = platform.split('_')
  return { os, arch }
}

const stemOf = ({ address, version }: UpstreamProvider): string =>
  `terraform-provider-${address.split('/')[1]}_${version}`

/** As the upstream's SHA256SUMS has them. */
export function shasumsOf(provider: UpstreamProvider): string {
  return Object.entries(provider.platforms)
    .map(([platform, archive]) => `${sha256(archive)}  ${stemOf(provider)}_${platform}.zip\n`)
    .toSorted()
    .join('')
}

const offered = ({ fingerprint, armored }: UpstreamKey) => ({
  key_id: fingerprint.slice(-16),
  ascii_armor: armored,
  trust_signature: '',
  source: '',
})

function json(value: object): Partial<StandInAnswer> {
  return {
    headers: { 'content-type': 'application/json' },
    body: Buffer.from(JSON.stringify(value)),
  }
}

function replace<T extends { readonly address: string; readonly version: string }>(
  all: T[],
  one: T,
): void {
  const index = all.findIndex(
    ({ address, version }) => address === one.address && version === one.version,
  )
  if (index === -1) all.push(one)
  else all[index] = one
}
