import type { SecurityFinding } from '../../api/v1alpha1/v1alpha1.ts'
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
  const lists: FindingList[] = []
  for (const row of rows) addLists(row, lists)
  const [critical = 0, high = 0, medium = 0, low = 0, unknown = 0] = table.countByRank(lists)
  return { critical, high, medium, low, unknown }
}

/** Adds the findings of both scans of a row to others. */
export function addLists(
  { sourceFindings, binaryFindings }: VersionRow,
  lists: FindingList[],
): void {
  if (sourceFindings !== 0) lists.push(sourceFindings)
  if (binaryFindings !== 0) lists.push(binaryFindings)
}

/** The findings of some scans, in their order, each once. */
export function distinctFindings(
  table: FindingTable,
  lists: readonly FindingList[],
): SecurityFinding[] {
  return table.distinct(lists).map((id) => table.at(id))
}
