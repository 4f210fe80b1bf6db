import type { ResourceDetail, VersionDocs } from '../api/records.ts'
import type { UrlChange } from '../url/navigate.ts'
import type { PageAddress, ResourceValues } from '../url/pages.ts'
import type { ChosenVersion } from './version-pick.tsx'

export type ResourceChange = UrlChange<ResourceValues>

export interface SectionProps {
  readonly address: PageAddress
  readonly detail: ResourceDetail
  readonly version: ChosenVersion
  /** Documentation of the version; undefined until it is loaded, and if there is none. */
  readonly docs: VersionDocs | undefined
  readonly values: ResourceValues
  readonly change: ResourceChange
}

export interface TabProps extends SectionProps {
  readonly docs: VersionDocs
}
