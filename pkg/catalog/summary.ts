import type { DownloadTable } from './downloads.ts'
import type { FindingTable } from './findings.ts'
import type { Parent } from './parent.ts'
import type { ReadmeRef } from './readme-ref.ts'
import type { ResourceRow } from './resource-row.ts'
import { type ScanCounts, scanCounts } from './scans.ts'
import { isPrerelease, isSemver } from './semver-order.ts'
import { type Totals, totalsOf } from './totals.ts'
import type { VersionRow } from './version-row.ts'
import { statesOf, type VersionStates } from './version-states.ts'

/** What is known of one module or provider and all its Versions, at one moment. */
export interface Summary {
  readonly kind: 'Module' | 'Provider'
  readonly namespace: string
  readonly name: string
  readonly resource: ResourceRow
  /** What stands for it in configurations after the namespace: `network/aws`, or the type of a provider. */
  readonly address: string
  readonly latestVersion: string | undefined
  /** Of the latest version; undefined where that was not scanned. */
  readonly scanCounts: ScanCounts | undefined
  /** As the resource says it; where it says nothing, whether it has Versions and all of them are in sync. */
  readonly synced: boolean
  readonly states: VersionStates
  /** Whether any Version is not in sync. */
  readonly hasUnsynced: boolean
  /** `linux/amd64`, each once; empty for modules. */
  readonly platforms: readonly string[]
  readonly downloads: number
  /** In milliseconds since 1970; undefined where there was none. */
  readonly lastDownloadedAt: number | undefined
  /** Downloads of the most downloaded version that still exists. */
  readonly bestDownloads: number
  /** End of the latest scan of any version, in milliseconds since 1970. */
  readonly lastScannedAt: number | undefined
  readonly totals: Totals
  /** Where the README of the latest version is kept; modules only. */
  readonly readme: ReadmeRef | undefined
}

export interface SummarySources {
  readonly findings: FindingTable
  readonly downloads: DownloadTable
}

/** Reads a parent that exists. Costs what its Versions and their findings cost. */
export function summaryOf(parent: Parent, resource: ResourceRow, sources: SummarySources): Summary {
  const { kind, namespace, name, versions } = parent
  const downloads = sources.downloads.of(kind, namespace, name)
  const latestVersion = latestVersionOf(parent, resource)
  const latest = latestVersion === undefined ? [] : parent.rowsOf(latestVersion)
  const byVersion = downloadsByVersion(parent, sources.downloads)
  const hasUnsynced = versions.some((row) => row.health !== 'synced')
  return {
    kind,
    namespace,
    name,
    resource,
    address: addressOf(parent, resource),
    latestVersion,
    scanCounts: scanCounts(sources.findings, latest),
    synced: resource.synced ?? (versions.length > 0 && !hasUnsynced),
    states: statesOf(versions),
    hasUnsynced,
    platforms: kind === 'Module' ? [] : platformsOf(versions),
    downloads: downloads?.count ?? 0,
    lastDownloadedAt: downloads?.count ? downloads.lastAt : undefined,
    bestDownloads: [...byVersion.values()].reduce((best, { count }) => Math.max(best, count), 0),
    lastScannedAt: lastScannedAt(versions),
    totals: totalsOf(parent, resource, downloads?.count ?? 0, sources.findings),
    readme: latest.find((row) => row.readme !== undefined)?.readme,
  }
}

/** A module that names no system answers to any. */
function addressOf(
  { kind, name, hasAddress }: Parent,
  { configName, system }: ResourceRow,
): string {
  const own = hasAddress ? configName : name
  return kind === 'Provider' ? own : `${own}/${system ?? 'generic'}`
}

/** Downloads of each version that exists, its platforms together; only what was downloaded. */
export function downloadsByVersion(
  { kind, namespace, name, versions }: Parent,
  table: DownloadTable,
): Map<string, { count: number; lastAt: number }> {
  const found = new Map<string, { count: number; lastAt: number }>()
  const downloads = table.of(kind, namespace, name)
  if (downloads === undefined) return found
  const seen = new Set<string>()
  for (const row of versions) {
    const platform = `${row.version} ${row.os}/${row.arch}`
    const { count = 0, lastAt = 0 } = downloads.of(row) ?? {}
    if (count === 0 || seen.has(platform)) continue
    seen.add(platform)
    const known = found.get(row.version)
    found.set(row.version, {
      count: (known?.count ?? 0) + count,
      lastAt: Math.max(known?.lastAt ?? 0, lastAt),
    })
  }
  return found
}

/** What the resource claims, if it exists; else the highest that a CLI would choose, can install, or could ask for. */
function latestVersionOf(parent: Parent, { latestVersion }: ResourceRow): string | undefined {
  if (
    latestVersion !== undefined &&
    isSemver(latestVersion) &&
    parent.rowsOf(latestVersion).length > 0
  ) {
    return latestVersion
  }
  let prerelease: string | undefined
  for (const row of parent.versions) {
    if (!row.downloadable) continue
    if (!isPrerelease(row.version)) return row.version
    prerelease ??= row.version
  }
  const highest = parent.versions[0]?.version
  return prerelease ?? (highest !== undefined && isSemver(highest) ? highest : undefined)
}

function platformsOf(rows: readonly VersionRow[]): string[] {
  return [...new Set(rows.map(({ os = '', arch = '' }) => `${os}/${arch}`.toLowerCase()))]
}

function lastScannedAt(rows: readonly VersionRow[]): number | undefined {
  let last: number | undefined
  let known: string | undefined
  for (const row of rows) {
    for (const scannedAt of [row.sourceScannedAt, row.binaryScannedAt]) {
      // One scan covers many Versions.
      if (scannedAt === undefined || scannedAt === '' || scannedAt === known) continue
      known = scannedAt
      const time = Date.parse(scannedAt)
      if (time > (last ?? Number.NEGATIVE_INFINITY)) last = time
    }
  }
  return last
}
