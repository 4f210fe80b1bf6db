import { backendOf, backends, type ParentKind } from '../../api/v1alpha1/v1alpha1.ts'
import { severities } from './findings.ts'
import type { ResourceRow } from './resource-row.ts'
import type { VersionSum } from './version-sum.ts'

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

/** Numbers in the order of `columns`, of one resource or summed over many. */
export type Totals = number[]

export function noTotals(): Totals {
  return columns.map(() => 0)
}

export function accumulate(sum: Totals, some: Readonly<Totals>): void {
  for (let index = 0; index < sum.length; index += 1) {
    sum[index] = (sum[index] as number) + (some[index] as number)
  }
}

export function namedTotals(totals: Readonly<Totals>): Record<Column, number> {
  return Object.fromEntries(columns.map((column, index) => [column, totals[index] ?? 0])) as Record<
    Column,
    number
  >
}

/** The numbers of one resource, for the statistics of callers who can see it. */
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
  const storage = resource.storage ?? sum.storage
  if (storage !== undefined) add(backendOf(storage), 1)
  return totals
}
