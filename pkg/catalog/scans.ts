import type { SecurityFinding } from '../apis/v1alpha1/v1alpha1.ts'
import type { FindingList, FindingTable } from './findings.ts'
import type { Severity } from './severity.ts'
import type { VersionRow } from './version-row.ts'

/** Number of distinct findings of each severity. */
export type ScanCounts = Readonly<Record<Severity, number>>

function isScanned(row: VersionRow): boolean {
  return row.sourceScannedAt !== undefined || row.binaryScannedAt !== undefined
}

/** Counts over the source and binary scans of some rows; undefined where none was scanned. */
export function scanCounts(
  table: FindingTable,
  rows: readonly VersionRow[],
): ScanCounts | undefined {
  if (!rows.some(isScanned)) return undefined
  const counts = { critical: 0, high: 0, medium: 0, low: 0, unknown: 0 }
  const lists = rows.flatMap((row) => [row.sourceFindings, row.binaryFindings])
  for (const id of distinct(table, lists)) counts[table.severityOf(id)] += 1
  return counts
}

/** The findings of some scans, in their order, each once. */
export function distinctFindings(
  table: FindingTable,
  lists: readonly FindingList[],
): SecurityFinding[] {
  return Array.from(distinct(table, lists), (id) => table.at(id))
}

/**
 * Two scans may name the same vulnerability of the same package and differ in the rest: it counts once, as the worse of
 * the two says, because the milder one may be out of date.
 */
function distinct(table: FindingTable, lists: readonly FindingList[]): Iterable<number> {
  const found = new Map<number, number>()
  for (const list of lists) {
    for (const id of table.ids(list)) {
      const subject = table.subjectOf(id)
      const known = found.get(subject)
      if (known === undefined || table.rankOf(id) < table.rankOf(known)) found.set(subject, id)
    }
  }
  return found.values()
}
