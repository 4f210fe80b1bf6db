import { createHash } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { gzipSync } from 'node:zlib'
import { tarOf, zipOf } from '../../archives/archive/packed.fixture.ts'
import type { Spool } from '../../archives/spool/spool.ts'
import {
  type FetchedArchive,
  FillError,
  type ModuleOrigin,
  type ModuleUpstream,
  type Platform,
  type ProviderOrigin,
  type ProviderUpstream,
  type ResolvedVersion,
  type Sources,
} from '../sources/sources.ts'

const hex = (text: string | Uint8Array) => createHash('sha256').update(text).digest('hex')

interface ProviderVersion {
  /** Text in its archives. */
  readonly text?: string
  /** Other files in its archives, by path. */
  readonly files?: Readonly<Record<string, string>>
  readonly platforms: readonly string[]
  /** Fingerprint of the key. */
  readonly signer?: string | undefined
}

/** The upstream in tests of reconcilers: repositories and providers that a test writes. */
export class TestUpstream implements Sources {
  /** Files by path, by version as it is spelled, by URL of the repository. */
  readonly repositories = new Map<string, Map<string, Readonly<Record<string, string>>>>()
  /** Versions by `namespace/type`. */
  readonly providers = new Map<string, Map<string, ProviderVersion>>()
  /** Source repositories that the registry names, by `namespace/type`. */
  readonly sources = new Map<string, string>()
  /** URLs of repositories that only their members may read. */
  readonly privates = new Set<string>()
  /** URLs of repositories that can be asked for single files. */
  readonly singly = new Set<string>()
  /** Maximum ages of the lists that were asked for, by URL of the repository. */
  readonly listAges: (readonly [url: string, maxAgeMs: number])[] = []
  /** Errors of requests, by URL, by `namespace/type`, or by the request as `asked` shows it. */
  readonly faults = new Map<string, FillError>()
  /** When versions were published, by version as it is spelled, by URL of the repository or `namespace/type`. */
  readonly dates = new Map<string, Readonly<Record<string, string>>>()
  /** SPDX ids, by URL of the repository. */
  readonly licences = new Map<string, string>()
  /** How far the clock of the host is ahead. */
  skewMs: number | undefined
  /** Promises that a download waits for, by URL. */
  readonly delays = new Map<string, Promise<void>>()
  /** The requests: `list URL`, `fetch URL 1.0.0`. */
  readonly asked: string[] = []
  /** Places that modules and repositories were said to be in. */
  readonly origins: ModuleOrigin[] = []
  readonly #spool: Spool

  constructor(spool: Spool) {
    this.#spool = spool
  }

  repository(url: string, versions: Readonly<Record<string, string>>): void {
    const tags = Object.entries(versions).map(
      ([version, text]) => [version, { 'main.tf': `# ${text}\n`, 'README.md': text }] as const,
    )
    this.repositories.set(url, new Map(tags))
  }

  provider(origin: ProviderOrigin): ProviderUpstream
  provider(name: string, versions: Readonly<Record<string, ProviderVersion>>): void
  provider(
    given: string | ProviderOrigin,
    versions: Readonly<Record<string, ProviderVersion>> = {},
  ): ProviderUpstream | undefined {
    if (typeof given !== 'string') return this.#upstreamOf(given)
    this.providers.set(given, new Map(Object.entries(versions)))
    return undefined
  }

  module(origin: ModuleOrigin): ModuleUpstream {
    this.origins.push(origin)
    const url = origin.source?.url ?? origin.repoUrl ?? ''
    const tags = () => this.repositories.get(url) ?? new Map<string, Record<string, string>>()
    const revisionOf = (version: string, files: Readonly<Record<string, string>>) =>
      `${version}@sha1:${commitOf(files)}`
    // A registry names the commit of a version only to those who ask for its place.
    const type = origin.source?.type === 'registry' ? 'registry' : 'git'
    return {
      identity: `${type}:${url}`,
      type,
      ...(origin.source?.type === 'github' && {
        apiHost: new URL(origin.githubClientConfig?.apiUrl ?? 'https://api.github.com').host,
      }),
      list: async ({ maxAgeMs = 0, datesOf, needsLicence }) => {
        this.listAges.push([url, maxAgeMs])
        if (maxAgeMs < Number.POSITIVE_INFINITY) this.#ask(`list ${url}`, url)
        const versions = [...tags()].map(([version, files]) => ({
          version,
          ref: version,
          ...(type === 'git' && { commit: commitOf(files) }),
          ...(datesOf?.(version) === true && { publishedAt: this.dates.get(url)?.[version] }),
        }))
        const licence = needsLicence === true ? this.licences.get(url) : undefined
        return { versions, skipped: 0, unchanged: false, skewMs: this.skewMs, licence }
      },
      isPublic: async () => !this.privates.has(url),
      ...(this.singly.has(url) && {
        file: async ({ ref }: ResolvedVersion, path: string) => {
          this.#ask(`file ${url} ${path}`, url)
          const text = tags().get(ref)?.[path] ?? tags().get(`v${ref}`)?.[path]
          return text === undefined ? undefined : Buffer.from(text)
        },
      }),
      resolve: async (version) => {
        this.#ask(`resolve ${url} ${version}`, url)
        const files = tags().get(version) ?? tags().get(`v${version}`)
        if (files === undefined)
          throw new FillError('UpstreamNotFound', `there is no tag ${version}`)
        return { version, ref: version, revision: revisionOf(version, files) }
      },
      fetch: async ({ version, revision }) => {
        this.#ask(`fetch ${url} ${version}`, url)
        await this.delays.get(url)
        const files = tags().get(version) ?? tags().get(`v${version}`) ?? {}
        const entries = Object.entries(files).map(([path, content]) => ({
          path: `repo-${version}/${path}`,
          content,
        }))
        return this.#spooled(gzipSync(await tarOf(entries)), revision)
      },
    }
  }

