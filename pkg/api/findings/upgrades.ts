import type { VersionFindings } from '../browse/browse.ts'

export type ScanFinding = VersionFindings['scans'][number]['findings'][number]

/** The findings of one package, and the version that closes most of them. */
export type PackageFindings = VersionFindings['packages'][number]

/** From the worst to the mildest. */
export const severities = ['CRITICAL', 'HIGH', 'MEDIUM', 'LOW', 'UNKNOWN'] as const
export type Severity = (typeof severities)[number]

/** Index in {@link severities}; other words count as unknown. */
export function rankOf(severity: string): number {
  const rank = severities.findIndex((known) => known === severity.toUpperCase())
  return rank < 0 ? severities.length - 1 : rank
}

/** Scanners are not trusted: a long list of versions must not take long. */
const maxCandidates = 32

export const packageKey = ({
  pkgName,
  installedVersion,
}: Pick<ScanFinding, 'pkgName' | 'installedVersion'>): string =>
  JSON.stringify([pkgName, installedVersion])

/** Groups findings by package and installed version: the worst first, then those with most findings. */
export function packagesOf(findings: readonly ScanFinding[]): PackageFindings[] {
  const groups = Map.groupBy(findings, packageKey)
  return Array.from(groups.values(), packageOf).toSorted(
    (a, b) =>
      rankOf(a.severity) - rankOf(b.severity) ||
      b.findings - a.findings ||
      compareTexts(a.pkgName, b.pkgName),
  )
}

function packageOf(all: readonly ScanFinding[]): PackageFindings {
  const worst = Math.min(...all.map(({ severity }) => rankOf(severity)))
  const { pkgName = '', installedVersion = '' } = all[0] ?? {}
  return {
    pkgName,
    installedVersion,
    severity: severities[worst] ?? 'UNKNOWN',
    findings: all.length,
    ...upgradeOf(all, installedVersion),
  }
}

function upgradeOf(
  all: readonly ScanFinding[],
  installedVersion: string,
): Pick<PackageFindings, 'fixedIn' | 'closes'> {
  const installed = numbered(installedVersion)
  const fixes = all.map(({ fixedVersion = '' }) =>
    fixedVersion
      .split(',', maxCandidates)
      .flatMap((text) => numbered(text) ?? [])
      .toSorted(compareNumbers),
  )
  const byText = new Map(fixes.flat().map((version) => [version.text, version]))
  const candidates = [...byText.values()]
    .filter((version) => installed === undefined || compareNumbers(version, installed) > 0)
    .toSorted(compareNumbers)
    .slice(-maxCandidates)
  let best: { fixedIn: string; closes: number } | undefined
  for (const version of candidates) {
    const closes = fixes.filter((own) => isClosedBy(version, own)).length
    if (closes > (best?.closes ?? 0)) best = { fixedIn: version.text, closes }
  }
  return best ?? {}
}

/**
 * Whether a version is not affected. A list such as 1.21.8, 1.22.1 has the fix of each line: 1.22.0 is affected, although it
 * is higher than 1.21.8. Between two lines of one major version nobody knows.
 *
 * @param fixes lowest first
 */
function isClosedBy(version: Numbered, fixes: readonly Numbered[]): boolean {
  const below = fixes.findLast((fix) => compareNumbers(fix, version) <= 0)
  if (below === undefined) return false
  const above = fixes.find((fix) => compareNumbers(fix, version) > 0)
  const isSameLine = below.major === version.major && below.minor === version.minor
  return above === undefined || isSameLine || above.major > version.major
}

interface Numbered {
  readonly text: string
  readonly major: number
  readonly minor: number
  readonly patch: number
  /** Text after the numbers; empty for a release. */
  readonly pre: string
}

/** @returns undefined for what is not like a semantic version */
function numbered(written: string): Numbered | undefined {
  const text = written.trim()
  const [, major, minor = 0, patch = 0, pre = ''] =
    /^v?(\d{1,9})(?:\.(\d{1,9}))?(?:\.(\d{1,9}))?(?:-([\w.-]+))?(?:\+[\w.-]+)?$/.exec(text) ?? []
  if (major === undefined) return undefined
  return { text, major: Number(major), minor: Number(minor), patch: Number(patch), pre }
}

function compareNumbers(a: Numbered, b: Numbered): number {
  return (
    a.major - b.major ||
    a.minor - b.minor ||
    a.patch - b.patch ||
    // A prerelease is lower than its release.
    Number(a.pre === '') - Number(b.pre === '') ||
    compareTexts(a.pre, b.pre)
  )
}

const compareTexts = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)
