import * as z from 'zod'
import { shownUrl } from '../egress/egress.ts'
import { type Git, isRefName } from './git.ts'
import type { ListingCache } from './listing-cache.ts'
import type { SourceAccess } from './secrets.ts'
import type { ModuleUpstream } from './types.ts'
import { commitOf, resolveFromList, versionsOf } from './versions.ts'

export interface GitModuleOptions {
  readonly git: Git
  readonly cache: ListingCache
  readonly url: string
  readonly path: string | undefined
  readonly tagPrefix: string
  readonly access: () => Promise<SourceAccess>
}

const Tags = z.array(z.object({ name: z.string(), commit: z.string() }))

/** Tags of a git repository that is served over https. */
export function gitModule(options: GitModuleOptions): ModuleUpstream {
  const { git, cache, url, path, tagPrefix } = options
  const identity = `git:${shownUrl(url)}`
  return {
    identity,
    type: 'git',
    async list(asking) {
      const access = await options.access()
      const key = `${identity} ${access.credential?.id ?? ''}`
      const { value, unchanged } = await cache.get(key, Tags, asking, async (former) => {
        const tags = await git.tags({ url, access }, asking.signal)
        const named = tags.filter(({ name }) => isRefName(name))
        return { value: named, unchanged: JSON.stringify(named) === JSON.stringify(former) }
      })
      return { ...versionsOf(value, tagPrefix), unchanged }
    },
    resolve(version, asking) {
      return resolveFromList(this, version, asking)
    },
    async fetch(resolved, fetching) {
      const access = await options.access()
      const { ref, revision } = resolved
      const wanted = { url, access, ref: `refs/tags/${ref}`, commit: commitOf(resolved) }
      return { ...(await git.fetch(wanted, fetching)), revision, path }
    },
  }
}
