import * as z from 'zod'
import type { EgressAnswer, EgressRequest } from '../egress/egress.ts'
import { etagOf, expectStatus, parseJson } from './answers.ts'
import { FillError } from './errors.ts'
import type { GithubCredential } from './github-app.ts'
import type { ListingCache } from './listing-cache.ts'
import type { GithubPlace } from './places.ts'
import type { ModuleUpstream, UpstreamOptions } from './types.ts'
import type { UpstreamClient } from './upstream.ts'
import { commitOf, resolveFromList, versionsOf } from './versions.ts'

export interface GithubOptions extends GithubPlace {
  readonly upstream: UpstreamClient
  readonly cache: ListingCache
  readonly path: string | undefined
  readonly tagPrefix: string
  /** Undefined: the repository is read without credentials. */
  readonly credential: () => Promise<GithubCredential | undefined>
}

/** First lists and files leave most of a rate limit for archives, so that every repository that was listed is also served. */
const leftForArchives = 0.6
const pageSize = 100
const maxPages = 100
const headers = { accept: 'application/vnd.github+json', 'x-github-api-version': '2022-11-28' }

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

/** Tags of a repository on GitHub, the dates of its releases, and its archives of tags. */
export function githubModule(github: GithubOptions): ModuleUpstream {
  const { upstream, cache, apiUrl, owner, repository, path, tagPrefix } = github
  const type = 'github'
  const url = `${apiUrl}/repos/${owner}/${repository}`
  const identity = `github:${new URL(apiUrl).host}/${owner}/${repository}`.toLowerCase()

  async function ask(
    list: string,
    page: number,
    etag: string | undefined,
    credential: GithubCredential | undefined,
    { signal, urgent }: UpstreamOptions,
  ): Promise<EgressAnswer> {
    const query = page === 1 ? `?per_page=${pageSize}` : `?per_page=${pageSize}&page=${page}`
    const send = async () =>
      upstream.ask(`${url}/${list}${query}`, {
        credential: await credential?.get(signal),
        headers: { ...headers, ...(etag !== undefined && { 'if-none-match': etag }) },
        signal,
        urgent,
        ...(etag === undefined && { leaves: leftForArchives }),
      })
    const answer = await send()
    return answer.status === 401 && (await credential?.renew()) === true ? send() : answer
  }

  /** Asks for every page again; an unchanged page costs no quota. */
  async function pages<T>(
    { name, itemsOf }: PagedList<T>,
    former: readonly Page<T>[] | undefined,
    credential: GithubCredential | undefined,
    options: UpstreamOptions,
  ): Promise<{ value: Page<T>[]; unchanged: boolean }> {
    const value: Page<T>[] = []
    let unchanged = former !== undefined
    for (let number = 1; number <= maxPages; number += 1) {
      const known = former?.[number - 1]
      const answer = await ask(name, number, known?.etag, credential, options)
      const same = answer.status === 304 ? known : undefined
      const page = same ?? { ...pageOf(answer), items: itemsOf(answer) }
      unchanged &&= same !== undefined
      value.push(page)
      if (!page.more) return { value, unchanged }
    }
    throw new FillError('FetchFailed', `${identity} has more than ${maxPages * pageSize} ${name}`)
  }

  async function listOf<T>(
    list: PagedList<T>,
    credential: GithubCredential | undefined,
    options: UpstreamOptions,
  ): Promise<{ items: T[]; unchanged: boolean }> {
    const suffix = list === tagList ? '' : ` ${list.name}`
    const { value, unchanged } = await cache
      .get(`${identity} ${credential?.id ?? ''}${suffix}`, list.schema, options, (former) =>
        pages(list, former, credential, options),
      )
      .catch(advise(credential))
    return { items: value.flatMap(({ items }) => items), unchanged }
  }

  /** Asks with a credential, which is renewed once if the host refuses it. */
  async function askAs(
    credential: GithubCredential | undefined,
    place: string,
    request: Omit<EgressRequest, 'credential'>,
  ): Promise<EgressAnswer> {
    const send = async () =>
      upstream.ask(place, { ...request, credential: await credential?.get(request.signal) })
    const answer = await send().catch(advise(credential))
    return answer.status === 401 && (await credential?.renew()) === true ? send() : answer
  }

  /** An unchanged answer costs no quota. */
  async function about(
    credential: GithubCredential | undefined,
    options: UpstreamOptions,
  ): Promise<z.infer<typeof About>> {
    const { signal, urgent } = options
    const load = async (former: z.infer<typeof About> | undefined) => {
      const etag = former?.etag
      const asked = { ...headers, ...(etag !== undefined && { 'if-none-match': etag }) }
      const found = await askAs(credential, url, { headers: asked, signal, urgent })
      if (found.status === 304 && former !== undefined) return { value: former, unchanged: true }
      const { private: isPrivate, license } = parseJson(expectStatus(found, 200), Repository)
      const spdx = license?.spdx_id ?? undefined
      const licence = spdx === 'NOASSERTION' ? undefined : spdx
      return { value: { isPrivate, licence, ...etagOf(found) }, unchanged: false }
    }
    const key = `${identity} ${credential?.id ?? ''} repository`
    return (await cache.get(key, About, options, load)).value
  }

  return {
    identity,
    type,
    apiHost: new URL(apiUrl).host,
    async list(options) {
      const credential = await github.credential()
      const { items: tags, unchanged } = await listOf(tagList, credential, options)
      const { versions, skipped } = versionsOf(tags, tagPrefix)
      const skewMs = upstream.skewMs(new URL(apiUrl).host)
      const licence =
        options.needsLicence === true ? (await about(credential, options)).licence : undefined
      const listing = { versions, skipped, unchanged, skewMs, licence }
      if (options.datesOf === undefined) return listing
      const releases = await listOf(releaseList, credential, options)
      const dates = new Map(releases.items.map(({ name, publishedAt }) => [name, publishedAt]))
      const dated = versions.map((one) => ({ ...one, publishedAt: dates.get(one.ref) }))
      return { ...listing, versions: dated }
    },
    resolve(version, options) {
      return resolveFromList(this, version, options)
    },
    async fetch(resolved, options) {
      const credential = await github.credential()
      const place = `${url}/tarball/${encodeURIComponent(commitOf(resolved) ?? resolved.ref)}`
      const get = async () =>
        upstream.fetch(place, type, options, {
          credential: await credential?.get(options.signal),
          headers,
        })
      const fetched = await get().catch(async (error: unknown) => {
        const isDenied = error instanceof FillError && error.reason === 'AccessDenied'
        if (isDenied && (await credential?.renew()) === true) return get()
        return advise(credential)(error)
      })
      return { ...fetched, revision: resolved.revision, path }
    },
    async file(resolved, file, { signal, urgent, maxBytes }) {
      const credential = await github.credential()
      const ref = encodeURIComponent(commitOf(resolved) ?? resolved.ref)
      const options = { signal, urgent, leaves: leftForArchives }
      const answer = await askAs(credential, `${url}/contents/${file}?ref=${ref}`, {
        headers: { ...headers, accept: 'application/vnd.github.raw+json' },
        ...options,
        maxBytes,
      })
      // Of a folder, GitHub sends a list of its files.
      const isFolder = answer.header('content-type')?.startsWith('application/json') === true
      if (answer.status === 200 && isFolder) return undefined
      if (answer.status !== 404) return expectStatus(answer, 200).body
      // GitHub says the same of a repository that the credential may not read any more.
      const commit = await askAs(credential, `${url}/commits/${ref}`, {
        headers: { ...headers, accept: 'application/vnd.github.sha' },
        ...options,
      })
      expectStatus(commit, 200)
      return undefined
    },
    async isPublic(options) {
      const credential = await github.credential()
      return credential === undefined || !(await about(credential, options)).isPrivate
    },
  }
}

/** Rethrows an error, with the remedy for the small rate limit of anonymous requests. */
const advise =
  (credential: GithubCredential | undefined) =>
  (error: unknown): never => {
    const isLimited = error instanceof FillError && error.reason === 'RateLimited'
    if (credential !== undefined || !isLimited) throw error
    const { message, retryAfterMs } = error
    const remedy = 'a token raises the limit: name its Secret in githubClientConfig.secretName'
    throw new FillError('RateLimited', `${message}; ${remedy}`, { cause: error, retryAfterMs })
  }

function pageOf(answer: EgressAnswer): Omit<Page<unknown>, 'items'> {
  return { more: /;\s*rel="?next"?/.test(answer.header('link') ?? ''), ...etagOf(answer) }
}
