/** Short names of what an upstream has under a version, from which the age of the version counts. */

import { hash } from 'node:crypto'
import {
  archiveHashes,
  type ProviderUpstream,
  type UpstreamOptions,
  type UpstreamProviderVersion,
} from '../../sources/sources.ts'

/** How much of a digest a status remembers: nobody can make other content that begins alike. */
export const markLength = 24

export const markOfCommit = (commit: string): string => commit.slice(0, markLength)

/** Names the content of a module in a registry, whose list has no commits. */
export const markOfRevision = (revision: string): string =>
  hash('sha256', revision).slice(0, markLength)

/** Digests of the archives of a release, and their name. */
export interface ReleaseContent {
  readonly sums: readonly string[]
  /** Undefined if the release has no archives yet. */
  readonly mark: string | undefined
}

/**
 * Reads the checksums of all platforms of a release. One document usually has all of them, but may also have only
 * those of one platform.
 *
 * @throws FillError
 */
export async function contentOfRelease(
  upstream: Pick<ProviderUpstream, 'address' | 'sums'>,
  { version, platforms }: Pick<UpstreamProviderVersion, 'version' | 'platforms'>,
  options: UpstreamOptions,
): Promise<ReleaseContent> {
  const type = upstream.address.split('/').at(-1) ?? ''
  const files = new Map<string, string>()
  for (const platform of platforms) {
    const known = archiveHashes(files, type, version)
    if (known.has(`${platform.os}_${platform.arch}`)) continue
    const sums = await upstream.sums(version, platform, options)
    for (const [file, sum] of sums) files.set(file, sum)
  }
  const named = [...files].map(([file, sum]) => `${sum} ${file}`).toSorted()
  const mark = named.length === 0 ? undefined : markOfRevision(named.join('\n'))
  return { sums: [...files.values()], mark }
}
