import * as z from 'zod'
import { type EgressAnswer, shownUrl } from '../egress/egress.ts'
import { shortHash } from './archive.ts'
import type { Discovery } from './discovery.ts'
import { SourceError } from './errors.ts'
import type { Git } from './git.ts'
import { type ModuleAddress, moduleAddress } from './go-getter.ts'
import type { ListingCache } from './listing-cache.ts'
import type {
  FetchedArchive,
  FetchOptions,
  Listing,
  ListOptions,
  ModuleSource,
  Resolved,
  UpstreamVersion,
} from './module-source.ts'
import { resolveFromList, versionFrom } from './resolve.ts'
import type { Access } from './secrets.ts'
import { bareVersion } from './tags.ts'
import { etagOf, parseJson, type Upstream, unexpected } from './upstream.ts'

export interface RegistryModuleOptions {
  readonly upstream: Upstream
  readonly cache: ListingCache
  readonly discovery: Discovery
  readonly git: Git
  readonly host: string
  /** `namespace/name/system`. */
  readonly address: string
  readonly path: string | undefined
  /** Sent to the registry, and to no place that it names. */
  readonly access: () => Promise<Access>
}

const Versions = z.object({
  modules: z
    .array(z.object({ versions: z.array(z.object({ version: z.string().max(256) })).max(20_000) }))
    .min(1),
})

const Kept = z.object({ etag: z.string().optional(), versions: z.array(z.string()) })

const Location = z.object({ location: z.string().optional() })

/** A module of a registry that speaks the module protocol. */
export function registryModuleSource(options: RegistryModuleOptions): ModuleSource {
  return new RegistryModuleSource(options)
}

class RegistryModuleSource implements ModuleSource {
  readonly identity: string
  readonly type = 'registry'
  readonly #options: RegistryModuleOptions

  constructor(options: RegistryModuleOptions) {
    this.#options = options
    this.identity = `registry:${options.host}/${options.address}`
  }

  async list(options: ListOptions): Promise<Listing> {
    const access = await this.#options.access()
    const key = `${this.identity} ${access.credential?.id ?? ''}`
    const { value, unchanged } = await this.#options.cache.get(
      key,
      Kept,
      options,
      async (former) => {
        const headers = former?.etag === undefined ? {} : { 'if-none-match': former.etag }
        const answer = await this.#ask('versions', access, options, headers)
        if (answer.status === 304 && former !== undefined) return { value: former, unchanged: true }
        if (answer.status !== 200) throw unexpected(answer)
        const [module] = parseJson(answer, Versions).modules
        const versions = (module?.versions ?? []).map(({ version }) => version)
        return { value: { versions, ...etagOf(answer) }, unchanged: false }
      },
    )
    const versions = value.versions.flatMap((text): UpstreamVersion[] => {
      const version = bareVersion(text)
      return version === undefined ? [] : [{ version, ref: text }]
    })
    return { versions, skipped: value.versions.length - versions.length, unchanged }
  }

  async resolve(text: string, options: ListOptions): Promise<Resolved> {
    const version = versionFrom(text)
    const { ref } = await resolveFromList(this, version, options)
    const address = await this.#locate(ref, options)
    const isCommit = address.kind === 'git' && /^[0-9a-f]{40}$/.test(address.ref ?? '')
    const named =
      address.kind === 'git' ? `${address.url} ${address.ref ?? ''}` : shownUrl(address.url)
    const mark = isCommit ? `sha1:${address.ref}` : `mark:${shortHash(named)}`
    return { version, ref, revision: `${version}@${mark}` }
  }

  async fetch(resolved: Resolved, options: FetchOptions): Promise<FetchedArchive> {
    const address = await this.#locate(resolved.ref, options)
    const path = joined(address.path, this.#options.path)
    const { revision } = resolved
    if (address.kind === 'git') {
      const wanted = { url: address.url, ref: address.ref ?? 'HEAD', namedByUpstream: true }
      return { ...(await this.#options.git.fetch(wanted, options)), revision, path }
    }
    const { signal, urgent } = options
    const request = { signal, urgent, namedByUpstream: true }
    const { file, download } = await this.#options.upstream.fetch(
      address.url,
      this.type,
      request,
      options,
    )
    const { sizeBytes, sha256 } = download
    if (address.sha256 !== undefined && address.sha256 !== sha256) {
      await file.remove()
      throw new SourceError(
        'ChecksumMismatch',
        `${shownUrl(address.url)} has not the checksum that ${this.identity} names`,
      )
    }
    return { file, sizeBytes, sha256, revision, path }
  }

  async #locate(ref: string, options: ListOptions): Promise<ModuleAddress> {
    const access = await this.#options.access()
    const answer = await this.#ask(`${encodeURIComponent(ref)}/download`, access, options)
    if (answer.status !== 200 && answer.status !== 204) throw unexpected(answer)
    const header = answer.header('x-terraform-get')
    const location = header ?? (answer.body.length > 0 ? parseJson(answer, Location).location : '')
    if (location) return moduleAddress(location, answer.url.href)
    throw new SourceError('FetchFailed', `${shownUrl(answer.url)} does not say where the module is`)
  }

  async #ask(
    what: string,
    access: Access,
    options: ListOptions,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<EgressAnswer> {
    const { upstream, discovery, host, address } = this.#options
    const service = await discovery.find(host, 'modules.v1', access.ca, options)
    const { signal, urgent } = options
    // A service elsewhere was not what the credential is for.
    const isOwn = new URL(service).host === host
    return upstream.ask(`${service}${address}/${what}`, {
      headers,
      signal,
      urgent,
      ca: access.ca,
      ...(isOwn && { credential: access.credential }),
    })
  }
}

function joined(outer: string | undefined, inner: string | undefined): string | undefined {
  if (outer === undefined || inner === undefined) return outer ?? inner
  return `${outer}/${inner}`
}
