import { shownUrl } from '../egress/egress.ts'
import { expectStatus, FillError } from './errors.ts'
import { versionFrom } from './listings.ts'
import { type SourceAccess, shortHash } from './secrets.ts'
import type { ModuleUpstream } from './types.ts'
import type { UpstreamClient } from './upstream.ts'

export interface ArchiveOptions {
  readonly upstream: UpstreamClient
  /** Holds `{version}`. */
  readonly url: string
  readonly path: string | undefined
  readonly access: () => Promise<SourceAccess>
}

/** Archives at URLs that hold the version. */
export function archiveModule({ upstream, url, path, access }: ArchiveOptions): ModuleUpstream {
  const type = 'archive'
  const urlOf = (version: string) => url.replaceAll('{version}', encodeURIComponent(version))
  return {
    identity: `archive:${shownUrl(url).replaceAll('%7Bversion%7D', '{version}')}`,
    type,
    async list() {
      throw new FillError(
        'NoListing',
        'a source of type archive has no list of versions: name them in a Module',
      )
    },
    async resolve(text, { signal, urgent }) {
      const version = versionFrom(text)
      const answer = await upstream.ask(urlOf(version), {
        ...(await access()),
        method: 'HEAD',
        signal,
        urgent,
      })
      // Some servers do not know HEAD; then only a download shows the content.
      expectStatus(answer, 200, 405, 501)
      const mark = answer.header('etag') ?? answer.header('last-modified')
      const known = mark === undefined || answer.status !== 200 ? '' : `@mark:${shortHash(mark)}`
      return { version, ref: version, revision: `${version}${known}` }
    },
    async fetch({ version, revision }, options) {
      const fetched = await upstream.fetch(urlOf(version), type, options, await access())
      return { ...fetched, revision, path }
    },
  }
}
