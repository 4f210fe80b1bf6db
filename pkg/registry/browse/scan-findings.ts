import * as z from 'zod'
import { ScanFindings } from '../../api/browse/browse.ts'
import { type Catalog, distinctFindings, type Parent, type VersionRow } from '../catalog/catalog.ts'
import { endpoint } from './endpoint.ts'
import { flag, optional, resourcePath, word } from './parameters.ts'
import { findResource, platformOf, requireVersion, revisionOf } from './resource-record.ts'
import { exampleFinding, oldestScan } from './version-findings.ts'

const query = z.object({
  version: optional(
    word,
    '2.0.0',
    'The version whose source scan to show. Default: the one that was scanned last.',
  ),
  binaryVersion: optional(
    word,
    '2.0.0',
    'The version whose binary scans to show; providers only. Default: for each platform the highest version that has one.',
  ),
  shared: optional(
    flag,
    true,
    'true: a list that several platforms share is sent once, see sameFindings.',
  ),
})

export const scanFindings = endpoint({
  route: '/resources/{namespace}/{kind}/{name}/scan-findings',
  operationId: 'getScanFindings',
  summary: 'Scan findings of a module or provider',
  description: 'The findings in source code and, for providers, in binaries. Each finding once.',
  path: resourcePath,
  query,
  response: ScanFindings,
  example: {
    sourceScanFindings: [exampleFinding],
    selectedVersion: '2.0.0',
    scannedVersions: ['2.0.0', '1.1.0'],
    oldestScan: { scannedAt: '2026-11-26T08:00:00Z', scanner: 'trivy 0.70.0' },
  },
  answer({ catalog, view, path, query: asked }) {
    const { parent, summary } = findResource(catalog, view, path)
    const source = sourceScan(parent, asked.version)
    const binary = summary.kind === 'Module' ? noBinaries : binaryScans(parent, asked.binaryVersion)
    const anyScan = source.versions.length > 0 || binary.versions.length > 0
    const findings: ScanFindings = {
      sourceScanFindings: someOf(
        distinctFindings(
          catalog.findings,
          source.rows.map((row) => row.sourceFindings),
        ),
      ),
      ...byPlatform(binary.rows, catalog, asked.shared === true),
      selectedVersion: anyScan ? source.version : undefined,
      scannedVersions: someOf(source.versions),
      binaryVersions: someOf(binary.versions),
      oldestScan: oldestScan([
        ...source.rows.map((row) => ({ row, when: 'sourceScannedAt' as const })),
        ...binary.rows.map((row) => ({ row, when: 'binaryScannedAt' as const })),
      ]),
    }
    return { body: JSON.stringify(findings), revision: () => revisionOf(catalog, view, path) }
  },
})

interface Scans {
  readonly rows: readonly VersionRow[]
  /** All versions with such a scan, newest first. */
  readonly versions: readonly string[]
}

const noBinaries: Scans = { rows: [], versions: [] }

function sourceScan(
  parent: Parent,
  wanted: string | undefined,
): Scans & { version?: string | undefined } {
  const scanned = parent.versions.filter((row) => row.sourceScannedAt !== undefined)
  const versions = distinctVersions(scanned)
  if (wanted === undefined) {
    const last = lastScanned(scanned)?.version
    return { rows: scanned.filter((row) => row.version === last), versions, version: last }
  }
  const version = requireVersion(parent, wanted)
  return { rows: scanned.filter((row) => row.version === version), versions, version }
}

function binaryScans(parent: Parent, wanted: string | undefined): Scans {
  const scanned = parent.versions.filter((row) => row.binaryScannedAt !== undefined)
  const versions = distinctVersions(scanned)
  if (wanted !== undefined) {
    const version = requireVersion(parent, wanted)
    return { rows: scanned.filter((row) => row.version === version), versions }
  }
  const highest = new Map<string, string>()
  for (const row of scanned) {
    if (!highest.has(platformOf(row))) highest.set(platformOf(row), row.version)
  }
  return { rows: scanned.filter((row) => highest.get(platformOf(row)) === row.version), versions }
}

/** The row that was scanned last. Among equal or unknown times, the newest version. */
function lastScanned(rows: readonly VersionRow[]): VersionRow | undefined {
  const timeOf = ({ sourceScannedAt = '' }: VersionRow): number => {
    const time = Date.parse(sourceScannedAt)
    return Number.isNaN(time) ? Number.NEGATIVE_INFINITY : time
  }
  return rows.reduce<VersionRow | undefined>(
    (last, row) => (last === undefined || timeOf(row) > timeOf(last) ? row : last),
    undefined,
  )
}

function byPlatform(
  rows: readonly VersionRow[],
  { findings }: Catalog,
  isShared: boolean,
): Pick<ScanFindings, 'binaryScanFindings' | 'sameFindings'> {
  const lists: NonNullable<ScanFindings['binaryScanFindings']> = {}
  const same: Record<string, string> = {}
  const first = new Map<string, string>()
  for (const [platform, own] of Map.groupBy(rows, platformOf)) {
    const ids = findings.distinct(own.map((row) => row.binaryFindings))
    const key = ids.join()
    const other = isShared ? first.get(key) : undefined
    if (other === undefined) lists[platform] = ids.map((id) => findings.at(id))
    else same[platform] = other
    first.set(key, other ?? platform)
  }
  return {
    binaryScanFindings: rows.length === 0 ? undefined : lists,
    sameFindings: Object.keys(same).length === 0 ? undefined : same,
  }
}

function distinctVersions(rows: readonly VersionRow[]): string[] {
  return [...new Set(rows.map((row) => row.version))]
}

/** Empty fields are left out. */
function someOf<T>(list: readonly T[]): T[] | undefined {
  return list.length === 0 ? undefined : [...list]
}
