import * as z from 'zod'
import type { EgressAnswer } from '../egress/egress.ts'
import { SourceError } from './errors.ts'
import type { GithubCredential } from './github-app.ts'
import type { ListingCache } from './listing-cache.ts'
import type {
  FetchedArchive,
  FetchOptions,
  Listing,
  ListOptions,
  ModuleSource,
  Resolved,
} from './module-source.ts'
import { resolveFromList } from './resolve.ts'
import { type Tag, versionsOf } from './tags.ts'
import { etagOf, parseJson, type Upstream, unexpected } from './upstream.ts'

export interface GithubOptions {
  readonly upstream: Upstream
  readonly cache: ListingCache
  readonly apiUrl: string
  readonly owner: string
  readonly repository: string
  readonly path: string | undefined
  readonly tagPrefix: string
  /** Nothing where the repository is asked without credentials. */
  readonly credential: () => Promise<GithubCredential | undefined>
}

const pageSize = 100
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

const maxPages = 100

/** Tags of a repository on GitHub, and its archives of them. */
export function githubSource(options: GithubOptions): ModuleSource {
  return new GithubSource(options)
}

class GithubSource implements ModuleSource {
  readonly identity: string
  readonly type = 'github'
  readonly #options: GithubOptions
  readonly #url: string

  constructor(options: GithubOptions) {
    const { apiUrl, owner, repository } = options
    this.#options = options
    this.#url = `${apiUrl}/repos/${owner}/${repository}`
    this.identity = `github:${new URL(apiUrl).host}/${owner}/${repository}`.toLowerCase()
  }

  async list(options: ListOptions): Promise<Listing> {
    const credential = await this.#options.credential()
    const key = `${this.identity} ${credential?.id ?? ''}`
    const { value, unchanged } = await this.#options.cache.get(key, Pages, options, (former) =>
      this.#pages(former, credential, options),
    )
    const tags: Tag[] = value.flatMap((page) => page.tags)
    return { ...versionsOf(tags, this.#options.tagPrefix), unchanged }
  }

  resolve(version: string, options: ListOptions): Promise<Resolved> {
    return resolveFromList(this, version, options)
  }

  async fetch(resolved: Resolved, options: FetchOptions): Promise<FetchedArchive> {
    const { upstream, path } = this.#options
    const [, commit = resolved.ref] = /@sha\d+:([0-9a-f]+)$/.exec(resolved.revision) ?? []
    const credential = await this.#options.credential()
    const url = `${this.#url}/tarball/${encodeURIComponent(commit)}`
    const { signal, urgent } = options
    const get = async () => {
      const sent = await credential?.get(signal)
      const request = { credential: sent, signal, urgent, headers }
      return upstream.fetch(url, this.type, request, options)
    }
    const { file, download } = await get().catch(async (error: unknown) => {
      const isDenied = error instanceof SourceError && error.reason === 'AccessDenied'
      if (isDenied && (await credential?.renew()) === true) return get()
      throw error
    })
    const { sizeBytes, sha256 } = download
    return { file, sizeBytes, sha256, revision: resolved.revision, path }
  }

  /** Asks for every page again, which costs no quota where it has not changed. */
  async #pages(
    former: readonly Page[] | undefined,
    credential: GithubCredential | undefined,
    options: ListOptions,
  ): Promise<{ value: Page[]; unchanged: boolean }> {
    const value: Page[] = []
    let unchanged = former !== undefined
    for (let number = 1; number <= maxPages; number += 1) {
      const known = former?.[number - 1]
      const answer = await this.#ask(number, known?.etag, credential, options)
      const same = answer.status === 304 ? known : undefined
      const page = same ?? pageOf(answer)
      unchanged &&= same !== undefined
      value.push(page)
      if (!page.more) return { value, unchanged }
    }
    throw new SourceError(
      'FetchFailed',
      `${this.identity} has more than ${maxPages * pageSize} tags`,
    )
  }

  async #ask(
    page: number,
    etag: string | undefined,
    credential: GithubCredential | undefined,
    { signal, urgent }: ListOptions,
  ): Promise<EgressAnswer> {
    const query = page === 1 ? `?per_page=${pageSize}` : `?per_page=${pageSize}&page=${page}`
    const ask = async () =>
      this.#options.upstream.ask(`${this.#url}/tags${query}`, {
        credential: await credential?.get(signal),
        headers: { ...headers, ...(etag !== undefined && { 'if-none-match': etag }) },
        signal,
        urgent,
      })
    const answer = await ask()
    return answer.status === 401 && (await credential?.renew()) === true ? ask() : answer
  }
}

const headers = { accept: 'application/vnd.github+json', 'x-github-api-version': '2022-11-28' }

function pageOf(answer: EgressAnswer): Page {
  if (answer.status !== 200) throw unexpected(answer)
  const tags = parseJson(answer, Tags).map(({ name, commit }) => ({ name, commit: commit.sha }))
  const more = /;\s*rel="?next"?/.test(answer.header('link') ?? '')
  return { more, tags, ...etagOf(answer) }
}
