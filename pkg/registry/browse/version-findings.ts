import * as z from 'zod'
import { FindingsAnswer, type ScanFindings, type VersionFindings } from '../../api/browse/browse.ts'
import { cycloneDxOf, packagesOf, sarifOf } from '../../api/findings/findings.ts'
import { notFound } from '../../base/errors/errors.ts'
import { type Catalog, compareText, distinctFindings, type VersionRow } from '../catalog/catalog.ts'
import { endpoint } from './endpoint.ts'
import { oneOf, optional, resourcePath, word } from './parameters.ts'
import { findResource, platformOf, requireVersion, revisionOf } from './resource-record.ts'

const query = z.object({
  version: optional(word, '2.0.0', 'The version whose findings to show. Default: the latest.'),
  format: oneOf(['json', 'sarif', 'cyclonedx'])
    .default('json')
    .meta({
      description: 'json, or a document for other tools: SARIF 2.1.0 or CycloneDX 1.6.',
      examples: ['json'],
    }),
})

export const exampleFinding = {
  vulnerabilityID: 'CVE-2026-0001',
  pkgName: 'golang.org/x/net',
  installedVersion: '0.20.0',
  fixedVersion: '0.23.0',
  severity: 'HIGH',
  title: 'Endless headers',
}

export const versionFindings = endpoint({
  route: '/resources/{namespace}/{kind}/{name}/findings',
  operationId: 'getVersionFindings',
  summary: 'Scan findings of a version',
  description:
    'The findings in one version, by archive and by package, and which archives have no scan. The documents for other tools need at least one scan.',
  path: resourcePath,
  query,
  response: FindingsAnswer,
  example: {
    address: 'platform/random',
    version: '2.0.0',
    scans: [
      {
        in: 'binary',
        platforms: ['linux/amd64'],
        scannedAt: '2026-11-26T08:00:00Z',
        findings: [exampleFinding],
      },
    ],
    unscanned: ['linux/arm64'],
    packages: [
      {
        pkgName: 'golang.org/x/net',
        installedVersion: '0.20.0',
        severity: 'HIGH',
        findings: 1,
        fixedIn: '0.23.0',
        closes: 1,
      },
    ],
  } satisfies VersionFindings,
  answer({ catalog, view, path, query: { version: wanted, format } }) {
    const { parent, summary } = findResource(catalog, view, path)
    const version = wanted ? requireVersion(parent, wanted) : summary.latestVersion
    const address = `${path.namespace}/${summary.address}`
    if (version === undefined) throw notFound(`${path.kind} ${address} has no versions`)
    const rows = parent.rowsOf(version).filter((row) => !row.isDuplicate)
    const found = findingsOf(catalog, rows, { address, version })
    if (format !== 'json' && found.scans.length === 0) {
      throw notFound(
        `version ${version} of ${address} was not scanned, which is not the same as clean: scan it first, or ask for format=json`,
      )
    }
    const body = {
      json: () => found,
      sarif: () => sarifOf(found),
      cyclonedx: () => cycloneDxOf(found),
    }
    return {
      body: JSON.stringify(body[format]()),
      revision: () => revisionOf(catalog, view, path),
    }
  },
})

function findingsOf(
  { findings: table }: Catalog,
  rows: readonly VersionRow[],
  of: Pick<VersionFindings, 'address' | 'version'>,
): VersionFindings {
  const isModule = rows.every(({ kind }) => kind === 'Module')
  const withSource = rows.filter((row) => row.sourceScannedAt !== undefined)
  const withBinary = rows.filter((row) => row.binaryScannedAt !== undefined)
  const source = distinctFindings(
    table,
    withSource.map((row) => row.sourceFindings),
  )
  const scans: VersionFindings['scans'] = []
  if (withSource.length > 0) {
    scans.push({ in: 'source', ...scanOf(withSource, ofSource), findings: source })
  }
  const platforms = Map.groupBy(withBinary, (row) => table.distinct([row.binaryFindings]).join())
  for (const own of platforms.values()) {
    scans.push({
      in: 'binary',
      platforms: own.map(platformOf),
      ...scanOf(own, ofBinary),
      findings: distinctFindings(
        table,
        own.map((row) => row.binaryFindings),
      ),
    })
  }
  const lacksSource = isModule ? withSource.length === 0 : rows.some((row) => row.lacksSourceScan)
  const lacking = isModule ? [] : rows.filter((row) => row.binaryScannedAt === undefined)
  const lists = rows.flatMap((row) => [row.sourceFindings, row.binaryFindings])
  return {
    ...of,
    scans,
    unscanned: [...(lacksSource ? ['source'] : []), ...lacking.map(platformOf)],
    packages: packagesOf(distinctFindings(table, lists)),
  }
}

const scanOf = (rows: readonly VersionRow[], { when, isCut }: ScanKind) => ({
  ...oldestScan(rows.map((row) => ({ row, when }))),
  ...(rows.some((row) => row[isCut]) && { truncated: true as const }),
})

type ScanTime = 'sourceScannedAt' | 'binaryScannedAt'

interface ScanKind {
  readonly when: ScanTime
  readonly isCut: 'isSourceCut' | 'isBinaryCut'
}

const ofSource: ScanKind = { when: 'sourceScannedAt', isCut: 'isSourceCut' }
const ofBinary: ScanKind = { when: 'binaryScannedAt', isCut: 'isBinaryCut' }

/** The scan that ended first: its scanner, time and database. */
export function oldestScan(
  scans: readonly { readonly row: VersionRow; readonly when: ScanTime }[],
): ScanFindings['oldestScan'] {
  const [oldest] = scans.toSorted((a, b) => compareText(a.row[a.when] ?? '', b.row[b.when] ?? ''))
  if (oldest === undefined) return undefined
  const { row, when } = oldest
  const { sourceScannedBy, binaryScannedBy } = row.common
  const by = when === 'sourceScannedAt' ? sourceScannedBy : binaryScannedBy
  return { scannedAt: row[when] || undefined, scanner: by?.scanner, database: by?.database }
}
