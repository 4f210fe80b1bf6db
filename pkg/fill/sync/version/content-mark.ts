/** Short names of what an upstream has under a version, from which the age of the version counts. */

import { hash } from 'node:crypto'
import {
  archiveHashes,
  FillError,
  type ProviderUpstream,
  type UpstreamOptions,
  type UpstreamProviderVersion,
} from '../../sources/sources.ts'

type Platform = UpstreamProviderVersion['platforms'][number]

/** As long as a commit: shorter, and authors can make two contents whose digests begin alike, one to wait and one to be stored. */
const markLength = 40

export const markOfCommit = (commit: string): string => commit.slice(0, markLength)

/**
 * Names the commit of a module. A registry that names the URL of an archive says nothing of its content: some registries sign a
 * new URL for each answer.
 */
export function markOfModule(revision: string): string | undefined {
  const commit = /@sha\d+:([0-9a-f]+)$/.exec(revision)?.[1]
  return commit && markOfCommit(commit)
}

/** Names the checksums of a release. */
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
 * those of one platform. A platform that cannot be asked about may be in the document of another one. Where upstream has
 * nothing for a platform that it lists, the mark says so: it changes when the platform comes.
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
  const isKnown = ({ os, arch }: Platform) =>
    archiveHashes(files, type, version).has(`${os}_${arch}`)
  const failures: { readonly platform: Platform; readonly error: FillError }[] = []
  for (const platform of platforms) {
    if (isKnown(platform)) continue
    try {
      const sums = await upstream.sums(version, platform, options)
      for (const [file, sum] of sums) files.set(file, sum)
    } catch (error) {
      if (!(error instanceof FillError) || error.reason === 'RateLimited') throw error
      failures.push({ platform, error })
    }
  }
  const unknown = failures.filter(({ platform }) => !isKnown(platform))
  const isAbsent = ({ error }: { readonly error: FillError }) => error.reason === 'UpstreamNotFound'
  // Without one of them, the mark would change when that can be read.
  const missing = unknown.find((one) => files.size === 0 || !isAbsent(one))
  if (missing !== undefined) throw ofPlatform(missing.platform, missing.error)
  const absent = unknown.map(({ platform: { os, arch } }) => `absent ${os}_${arch}`)
  const named = [...[...files].map(([file, sum]) => `${sum} ${file}`), ...absent].toSorted()
  const mark = named.length === 0 ? undefined : markOfRevision(named.join('\n'))
  return { sums: [...files.values()], mark }
}

function ofPlatform({ os, arch }: Platform, error: FillError): FillError {
  const { retryAfterMs } = error
  return new FillError(error.reason, `${os}_${arch}: ${error.message}`, {
    cause: error,
    retryAfterMs,
  })
}
