import {
  type Downloads,
  type DownloadTable,
  platformOf,
  type ResourceDownloads,
} from './downloads.ts'
import type { FindingTable } from './findings.ts'
import type { Parent } from './parent.ts'
import type { ReadmeRef } from './readme-ref.ts'
import type { ResourceRow } from './resource-row.ts'
import { type ScanCounts, scanCounts } from './scans.ts'
import { isPrerelease, isSemver } from './semver-order.ts'
import { type Totals, totalsOf } from './totals.ts'
import type { VersionRow } from './version-row.ts'
import { addStates, noStates, type VersionStates } from './version-states.ts'
import type { VersionSum } from './version-sums.ts'

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

/**
 * Reads a parent that exists.
 *
 * @param sums of its versions
 */
export function summaryOf(
  parent: Parent,
  resource: ResourceRow,
  sums: readonly VersionSum[],
  sources: SummarySources,
): Summary {
  const { kind, namespace, name, versions } = parent
  const downloads = sources.downloads.of(kind, namespace, name)
  const latestVersion = latestVersionOf(parent, resource, sums)
  const latest = latestVersion === undefined ? [] : parent.rowsOf(latestVersion)
  const byVersion = downloadsByVersion(downloads, sums)
  const hasUnsynced = sums.some(({ health }) => health.unsynced > 0 || health.failed > 0)
  const states = noStates()
  for (const sum of sums) addStates(states, sum.states, 1)
  return {
    kind,
    namespace,
    name,
    resource,
    address: addressOf(parent, resource),
    latestVersion,
    scanCounts: scanCounts(sources.findings, latest),
    synced: resource.synced ?? (versions.length > 0 && !hasUnsynced),
    states,
    hasUnsynced,
    platforms: kind === 'Module' ? [] : [...new Set(sums.flatMap(({ platforms }) => platforms))],
    downloads: downloads?.count ?? 0,
    lastDownloadedAt: downloads?.count ? downloads.lastAt : undefined,
    bestDownloads: [...byVersion.values()].reduce((best, { count }) => Math.max(best, count), 0),
    lastScannedAt: latestOf(sums),
    totals: totalsOf({ kind, resource, sums, downloads: downloads?.count ?? 0 }),
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

/**
 * Downloads of each version that exists, its platforms together; only what was downloaded.
 *
 * @param versions that exist, each once: looking each up again would cost more than walking along all
 */
export function downloadsByVersion(
  known: ResourceDownloads | undefined,
  versions: Iterable<{ readonly rows: readonly VersionRow[] }>,
): Map<string, { count: number; lastAt: number }> {
  const found = new Map<string, { count: number; lastAt: number }>()
  if (known === undefined) return found
  for (const { rows } of versions) {
    const version = rows[0]?.version ?? ''
    const platforms = known.byVersion.get(version)
    if (platforms === undefined) continue
    const counted = new Set<Downloads>()
    for (const { os, arch } of rows) {
      const downloads = platforms.get(platformOf({ os, arch }))
      if (downloads !== undefined && downloads.count > 0) counted.add(downloads)
    }
    let [count, lastAt] = [0, 0]
    for (const one of counted) {
      count += one.count
      lastAt = Math.max(lastAt, one.lastAt)
    }
    if (count > 0) found.set(version, { count, lastAt })
  }
  return found
}

function latestOf(sums: readonly VersionSum[]): number | undefined {
  let latest: number | undefined
  for (const { lastScannedAt } of sums) {
    if (lastScannedAt !== undefined && lastScannedAt > (latest ?? Number.NEGATIVE_INFINITY)) {
      latest = lastScannedAt
    }
  }
  return latest
}

/** What the resource claims, if it exists; else the highest that a CLI would choose, can install, or could ask for. */
function latestVersionOf(
  parent: Parent,
  { latestVersion }: ResourceRow,
  sums: readonly VersionSum[],
): string | undefined {
  if (
    latestVersion !== undefined &&
    isSemver(latestVersion) &&
    parent.rowsOf(latestVersion).length > 0
  ) {
    return latestVersion
  }
  let prerelease: string | undefined
  for (const { rows, states } of sums) {
    if (states.unservable === rows.length) continue
    const version = rows[0]?.version ?? ''
    if (!isPrerelease(version)) return version
    prerelease ??= version
  }
  const highest = parent.versions[0]?.version
  return prerelease ?? (highest !== undefined && isSemver(highest) ? highest : undefined)
}
