import { rankOf } from '../../../../api/findings/findings.ts'
import type { Finding, ResourceDetail, SeverityCounts } from '../../api/records.ts'
import { ranks } from '../../parts/severity-counts.tsx'

export function countsOf(findings: readonly Finding[]): SeverityCounts {
  const counts = { critical: 0, high: 0, medium: 0, low: 0, unknown: 0 }
  for (const { severity } of findings) counts[ranks[rankOf(severity)]?.key ?? 'unknown'] += 1
  return counts
}

/** Number of findings of the shown version; undefined if it was not scanned. */
export const countOf = ({ scanCounts }: Pick<ResourceDetail, 'scanCounts'>): number | undefined =>
  scanCounts && Object.values(scanCounts).reduce((sum, count) => sum + count, 0)

export interface FindingFilter {
  /** The lowest severity; empty for any. */
  readonly severity: string
  readonly text: string
  readonly fixable: boolean
}

/** Worst first, then in the order of the scanner. */
export function filterFindings(findings: readonly Finding[], filter: FindingFilter): Finding[] {
  const worst = rankOf(filter.severity)
  const text = filter.text.toLowerCase()
  return findings
    .filter(({ severity }) => rankOf(severity) <= worst)
    .filter(({ fixedVersion }) => !filter.fixable || (fixedVersion ?? '') !== '')
    .filter(
      (it) =>
        text === '' ||
        [it.vulnerabilityID, it.pkgName, it.title].some((word) =>
          word.toLowerCase().includes(text),
        ),
    )
    .toSorted((a, b) => rankOf(a.severity) - rankOf(b.severity))
}
