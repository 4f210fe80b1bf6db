/* Answers of the browse API, named as in its OpenAPI document. */
import type { output } from 'zod'
import type {
  BrowseResource,
  BrowseStats,
  BrowseVersion,
  DepotGraph as DepotGraphRecord,
  DownloadHistory,
  ResourceDetail,
  ScanFindings,
} from '../../../api/browse/browse.ts'

export type { BrowseResource, BrowseStats, DownloadHistory, ResourceDetail, ScanFindings }

export type DepotGraph = output<typeof DepotGraphRecord>
export type ScanCounts = NonNullable<BrowseResource['scanCounts']>
export type Finding = ResourceDetail['sourceScanFindings'][number]
export type VersionRow = BrowseVersion

/** A page of a list. */
interface Page<T> {
  readonly items: readonly T[]
  readonly totalCount: number
  readonly page: number
  readonly pageSize: number
}
export type ResourcePage = Page<BrowseResource>
export type VersionPage = Page<VersionRow> & {
  readonly availableOS?: readonly string[]
  readonly availableArch?: readonly string[]
}
export interface NamespaceList {
  readonly items: readonly { readonly name: string }[]
}

/** The caller as the server identified them. */
export interface WhoAmI {
  readonly mode: string
  readonly kind: string
  readonly subject?: string
  readonly groups: readonly string[]
  readonly access: string
  readonly binding?: {
    readonly name: string
    readonly moduleResources: readonly string[]
    readonly providerResources: readonly string[]
  }
  readonly failedBinding?: { readonly name: string; readonly error: string }
}
