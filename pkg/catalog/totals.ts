import type { StorageConfig } from '../apis/v1alpha1/v1alpha1.ts'
import type { FindingTable } from './findings.ts'
import type { Parent } from './parent.ts'
import type { ResourceRow } from './resource-row.ts'
import { scanCounts } from './scans.ts'
import { severities } from './severity.ts'
import type { VersionRow } from './version-row.ts'

/** Names of the storage backends in statistics. */
export const backends = ['s3', 'azure', 'gcs', 'filesystem'] as const
export type Backend = (typeof backends)[number]

const columns = [
  'modules',
  'providers',
  'versions',
  'storageBytes',
  'downloads',
  'synced',
  'unsynced',
  'failed',
  ...severities,
  'affectedResources',
  ...backends,
] as const

type Column = (typeof columns)[number]

/** Numbers that add up, in a fixed order: those of one resource, or the sum over many. */
export type Totals = number[]

export function noTotals(): Totals {
  return columns.map(() => 0)
}

/** Adds one to the other; a sign of -1 takes it away again. */
export function accumulate(sum: Totals, some: Readonly<Totals>, sign: 1 | -1): void {
  for (let index = 0; index < sum.length; index += 1) {
    sum[index] = (sum[index] as number) + sign * (some[index] as number)
  }
}

export function namedTotals(totals: Readonly<Totals>): Record<Column, number> {
  return Object.fromEntries(columns.map((column, index) => [column, totals[index] ?? 0])) as Record<
    Column,
    number
  >
}

/** What one resource adds to the statistics of those who may see it. */
export function totalsOf(
  parent: Parent,
  resource: ResourceRow,
  downloads: number,
  findings: FindingTable,
): Totals {
  const totals = noTotals()
  const add = (column: Column, count: number): void => {
    const index = columns.indexOf(column)
    totals[index] = (totals[index] ?? 0) + count
  }
  add(parent.kind === 'Module' ? 'modules' : 'providers', 1)
  add('versions', parent.versions.length)
  add('downloads', downloads)
  const health = { synced: 0, unsynced: 0, failed: 0 }
  let storageBytes = 0
  for (const row of parent.versions) {
    storageBytes += row.sizeBytes ?? 0
    health[row.health] += 1
  }
  add('storageBytes', storageBytes)
  for (const [state, count] of Object.entries(health)) add(state as keyof typeof health, count)
  let affected = false
  for (const rows of byVersion(parent.versions)) {
    const counts = scanCounts(findings, rows)
    if (counts === undefined) continue
    for (const severity of severities) {
      add(severity, counts[severity])
      affected ||= counts[severity] > 0
    }
  }
  add('affectedResources', affected ? 1 : 0)
  const backend = backendOf(
    resource.storage ?? parent.versions.find(({ common }) => common.storage)?.common.storage,
  )
  if (backend !== undefined) add(backend, 1)
  return totals
}

export function backendOf(storage: StorageConfig | undefined): Backend | undefined {
  if (storage === undefined) return undefined
  if (storage.s3 !== undefined) return 's3'
  if (storage.azureStorage !== undefined) return 'azure'
  return storage.gcs === undefined ? 'filesystem' : 'gcs'
}

/** Runs of rows with the same version; rows come sorted. */
function* byVersion(rows: readonly VersionRow[]): Generator<readonly VersionRow[]> {
  for (let start = 0, end = 0; start < rows.length; start = end) {
    while (rows[end]?.version === rows[start]?.version && end < rows.length) end += 1
    yield rows.slice(start, end)
  }
}
