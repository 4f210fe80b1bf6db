import { useMemo } from 'preact/hooks'
import type { VersionPage } from '../api/records.ts'
import { useQuery } from '../api/use-query.ts'
import { type PageAddress, resourceUrl } from '../url/pages.ts'

/** `os/arch` of the archives of a provider's version; empty until they are loaded. */
export function usePlatforms(address: PageAddress, version: string | undefined): readonly string[] {
  const url =
    address.kind === 'provider' && version !== undefined
      ? `${resourceUrl(address)}/versions?page_size=100&q=${encodeURIComponent(version)}`
      : undefined
  const { data, previous } = useQuery<VersionPage>(url)
  return useMemo(() => {
    if (url === undefined || previous) return []
    const own = (data?.items ?? []).filter((row) => row.version === version)
    return own.map(({ os = '', arch = '' }) => `${os}/${arch}`).toSorted()
  }, [data, previous, version])
}
