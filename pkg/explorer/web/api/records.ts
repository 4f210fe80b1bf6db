/* Answers of the browse API, named as in its OpenAPI document. */
import type { output } from 'zod'
import type {
  BrowseConflict,
  BrowseResource,
  BrowseVersion,
  DepotGraph as DepotGraphRecord,
  ResourceDetail,
  VersionDocs,
} from '../../../api/browse/browse.ts'

export type * from '../../../api/browse/browse.ts'

export type DepotGraph = output<typeof DepotGraphRecord>
export type SeverityCounts = NonNullable<BrowseResource['scanCounts']>
export type Finding = ResourceDetail['sourceScanFindings'][number]
export type UnservedReason = BrowseConflict['reason']
export type ResourceReason = NonNullable<BrowseResource['reason']>
export type VersionItem = BrowseVersion
export type ModuleInput = VersionDocs['root']['inputs'][number]

export interface ListPage<T> {
  readonly items: readonly T[]
  readonly totalCount: number
  readonly page: number
  readonly pageSize: number
}
export type ResourcePage = ListPage<BrowseResource>
export type VersionPage = ListPage<VersionItem> & {
  readonly versionScanCounts?: Readonly<Record<string, SeverityCounts>>
  readonly availableOS?: readonly string[]
  readonly availableArch?: readonly string[]
}
export interface NamespaceList {
  readonly items: readonly { readonly name: string }[]
}
