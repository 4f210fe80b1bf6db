import { createHash } from 'node:crypto'
import { shownUrl } from '../egress/egress.ts'
import { SourceError } from './errors.ts'
import type {
  FetchedArchive,
  FetchOptions,
  Listing,
  ListOptions,
  ModuleSource,
  Resolved,
} from './module-source.ts'
import { versionFrom } from './resolve.ts'
import type { Access } from './secrets.ts'
import { type Upstream, unexpected } from './upstream.ts'

export interface ArchiveOptions {
  readonly upstream: Upstream
  /** With `{version}` in it. */
  readonly url: string
  readonly path: string | undefined
  readonly access: () => Promise<Access>
}

/** Archives at URLs that hold the version. */
export function archiveSource({ upstream, url, path, access }: ArchiveOptions): ModuleSource {
  const urlOf = (version: string) => url.replaceAll('{version}', encodeURIComponent(version))
  return {
    identity: `archive:${shownUrl(url).replaceAll('%7Bversion%7D', '{version}')}`,
    type: 'archive',
    list(): Promise<Listing> {
      return Promise.reject(
        new SourceError(
          'NoListing',
          'a source of type archive has no list of versions: name them in a Module',
        ),
      )
    },
    async resolve(text: string, { signal, urgent }: ListOptions): Promise<Resolved> {
      const version = versionFrom(text)
      const request = { ...(await access()), method: 'HEAD', signal, urgent } as const
      const answer = await upstream.ask(urlOf(version), request)
      // Some servers know no HEAD: then only a download tells.
      const isUnknown = answer.status === 405 || answer.status === 501
      if (answer.status !== 200 && !isUnknown) throw unexpected(answer)
      const mark = answer.header('etag') ?? answer.header('last-modified')
      const known = mark === undefined || isUnknown ? '' : `@mark:${shortHash(mark)}`
      return { version, ref: version, revision: `${version}${known}` }
    },
    async fetch(resolved: Resolved, options: FetchOptions): Promise<FetchedArchive> {
      const { signal, urgent } = options
      const request = { ...(await access()), signal, urgent }
      const { file, download } = await upstream.fetch(
        urlOf(resolved.version),
        'archive',
        request,
        options,
      )
      const { sizeBytes, sha256 } = download
      return { file, sizeBytes, sha256, revision: resolved.revision, path }
    },
  }
}

export function shortHash(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 16)
}
