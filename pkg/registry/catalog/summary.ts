import type { ParentKind } from '../../api/v1alpha1/v1alpha1.ts'
import { bestDownloadsOf, type DownloadTable } from './downloads.ts'
import { type FindingTable, type ScanCounts, scanCounts } from './findings.ts'
import type { Parent } from './parent.ts'
import type { ReadmeRef } from './rare.ts'
import type { ResourceRow } from './resource-row.ts'
import { isSemver } from './semver-order.ts'
import { type Totals, totalsOf } from './totals.ts'
import type { VersionRow } from './version-row.ts'
import type { VersionStates, VersionSum } from './version-sum.ts'

/** A snapshot of one module or provider and all its Versions. */
export interface Summary {
  readonly kind: ParentKind
  readonly namespace: string
  readonly name: string
  readonly resource: ResourceRow
  /** Its name in configurations after the namespace: `network/aws`, or the type of a provider. */
  readonly address: string
  readonly latestVersion: string | undefined
  /** Counts of the latest version; undefined if that was not scanned. */
  readonly scanCounts: ScanCounts | undefined
  /** The value of the resource's own status; otherwise, whether it has Versions and all are in sync. */
  readonly synced: boolean
  readonly states: VersionStates
  /** True if any Version is not in sync. */
  readonly hasUnsynced: boolean
  /** `linux/amd64`, each once; empty for modules. */
  readonly platforms: readonly string[]
  readonly downloads: number
  /** In milliseconds since 1970; undefined if there was none. */
  readonly lastDownloadedAt: number | undefined
  /** Downloads of the most downloaded version that still exists. */
  readonly bestDownloads: number
  /** End of the latest scan of any version, in milliseconds since 1970. */
  readonly lastScannedAt: number | undefined
  /** Time of the last news about any version, or later, in seconds since 1970. */
  readonly newsAt: number
  readonly totals: Totals
  /** The place of the latest version's README; modules only. */
  readonly readme: ReadmeRef | undefined
}

export interface SummarySources {
  readonly findings: FindingTable
  readonly downloads: DownloadTable
}

/**
 * Sums up an existing parent.
 *
 * @param sum the sum of its Versions
 */
export function summaryOf(
  parent: Parent,
  resource: ResourceRow,
  sum: VersionSum,
  sources: SummarySources,
): Summary {
  const { kind, namespace, name } = parent
  const downloads = sources.downloads.of(kind, namespace, name)
  const latestVersion = latestVersionOf(parent, resource, sum)
  const latest = latestVersion === undefined ? [] : parent.rowsOf(latestVersion)
  const hasUnsynced = sum.health.unsynced > 0 || sum.health.failed > 0
  return {
    kind,
    namespace,
    name,
    resource,
    address: addressOf(parent, resource),
    latestVersion,
    scanCounts: scanCounts(sources.findings, latest),
    synced: resource.synced ?? (sum.count > 0 && !hasUnsynced),
    states: sum.states,
    hasUnsynced,
    platforms: kind === 'Module' ? [] : [...sum.platforms],
    downloads: downloads?.count ?? 0,
    lastDownloadedAt: downloads?.count ? downloads.lastAt : undefined,
    bestDownloads: bestDownloadsOf(parent, downloads),
    lastScannedAt: sum.lastScannedAt,
    newsAt: sum.newsAt,
    totals: totalsOf({ kind, resource, sum, downloads: downloads?.count ?? 0 }),
    readme: latest.find((row) => row.readme !== undefined)?.readme,
  }
}

/** A module without a system has every system. */
function addressOf(
  { kind, name, hasAddress }: Parent,
  { configName, system }: ResourceRow,
): string {
  const own = hasAddress ? configName : name
  return kind === 'Provider' ? own : `${own}/${system ?? 'generic'}`
}

/**
 * The version in the resource's own status, if it exists and was not withdrawn in part or as a whole; otherwise the highest
 * one that a CLI would choose, that it can install, or that it could request. What can be installed is not withdrawn.
 */
function latestVersionOf(
  parent: Parent,
  { latestVersion }: ResourceRow,
  sum: VersionSum,
): string | undefined {
  const claimed = parent.rowsOf(latestVersion ?? '').filter((row) => !row.isDuplicate)
  const isWhole = claimed.every(isOffered)
  if (claimed.some((row) => isOffered(row) && (isWhole || row.downloadable))) return latestVersion
  return sum.newestRelease ?? sum.newest ?? parent.versions.find(isOffered)?.version
}

/** Whether people may be pointed to it, although it may not be stored yet. */
const isOffered = ({ version, lifecycle, isDuplicate }: VersionRow): boolean =>
  isSemver(version) && !isDuplicate && (lifecycle === undefined || lifecycle.state === 'Deprecated')
