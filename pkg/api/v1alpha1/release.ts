import { checksumOf, openReleaseOf, releaseText, sha256Hex } from './archive.ts'
import type { Version } from './version.ts'

/**
 * The platforms for which a Version waits before it is served.
 *
 * @param siblings the Versions of the same version and provider
 */
export function awaitedPlatforms(
  version: Version,
  siblings: readonly Version[],
): readonly string[] {
  const release = openReleaseOf(version)
  if (release === undefined) return []
  const text = releaseText(release)
  // What was served once is complete, even if somebody deleted a platform since.
  if (siblings.some((one) => isServedPart(one, text))) return []
  const there = new Set(siblings.map(partOf))
  return release
    .filter(({ platform, sha256 }) => !there.has(`${platform} ${sha256}`))
    .map(({ platform }) => platform)
}

function isServedPart({ spec: { upload }, status }: Version, text: string): boolean {
  return Boolean(status?.checksum) && releaseText(upload?.release ?? []) === text
}

function partOf(version: Version): string {
  const { operatingSystem: os, architecture: arch } = version.spec
  return `${os}_${arch} ${sha256Hex(checksumOf(version) ?? '') ?? ''}`
}
