import * as z from 'zod'
import type { EgressAnswer, EgressRequest } from '../egress/egress.ts'
import { etagOf, expectStatus, FillError, parseJson } from './errors.ts'
import type { GithubCredential } from './github-app.ts'
import { commitOf, type ListingCache, resolveFromList, versionsOf } from './listings.ts'
import type { FetchedFile, FetchOptions, ModuleUpstream, UpstreamOptions } from './types.ts'
import type { UpstreamClient } from './upstream.ts'

export interface GithubPlace {
  /** Without a slash at the end. */
  readonly apiUrl: string
  readonly owner: string
  readonly repository: string
}

interface GithubOptions extends GithubPlace {
  readonly upstream: UpstreamClient
  readonly cache: ListingCache
  readonly path: string | undefined
  readonly tagPrefix: string
  /** Undefined: the repository is read without credentials. */
  readonly credential: () => Promise<GithubCredential | undefined>
}

/** Tags of a repository on GitHub, the dates of its releases, and its archives of tags. */
export function githubModule(github: GithubOptions): ModuleUpstream {
  const { upstream, cache, apiUrl, owner, repository, path, tagPrefix } = github
  const { host } = new URL(apiUrl)
  const url = `${apiUrl}/repos/${owner}/${repository}`
  const identity = `github:${host}/${owner}/${repository}`.toLowerCase()

  const repositoryFor = (credential: GithubCredential | undefined): GithubRepository =>
    new GithubRepository({ url, identity, upstream, cache, credential })

  return {
    identity,
    type: 'github',
    apiHost: host,
    async list(options) {
      const asked = repositoryFor(await github.credential())
      const { items: tags, unchanged } = await asked.list(tagList, options)
      const { versions, skipped } = versionsOf(tags, tagPrefix)
      const skewMs = upstream.skewMs(host)
      const licence =
        options.needsLicence === true ? (await asked.about(options)).licence : undefined
      const listing = { versions, skipped, unchanged, skewMs, licence }
      if (options.datesOf === undefined) return listing
      const releases = await asked.list(releaseList, options)
      const dates = new Map(releases.items.map(({ name, publishedAt }) => [name, publishedAt]))
      const dated = versions.map((one) => ({ ...one, publishedAt: dates.get(one.ref) }))
      return { ...listing, versions: dated }
    },
    resolve(version, options) {
      return resolveFromList(this, version, options)
    },
    async fetch(resolved, options) {
      const asked = repositoryFor(await github.credential())
      const fetched = await asked.archive(commitOf(resolved) ?? resolved.ref, options)
      return { ...fetched, revision: resolved.revision, path }
    },
    async file(resolved, file, options) {
      const asked = repositoryFor(await github.credential())
      return asked.file(commitOf(resolved) ?? resolved.ref, file, options)
    },
    async isPublic(options) {
      const credential = await github.credential()
      if (credential === undefined) return true
      return !(await repositoryFor(credential).about(options)).isPrivate
    },
  }
}

/** First lists and files leave most of a rate limit for archives, so that every repository that was listed is also served. */
const leftForArchives = 0.6
const pageSize = 100
const maxPages = 100
const standardHeaders = {
  accept: 'application/vnd.github+json',
  'x-github-api-version': '2022-11-28',
}

const Tags = z
  .array(
    z.object({
      name: z.string().max(1024),
      commit: z.object({ sha: z.string().regex(/^(?:[0-9a-f]{40}|[0-9a-f]{64})$/) }),
    }),
  )
  .max(pageSize)

const Releases = z
  .array(z.object({ tag_name: z.string().max(1024), published_at: z.string().max(64).nullish() }))
  .max(pageSize)

/** GitHub says NOASSERTION of a licence that it does not know. */
const Repository = z.object({
  private: z.boolean(),
  license: z.object({ spdx_id: z.string().max(100).nullish() }).nullish(),
})

