import * as z from 'zod'
import { shownUrl } from '../egress/egress.ts'
import { type Git, isRefName } from './git.ts'
import type { ListingCache } from './listing-cache.ts'
import type { SourceAccess } from './secrets.ts'
import type { ModuleUpstream, UpstreamOptions } from './types.ts'
import type { UpstreamClient } from './upstream.ts'
import { commitOf, resolveFromList, versionsOf } from './versions.ts'

export interface GitModuleOptions {
  readonly upstream: UpstreamClient
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
  const { upstream, git, cache, url, path, tagPrefix } = options
  const identity = `git:${shownUrl(url)}`

  /** How far the clock of the host is ahead. Git does not tell, so the host is asked for its time alone. */
  async function skewOf({ ca }: SourceAccess, { signal, datesOf }: UpstreamOptions) {
    if (datesOf === undefined) return undefined
    const { origin, host } = new URL(url)
    // A page elsewhere, to which the host redirects, has another clock, and may be refused.
    const request = { method: 'HEAD', follows: false, signal, ca } as const
    // A host that does not answer this may still have a list.
    const answer = await upstream.ask(`${origin}/`, request).catch(() => undefined)
    return answer && upstream.skewMs(host)
  }

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
      const skewMs = await skewOf(access, asking)
      return { ...versionsOf(value, tagPrefix), unchanged, skewMs }
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
