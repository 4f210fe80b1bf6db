import { previousVersion } from '../../../api/changes/changes.ts'
import type { ResourceDetail } from '../api/records.ts'
import type { VersionRange } from '../url/pages.ts'

/** The versions that a page compares, from those that the module lists. */
export interface ChosenPair extends VersionRange {
  /** Versions in the URL that the module does not have. */
  readonly unknown: readonly string[]
}

type VersionsOf = Pick<ResourceDetail, 'versions' | 'latestVersion'>

/** Without versions in the URL: the latest and the previous release. Undefined for a module with fewer than two versions. */
export function chosenPair(
  { versions, latestVersion }: VersionsOf,
  range: VersionRange,
): ChosenPair | undefined {
  const numbers = versions.map(({ version }) => version)
  const [newest, second] = numbers
  if (newest === undefined || second === undefined) return undefined
  const asked = { from: numberOf(range.from), to: numberOf(range.to) }
  const to = asked.to || (latestVersion ?? newest)
  const from = asked.from || versionBefore(versions, to)
  // The latest version can be the oldest, if the others are prereleases.
  if (from === undefined) return { from: second, to: newest, unknown: [] }
  const unknown = [...new Set([from, to])].filter((it) => !numbers.includes(it))
  return { from, to, unknown }
}

/** The previous release that the registry has stored; without one, a release that it has not stored. */
export function versionBefore(
  versions: VersionsOf['versions'],
  version: string,
): string | undefined {
  const stored = versions.filter((one) => one.version === version || one.synced)
  const among = (some: typeof versions) =>
    previousVersion(
      some.map((one) => one.version),
      version,
    )
  return among(stored) ?? among(versions)
}

/** The version that a person means by `v1.0.0`. */
const numberOf = (asked: string): string => asked.trim().replace(/^v(?=\d)/, '')
