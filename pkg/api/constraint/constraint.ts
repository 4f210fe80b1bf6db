/**
 * Version constraints in the syntax of Terraform and OpenTofu: `>= 1.2, != 1.4.0`, `~> 2.1`. They have the meaning that they
 * have there; npm's ranges use the same signs with other meanings.
 *
 * @see https://developer.hashicorp.com/terraform/language/expressions/version-constraints
 */

import semver from 'semver'
import type { Constraints } from './parse.ts'

export { excludedVersion } from './narrowing.ts'
export * from './parse.ts'

/**
 * Selects versions, newest first. If two texts spell one version (`v1.0.0`, `1.0.0`), the first is kept.
 *
 * @param historyLimit maximum number of versions; 0 or less, or absent: all
 */
export function selectVersions(
  versions: Iterable<string>,
  constraints: Constraints,
  { historyLimit = 0 }: { readonly historyLimit?: number | undefined } = {},
): { readonly versions: readonly string[]; readonly skipped: number } {
  const chosen = new Map<string, { readonly spelled: string; readonly version: semver.SemVer }>()
  let skipped = 0
  for (const spelled of versions) {
    const version = semver.parse(spelled.trim().replace(/^v/i, ''))
    if (version === null) {
      skipped += 1
      continue
    }
    // `raw` keeps the build metadata, which tells versions apart here.
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
