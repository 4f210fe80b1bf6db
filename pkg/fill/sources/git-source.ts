import * as z from 'zod'
import { shownUrl } from '../egress/egress.ts'
import { type Git, isRefName } from './git.ts'
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
import type { Access } from './secrets.ts'
import { versionsOf } from './tags.ts'

export interface GitSourceOptions {
  readonly git: Git
  readonly cache: ListingCache
  readonly url: string
  readonly path: string | undefined
  readonly tagPrefix: string
  readonly access: () => Promise<Access>
}

const Tags = z.array(z.object({ name: z.string(), commit: z.string() }))

/** Tags of a git repository that is served over https. */
export function gitSource(options: GitSourceOptions): ModuleSource {
  return new GitSource(options)
}

class GitSource implements ModuleSource {
  readonly identity: string
  readonly type = 'git'
  readonly #options: GitSourceOptions

  constructor(options: GitSourceOptions) {
    this.#options = options
    this.identity = `git:${shownUrl(options.url)}`
  }

  async list(options: ListOptions): Promise<Listing> {
    const { git, cache, url, tagPrefix } = this.#options
    const access = await this.#options.access()
    const key = `${this.identity} ${access.credential?.id ?? ''}`
    const { value, unchanged } = await cache.get(key, Tags, options, async (former) => {
      const tags = await git.tags({ url, access }, options.signal)
      const named = tags.filter(({ name }) => isRefName(name))
      return { value: named, unchanged: JSON.stringify(named) === JSON.stringify(former) }
    })
    return { ...versionsOf(value, tagPrefix), unchanged }
  }

  resolve(version: string, options: ListOptions): Promise<Resolved> {
    return resolveFromList(this, version, options)
  }

  async fetch({ ref, revision }: Resolved, options: FetchOptions): Promise<FetchedArchive> {
    const { git, url, path } = this.#options
    const access = await this.#options.access()
    const [, commit] = /@sha\d+:([0-9a-f]+)$/.exec(revision) ?? []
    const wanted = { url, access, ref: `refs/tags/${ref}`, commit }
    return { ...(await git.fetch(wanted, options)), revision, path }
  }
}
