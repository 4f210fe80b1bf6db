import semver from 'semver'
import type { Constraints } from './parse.ts'

export interface Selection {
  /** As they were spelled, newest first. */
  readonly versions: readonly string[]
  /** How many were no versions. */
  readonly skipped: number
}

/**
 * The versions that constraints choose, at most so many, newest first. Of two spellings of one version (`v1.0.0`,
 * `1.0.0`) the first stays.
 *
 * @param historyLimit 0 or less, or absent: all
 */
export function selectVersions(
  versions: Iterable<string>,
  constraints: Constraints,
  { historyLimit = 0 }: { readonly historyLimit?: number | undefined } = {},
): Selection {
  const chosen = new Map<string, { readonly spelled: string; readonly version: semver.SemVer }>()
  let skipped = 0
  for (const spelled of versions) {
    const version = semver.parse(spelled.trim().replace(/^v/i, ''))
    if (version === null) {
      skipped += 1
      continue
    }
    // `raw` keeps the build part, which is part of what a version is here.
    if (constraints.selects(version) && !chosen.has(version.raw)) {
      chosen.set(version.raw, { spelled, version })
    }
  }
  const newestFirst = [...chosen.values()].toSorted((a, b) =>
    semver.compareBuild(b.version, a.version),
  )
  const kept = historyLimit > 0 ? newestFirst.slice(0, historyLimit) : newestFirst
  return { versions: kept.map(({ spelled }) => spelled), skipped }
}
