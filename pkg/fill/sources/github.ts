import type { GithubCredential } from './github-app.ts'
import { GithubRepository, releaseList, tagList } from './github-repository.ts'
import type { ListingCache } from './listing-cache.ts'
import type { GithubPlace } from './places.ts'
import type { ModuleUpstream } from './types.ts'
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
