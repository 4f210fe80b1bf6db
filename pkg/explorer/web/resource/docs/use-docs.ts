import type { ResourceDetail, VersionDocs } from '../../api/records.ts'
import { type Query, useQuery } from '../../api/use-query.ts'
import { docsUrl, type PageAddress } from '../../url/pages.ts'
import type { ChosenVersion } from '../version-pick.tsx'

export interface Documentation {
  readonly query: Query<VersionDocs>
  /** Documentation of the version that the page shows, never that of another one. */
  readonly docs: VersionDocs | undefined
}

export function useDocs(
  address: PageAddress,
  { hasDocs }: ResourceDetail,
  { shown = '' }: ChosenVersion,
): Documentation {
  const query = useQuery<VersionDocs>(hasDocs ? docsUrl(address, shown) : undefined)
  const isCurrent = hasDocs && !query.previous && query.data?.version === shown
  return { query, docs: isCurrent ? query.data : undefined }
}

/** The README of the shown version. For older versions, a cluster has it only in their documentation. */
export const readmeOf = (
  { kind, readmeContent }: ResourceDetail,
  docs: VersionDocs | undefined,
): string | undefined => (kind === 'module' ? (readmeContent ?? docs?.root.readme) : undefined)