const About = z.object({
  etag: z.string().optional(),
  isPrivate: z.boolean(),
  licence: z.string().optional(),
})

const pageWith = <T extends z.ZodType>(item: T) =>
  z.object({ etag: z.string().optional(), more: z.boolean(), items: z.array(item) })
const TagPages = z.array(pageWith(z.object({ name: z.string(), commit: z.string() })))
const ReleasePages = z.array(pageWith(z.object({ name: z.string(), publishedAt: z.string() })))

interface Page<T> {
  readonly etag?: string | undefined
  readonly more: boolean
  readonly items: T[]
}

/** A list that GitHub sends in pages. */
interface PagedList<T> {
  readonly name: 'tags' | 'releases'
  readonly schema: z.ZodType<Page<T>[]>
  readonly itemsOf: (answer: EgressAnswer) => T[]
}

const tagList: PagedList<z.infer<typeof TagPages>[number]['items'][number]> = {
  name: 'tags',
  schema: TagPages,
  itemsOf: (answer) =>
    parseJson(expectStatus(answer, 200), Tags).map(({ name, commit }) => ({
      name,
      commit: commit.sha,
    })),
}

/** Drafts have no date. */
const releaseList: PagedList<z.infer<typeof ReleasePages>[number]['items'][number]> = {
  name: 'releases',
  schema: ReleasePages,
  itemsOf: (answer) =>
    parseJson(expectStatus(answer, 200), Releases).flatMap(({ tag_name: name, published_at }) =>
      published_at ? [{ name, publishedAt: published_at }] : [],
    ),
}

interface RepositoryOptions {
  /** URL of the repository in the API. */
  readonly url: string
  /** Names it in the cache and in errors. */
  readonly identity: string
  readonly upstream: UpstreamClient
  readonly cache: ListingCache
  /** Default: it is read without credentials. */
  readonly credential: GithubCredential | undefined
}

/** A repository on GitHub as one credential may read it. The credential is renewed once if GitHub refuses it. */
class GithubRepository {
  readonly #options: RepositoryOptions

  constructor(options: RepositoryOptions) {
    this.#options = options
  }

  async list<T>(
    list: PagedList<T>,
    options: UpstreamOptions,
  ): Promise<{ items: T[]; unchanged: boolean }> {
    const key = this.#cacheKey(list === tagList ? '' : ` ${list.name}`)
    const load = (former: readonly Page<T>[] | undefined) => this.#pages(list, former, options)
    const { value, unchanged } = await this.#options.cache.get(key, list.schema, options, load)
    return { items: value.flatMap(({ items }) => items), unchanged }
  }

