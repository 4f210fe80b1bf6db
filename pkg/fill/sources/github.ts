import * as z from 'zod'
import type { EgressAnswer } from '../egress/egress.ts'
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

/** A first list leaves most of a rate limit for archives, so that every repository that was listed is also served. */
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

const Page = z.object({
  etag: z.string().optional(),
  more: z.boolean(),
  tags: z.array(z.object({ name: z.string(), commit: z.string() })),
})
const Pages = z.array(Page)
type Page = z.infer<typeof Page>

/** Tags of a repository on GitHub, and its archives of them. */
export function githubModule(github: GithubOptions): ModuleUpstream {
  const { upstream, cache, apiUrl, owner, repository, path, tagPrefix } = github
  const type = 'github'
  const url = `${apiUrl}/repos/${owner}/${repository}`
  const identity = `github:${new URL(apiUrl).host}/${owner}/${repository}`.toLowerCase()

  async function ask(
    page: number,
    etag: string | undefined,
    credential: GithubCredential | undefined,
    { signal, urgent }: UpstreamOptions,
  ): Promise<EgressAnswer> {
    const query = page === 1 ? `?per_page=${pageSize}` : `?per_page=${pageSize}&page=${page}`
    const send = async () =>
      upstream.ask(`${url}/tags${query}`, {
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
  async function pages(
    former: readonly Page[] | undefined,
    credential: GithubCredential | undefined,
    options: UpstreamOptions,
  ): Promise<{ value: Page[]; unchanged: boolean }> {
    const value: Page[] = []
    let unchanged = former !== undefined
    for (let number = 1; number <= maxPages; number += 1) {
      const known = former?.[number - 1]
      const answer = await ask(number, known?.etag, credential, options)
      const same = answer.status === 304 ? known : undefined
      const page = same ?? pageOf(answer)
      unchanged &&= same !== undefined
      value.push(page)
      if (!page.more) return { value, unchanged }
    }
    throw new FillError('FetchFailed', `${identity} has more than ${maxPages * pageSize} tags`)
  }

  return {
    identity,
    type,
    async list(options) {
      const credential = await github.credential()
      const key = `${identity} ${credential?.id ?? ''}`
      const { value, unchanged } = await cache
        .get(key, Pages, options, (former) => pages(former, credential, options))
        .catch(advise(credential))
      const tags = value.flatMap((page) => page.tags)
      return { ...versionsOf(tags, tagPrefix), unchanged }
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

function pageOf(answer: EgressAnswer): Page {
  const tags = parseJson(expectStatus(answer, 200), Tags)
  return {
    more: /;\s*rel="?next"?/.test(answer.header('link') ?? ''),
    tags: tags.map(({ name, commit }) => ({ name, commit: commit.sha })),
    ...etagOf(answer),
  }
}
