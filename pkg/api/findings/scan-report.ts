import type { VersionFindings } from '../browse/browse.ts'
import { rankOf, type ScanFinding, type Severity } from './upgrades.ts'

/** Results of the scans of one version. */
export type ScanReport = Omit<VersionFindings, 'packages'>

type ReportedScan = ScanReport['scans'][number]

/** The scanned archives, as a part of a sentence. */
const subjectOfScan = ({ in: part, platforms = [] }: ReportedScan): string =>
  part === 'source' ? part : platforms.join(', ')

/** Whether a finding is of this severity or a worse one. */
export const isAtLeast = ({ severity }: ScanFinding, least: Severity): boolean =>
  rankOf(severity) <= rankOf(least)

/** Each finding once, with the archives that have it. */
export function distinctFindings({
  scans,
}: ScanReport): { readonly finding: ScanFinding; readonly places: readonly string[] }[] {
  const found = scans.flatMap((scan) =>
    scan.findings.map((finding) => ({ finding, place: subjectOfScan(scan) })),
  )
  const groups = Map.groupBy(found, ({ finding }) =>
    JSON.stringify([finding.vulnerabilityID, finding.pkgName, finding.installedVersion]),
  )
  return Array.from(groups.values(), (all) => {
    const [worst] = all.toSorted((a, b) => rankOf(a.finding.severity) - rankOf(b.finding.severity))
    return worst && { finding: worst.finding, places: all.map(({ place }) => place) }
  }).filter((one) => one !== undefined)
}
