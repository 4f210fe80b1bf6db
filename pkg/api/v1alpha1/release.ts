import { checksumOf, openReleaseOf, releaseText, sha256Hex } from './archive.ts'
import type { Version } from './version.ts'

/** The fields of a provider Version that decide whether its release is complete. */
export interface ReleasePart {
  /** Platform and digest, as in a line of `releaseText`. */
  readonly part: string
  /** The release that it was published with, if that may lack platforms. */
  readonly open: string | undefined
}

/**
 * Finds the releases of one version that lack platforms. A Version counts for a release that it was published with, and for
 * every other one if it is served: its own release is complete, or it has none.
 *
 * @returns the platforms that each release lacks
 */
export function incompleteReleases(
  parts: readonly ReleasePart[],
): ReadonlyMap<string, readonly string[]> {
  const served = new Set(parts.filter(({ open }) => open === undefined).map(({ part }) => part))
  const waiting = Map.groupBy(parts, ({ open }) => open ?? '')
  waiting.delete('')
  const lacking = new Map<string, readonly string[]>()
  // A release that is complete may complete another one.
  for (let before = -1; before !== lacking.size; ) {
    before = lacking.size
    lacking.clear()
    for (const [release, own] of waiting) {
      const there = new Set(own.map(({ part }) => part))
      const missing = release.split('\n').filter((part) => !there.has(part) && !served.has(part))
      if (missing.length > 0) lacking.set(release, missing.map(platformOf))
      else for (const part of there) served.add(part)
    }
  }
  return lacking
}

const platformOf = (part: string): string => part.split(' ', 1).join('')

/**
 * Names the older Versions that take platforms of a release with other archives, because sending its own zips again does not
 * complete it then.
 *
 * @param release as in {@link ReleasePart}
 * @param counted the Versions of its version and provider, but only the oldest one of each platform
 * @returns the end of a message; empty if there are none
 */
export function takenText(
  release: string,
  counted: readonly { readonly part: string; readonly name: string }[],
): string {
  const wanted = new Set(release.split('\n'))
  const platforms = new Set([...wanted].map(platformOf))
  const taken = counted
    .filter(({ part }) => platforms.has(platformOf(part)) && !wanted.has(part))
    .map(({ part, name }) => `${name} (${platformOf(part)})`)
  if (taken.length === 0) return ''
  return `. Older Versions of its platforms have other archives, or none: ${taken.join(', ')}. Remove those first if this release is the right one`
}

/** As {@link incompleteReleases}, of the Versions of the same version and provider. */
export function incompleteReleasesIn(
  siblings: readonly Version[],
): ReadonlyMap<string, readonly string[]> {
  // What was stored once is complete, even if somebody deleted a platform since.
  const stored = new Set(
    siblings
      .filter(({ status }) => status?.checksum)
      .map(({ spec: { upload } }) => releaseText(upload?.release ?? [])),
  )
  const oldest = oldestOfPlatforms(siblings)
  return incompleteReleases(
    siblings.map((version) => {
      const open = textOfOpen(version)
      // A Version that an older one of its platform hides does not count, and its own release lacks it.
      const part = oldest.has(version) ? partOf(version) : ''
      return { part, open: stored.has(open ?? '') ? undefined : open }
    }),
  )
}

/** The Versions that are served: the oldest one of each platform. */
function oldestOfPlatforms(siblings: readonly Version[]): ReadonlySet<Version> {
  const ageOf = ({ metadata }: Version) => `${metadata.creationTimestamp} ${metadata.name}`
  const byAge = siblings.toSorted((a, b) => (ageOf(a) < ageOf(b) ? -1 : 1))
  const platforms = Map.groupBy(byAge, ({ spec }) => `${spec.operatingSystem}_${spec.architecture}`)
  return new Set([...platforms.values()].flatMap(([oldest]) => oldest ?? []))
}

/**
 * The platforms for which a Version waits before it is served.
 *
 * @param siblings the Versions of the same version and provider
 */
export const awaitedPlatforms = (
  version: Version,
  siblings: readonly Version[],
): readonly string[] => {
  const open = textOfOpen(version)
  return open === undefined ? [] : (incompleteReleasesIn(siblings).get(open) ?? [])
}

/** As {@link takenText}, of the release of a Version. */
export function takenTextOf(version: Version, siblings: readonly Version[]): string {
  const counted = [...oldestOfPlatforms(siblings)]
  return takenText(
    textOfOpen(version) ?? '',
    counted.map((one) => ({ part: partOf(one), name: one.metadata.name })),
  )
}

function textOfOpen(version: Version): string | undefined {
  const open = openReleaseOf(version)
  return open && releaseText(open)
}

function partOf(version: Version): string {
  const { operatingSystem: os, architecture: arch } = version.spec
  return `${os}_${arch} ${sha256Hex(checksumOf(version) ?? '') ?? ''}`
}
