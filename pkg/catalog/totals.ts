import type { ParentKind, StorageConfig } from '../apis/v1alpha1/v1alpha1.ts'
import type { ResourceRow } from './resource-row.ts'
import { severities } from './severity.ts'
import type { VersionSum } from './version-sum.ts'

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
export function totalsOf({
  kind,
  resource,
  sum,
  downloads,
}: {
  readonly kind: ParentKind
  readonly resource: ResourceRow
  readonly sum: VersionSum
  readonly downloads: number
}): Totals {
  const totals = noTotals()
  const add = (column: Column, count: number): void => {
    const index = columns.indexOf(column)
    totals[index] = (totals[index] ?? 0) + count
  }
  add(kind === 'Module' ? 'modules' : 'providers', 1)
  add('downloads', downloads)
  add('versions', sum.count)
  add('storageBytes', sum.storageBytes)
  add('synced', sum.health.synced)
  add('unsynced', sum.health.unsynced)
  add('failed', sum.health.failed)
  for (const [rank, severity] of severities.entries()) add(severity, sum.findings[rank] ?? 0)
  add('affectedResources', sum.findings.some((count) => count > 0) ? 1 : 0)
  const backend = backendOf(resource.storage ?? sum.storage)
  if (backend !== undefined) add(backend, 1)
  return totals
}

export function backendOf(storage: StorageConfig | undefined): Backend | undefined {
  if (storage === undefined) return undefined
  if (storage.s3 !== undefined) return 's3'
  if (storage.azureStorage !== undefined) return 'azure'
  return storage.gcs === undefined ? 'filesystem' : 'gcs'
}