  #upstreamOf(origin: ProviderOrigin): ProviderUpstream {
    const { namespace = 'hashicorp', name: type = '' } = origin
    const name = `${namespace}/${type}`
    const versions = () => this.providers.get(name) ?? new Map<string, ProviderVersion>()
    const platformOf = (text: string): Platform => {
      const [os = '', arch = ''] = text.split('/')
      return { os, arch }
    }
    const archiveOf = (version: string, { os, arch }: Platform) => {
      const { text = '', files = {} } = versions().get(version) ?? {}
      const path = `terraform-provider-${type}_v${version}`
      const others = Object.entries(files).map(([file, content]) => ({ path: file, content }))
      return zipOf([{ path, content: `${os} ${arch} ${version} ${text}` }, ...others])
    }
    const fileNameOf = (version: string, { os, arch }: Platform) =>
      `terraform-provider-${type}_${version}_${os}_${arch}.zip`
    const address = `${origin.upstreamHost ?? 'registry.test'}/${name}`
    return {
      identity: `provider:${address}`,
      address,
      type: 'registry',
      host: 'registry.test',
      list: async ({ datesOf }) => {
        this.#ask(`list ${name}`, name)
        const list = [...versions()].map(([version, { platforms }]) => ({
          version,
          ...(datesOf?.(version) === true && { publishedAt: this.dates.get(name)?.[version] }),
          protocols: ['5.0', '6.0'],
          platforms: platforms.map(platformOf),
        }))
        return { versions: list, skipped: 0, unchanged: false }
      },
      sums: async (version) => {
        this.#ask(`sums ${name} ${version}`, name)
        const { platforms = [] } = versions().get(version) ?? {}
        const sumOf = async (of: Platform) =>
          [fileNameOf(version, of), hex(await archiveOf(version, of))] as const
        return new Map(await Promise.all(platforms.map(platformOf).map(sumOf)))
      },
      sourceRepository: async () => {
        this.#ask(`source ${name}`, name)
        return this.sources.get(name)
      },
      release: async (version, platform) => {
        this.#ask(`release ${name} ${version}`, name)
        const { platforms = [], signer } = versions().get(version) ?? {}
        const sums = await Promise.all(
          platforms.map(async (text) => {
            const of = platformOf(text)
            return { of, text, sha256: hex(await archiveOf(version, of)) }
          }),
        )
        const own = sums.find(({ of }) => of.os === platform.os && of.arch === platform.arch)
        if (own === undefined) throw new FillError('UpstreamNotFound', 'there is no such platform')
        if (signer === undefined && origin.signature !== 'IfPresent') {
          throw new FillError('Unsigned', 'the release is not signed')
        }
        const lines = sums.map(({ of, sha256 }) => `${sha256}  ${fileNameOf(version, of)}\n`)
        return {
          version,
          platform,
          protocols: ['5.0', '6.0'],
          fileName: fileNameOf(version, platform),
          shasum: own.sha256,
          downloadUrl: `https://registry.test/${fileNameOf(version, platform)}`,
          shasums: Buffer.from(lines.join('')),
          signatureState: signer === undefined ? 'Unsigned' : 'Verified',
          ...(signer !== undefined && {
            signature: Buffer.from(`signed by ${signer}`),
            key: `key ${signer}`,
            signer: {
              fingerprint: signer,
              keyId: signer.slice(-16),
              trusted: (origin.trustedKeys ?? []).includes(signer),
            },
          }),
          hashes: new Map(sums.map(({ text, sha256 }) => [text.replace('/', '_'), `zh:${sha256}`])),
          revision: `sha256:${own.sha256}`,
        }
      },
      fetch: async ({ version, platform, revision, fileName }) => {
        this.#ask(`fetch ${name} ${version}`, name)
        return { ...(await this.#spooled(await archiveOf(version, platform), revision)), fileName }
      },
    }
  }

  #ask(what: string, name: string): void {
    this.asked.push(what)
    const fault = this.faults.get(what) ?? this.faults.get(name)
    if (fault !== undefined) throw fault
  }

  async #spooled(bytes: Buffer, revision: string): Promise<FetchedArchive> {
    const { signal } = new AbortController()
    const file = await this.#spool.reserve(bytes.length, { signal })
    await writeFile(file.path, bytes)
    return { file, sizeBytes: bytes.length, sha256: hex(bytes), revision }
  }
}

function commitOf(files: Readonly<Record<string, string>>): string {
  return hex(JSON.stringify(files)).slice(0, 40)
}
