import type { SeverityCounts, UnservedReason, VersionItem, VersionPage } from '../../api/records.ts'

/** A version with its archives: one of a module, one for each platform of a provider. */
export interface VersionGroup {
  readonly version: string
  readonly archives: readonly VersionItem[]
  /** Archives with the same version and platform as an older one. */
  readonly duplicates: readonly VersionItem[]
  /** Reasons that block archives. */
  readonly reasons: readonly UnservedReason[]
  /** Present if a served version breaks callers without a new major version. */
  readonly breaks: VersionItem['breaks']
  readonly scanCounts: SeverityCounts | undefined
  readonly downloads: number
  readonly lastDownloadedAt: string | undefined
  readonly failed: number
  /** Archives that are neither in sync nor failed. */
  readonly waiting: number
}

/** The versions of a page, in order. */
export function groupsOf({ items, versionScanCounts = {} }: VersionPage): VersionGroup[] {
  return [...Map.groupBy(items, ({ version }) => version)].map(([version, all]) => {
    const [duplicates = [], archives = []] = [true, false].map((isTwice) =>
      all.filter(({ reason }) => (reason === 'Duplicate') === isTwice),
    )
    // Archives of one platform share their count.
    const counted = new Map(archives.map((archive) => [platformOf(archive), archive]))
    const failed = archives.filter(hasFailed).length
    return {
      version,
      archives,
      duplicates,
      reasons: [...new Set(all.filter(isBlocked).flatMap(({ reason }) => reason ?? []))],
      breaks: archives.find(({ reason }) => reason !== 'BreakingChange')?.breaks,
      scanCounts: versionScanCounts[version],
      downloads: [...counted.values()].reduce((sum, it) => sum + (it.downloadCount ?? 0), 0),
      lastDownloadedAt: archives
        .flatMap((it) => it.lastDownloadedAt ?? [])
        .toSorted()
        .at(-1),
      failed,
      waiting: archives.filter(({ synced }) => !synced).length - failed,
    }
  })
}

/** `os/arch`; undefined for a module. */
export const platformOf = ({ os, arch }: VersionItem): string | undefined =>
  os === undefined ? undefined : `${os}/${arch}`

/** Whether an archive is not served for a reason other than its synchronisation. */
export const isBlocked = ({ reason, synced }: VersionItem): boolean =>
  reason !== undefined && (reason !== 'NoDigest' || synced)

export const hasFailed = ({ synced, syncStatus = '' }: VersionItem): boolean =>
  !synced && /fail|error/i.test(syncStatus)