  /** An unchanged answer costs no quota. */
  async about(options: UpstreamOptions): Promise<z.infer<typeof About>> {
    const { signal, urgent } = options
    const load = async (former: z.infer<typeof About> | undefined) => {
      const headers = ifChanged(former?.etag)
      const found = await this.#ask('', { headers, signal, urgent })
      if (found.status === 304 && former !== undefined) return { value: former, unchanged: true }
      const { private: isPrivate, license } = parseJson(expectStatus(found, 200), Repository)
      const spdx = license?.spdx_id ?? undefined
      const licence = spdx === 'NOASSERTION' ? undefined : spdx
      return { value: { isPrivate, licence, ...etagOf(found) }, unchanged: false }
    }
    return (await this.#options.cache.get(this.#cacheKey(' repository'), About, options, load))
      .value
  }

  /** @param ref a commit or tag @throws FillError */
  async archive(ref: string, options: FetchOptions): Promise<FetchedFile> {
    const { upstream, credential, url } = this.#options
    const get = async () =>
      upstream.fetch(`${url}/tarball/${encodeURIComponent(ref)}`, 'github', options, {
        credential: await credential?.get(options.signal),
        headers: standardHeaders,
      })
    try {
      return await get()
    } catch (error) {
      const isDenied = error instanceof FillError && error.reason === 'AccessDenied'
      if (isDenied && (await credential?.renew()) === true) return get()
      throw this.#advised(error)
    }
  }

  /** @returns undefined if it has no such file */
  async file(
    commitOrTag: string,
    path: string,
    { signal, urgent, maxBytes }: UpstreamOptions & { readonly maxBytes: number },
  ): Promise<Buffer | undefined> {
    const ref = encodeURIComponent(commitOrTag)
    const options = { signal, urgent, leaves: leftForArchives }
    const answer = await this.#ask(`/contents/${path}?ref=${ref}`, {
      headers: { accept: 'application/vnd.github.raw+json' },
      ...options,
      maxBytes,
    })
    // For a folder, GitHub sends a list of its files.
    const isFolder = answer.header('content-type')?.startsWith('application/json') === true
    if (answer.status === 200 && isFolder) return undefined
    if (answer.status !== 404) return expectStatus(answer, 200).body
    // GitHub says the same of a repository that the credential may not read any more.
    const commit = await this.#ask(`/commits/${ref}`, {
      headers: { accept: 'application/vnd.github.sha' },
      ...options,
    })
    expectStatus(commit, 200)
    return undefined
  }

  /** Asks for every page again; an unchanged page costs no quota. */
  async #pages<T>(
    { name, itemsOf }: PagedList<T>,
    former: readonly Page<T>[] | undefined,
    { signal, urgent }: UpstreamOptions,
  ): Promise<{ value: Page<T>[]; unchanged: boolean }> {
    const value: Page<T>[] = []
    let unchanged = former !== undefined
    for (let number = 1; number <= maxPages; number += 1) {
      const known = former?.[number - 1]
      const place = number === 1 ? '' : `&page=${number}`
      const answer = await this.#ask(`/${name}?per_page=${pageSize}${place}`, {
        headers: ifChanged(known?.etag),
        signal,
        urgent,
        ...(known?.etag === undefined && { leaves: leftForArchives }),
      })
      const same = answer.status === 304 ? known : undefined
      const page = same ?? { ...pageOf(answer), items: itemsOf(answer) }
      unchanged &&= same !== undefined
      value.push(page)
      if (!page.more) return { value, unchanged }
    }
    const { identity } = this.#options
    throw new FillError('FetchFailed', `${identity} has more than ${maxPages * pageSize} ${name}`)
  }

  /** @param path path and query below the URL of the repository */
  async #ask(path: string, request: Omit<EgressRequest, 'credential'>): Promise<EgressAnswer> {
    const { upstream, credential, url } = this.#options
    const headers = { ...standardHeaders, ...request.headers }
    const send = async () => {
      const asked = { ...request, headers, credential: await credential?.get(request.signal) }
      return upstream.ask(`${url}${path}`, asked).catch((error: unknown) => {
        throw this.#advised(error)
      })
    }
    const answer = await send()
    return answer.status === 401 && (await credential?.renew()) === true ? send() : answer
  }

  /** The error, with the remedy for the small rate limit of anonymous requests. */
  #advised(error: unknown): unknown {
    const isLimited = error instanceof FillError && error.reason === 'RateLimited'
    if (this.#options.credential !== undefined || !isLimited) return error
    const { message, retryAfterMs } = error
    const remedy = 'a token raises the limit: name its Secret in githubClientConfig.secretName'
    return new FillError('RateLimited', `${message}; ${remedy}`, { cause: error, retryAfterMs })
  }

  #cacheKey(suffix: string): string {
    const { identity, credential } = this.#options
    return `${identity} ${credential?.id ?? ''}${suffix}`
  }
}

const ifChanged = (etag: string | undefined) =>
  etag === undefined ? {} : { 'if-none-match': etag }

function pageOf(answer: EgressAnswer): Omit<Page<unknown>, 'items'> {
  return { more: /;\s*rel="?next"?/.test(answer.header('link') ?? ''), ...etagOf(answer) }
}
