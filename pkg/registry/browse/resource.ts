import * as z from 'zod'
import { ResourceDetail } from '../../api/browse/browse.ts'
import { mildest } from '../../api/lifecycle/lifecycle.ts'
import {
  distinctFindings,
  type ResourceDownloads,
  scanCounts,
  type VersionRow,
} from '../catalog/catalog.ts'
import { endpoint } from './endpoint.ts'
import { filesUrl } from './files-url.ts'
import { flag, optional, resourcePath, word } from './parameters.ts'
import {
  exampleResource,
  findResource,
  platformOf,
  resourceRecord,
  revisionOf,
  versionNamed,
} from './resource-record.ts'

const query = z.object({
  version: optional(
    word,
    '1.1.0',
    'The version whose findings, downloads and README to show. Default, and for one that does not exist: the latest.',
  ),
  findings: flag
    .default(true)
    .meta({ description: 'false: leave out the lists of findings.', examples: [false] }),
})

export const resource = endpoint({
  route: '/resources/{namespace}/{kind}/{name}',
  operationId: 'getResource',
  summary: 'One module or provider',
  description: 'One module or provider with its versions, and findings and README of one of them.',
  path: resourcePath,
  query,
  response: ResourceDetail,
  example: {
    ...exampleResource,
    selectedVersion: '2.0.0',
    versions: [
      { version: '2.0.0', synced: true },
      { version: '1.1.0', synced: true },
    ],
    sourceScanFindings: [
      {
        vulnerabilityID: 'AVD-AWS-0178',
        pkgName: 'main.tf',
        installedVersion: '',
        severity: 'MEDIUM',
        title: 'VPC Flow Logs is not enabled',
      },
    ],
    readmeContent: '# Network',
    filesUrl: 'https://github.com/acme/network/blob/v2.0.0/',
    hasDocs: true,
  },
  answer({ catalog, view, path, query: asked, readmes }) {
    const entry = findResource(catalog, view, path)
    const { parent, summary } = entry
    const { kind, namespace, name, latestVersion } = summary
    const version = (asked.version && versionNamed(parent, asked.version)) || latestVersion
    const rows = version === undefined ? [] : parent.rowsOf(version)
    const readme = rows.find((row) => row.readme !== undefined)?.readme
    const findingsOf = (own: readonly VersionRow[], scan: 'sourceFindings' | 'binaryFindings') =>
      distinctFindings(
        catalog.findings,
        own.map((row) => row[scan]),
      )
    const binaries = Map.groupBy(
      rows.filter((row) => row.binaryScannedAt !== undefined),
      platformOf,
    )
    const hasDocs = rows.some((row) => row.docs !== undefined)
    const detail: ResourceDetail = {
      ...resourceRecord(entry, catalog),
      selectedVersion: version,
      scanCounts: scanCounts(catalog.findings, rows),
      downloadCount: downloadsOf(catalog.downloads.of(kind, namespace, name), rows) || undefined,
      platforms: kind === 'Module' ? undefined : [...new Set(rows.map(platformOf))],
      versions: versionsOf(parent.versions),
      lifecycle: mildestOf(rows),
      sourceScanFindings: asked.findings ? findingsOf(rows, 'sourceFindings') : [],
      binaryScanFindings:
        kind === 'Module' || !asked.findings
          ? undefined
          : Object.fromEntries(
              Array.from(binaries, ([platform, own]) => [
                platform,
                findingsOf(own, 'binaryFindings'),
              ]),
            ),
      readmeContent: readme && readmes.get(namespace, readme.name, readme.key, readme.version),
      filesUrl: filesUrl(summary.resource.repoUrl, rows[0]?.tag, summary.resource.sourcePath),
      hasDocs: (kind === 'Module' && hasDocs) || undefined,
      hasPages: (kind === 'Provider' && hasDocs) || undefined,
      published: rows.find((row) => row.published !== undefined)?.published,
      upstreamDocsUrl: upstreamDocsUrl(summary.resource.upstreamAddress, version),
    }
    return {
      body: JSON.stringify(detail),
      revision: () => revisionOf(catalog, view, path) + readmes.revision,
    }
  },
})

/** Platforms that share a count are counted once. */
function downloadsOf(counted: ResourceDownloads | undefined, rows: readonly VersionRow[]): number {
  const distinct = new Set(rows.flatMap((row) => counted?.of(row) ?? []))
  return [...distinct].reduce((sum, { count }) => sum + count, 0)
}

/** The state of one version. Duplicates are not served. */
const mildestOf = (rows: readonly VersionRow[]) => mildest(rows.filter((row) => !row.isDuplicate))

/** One entry for each version. It is in sync if every platform is. */
function versionsOf(rows: readonly VersionRow[]): ResourceDetail['versions'] {
  return Array.from(
    Map.groupBy(rows, ({ version }) => version),
    ([version, own]) => ({
      version,
      synced: own.every(({ health }) => health === 'synced'),
      state: mildestOf(own)?.state,
    }),
  )
}

const pageOf: Readonly<Record<string, (address: string, version: string) => string>> = {
  'registry.opentofu.org': (address, version) =>
    `https://search.opentofu.org/provider/${address}/v${version}`,
  'registry.terraform.io': (address, version) =>
    `https://registry.terraform.io/providers/${address}/${version}/docs`,
}

/** The page of a provider version in a public registry. @param address `host/namespace/type` */
function upstreamDocsUrl(
  address: string | undefined,
  version: string | undefined,
): string | undefined {
  const [host = '', namespace, type] = address?.split('/') ?? []
  const page = Object.hasOwn(pageOf, host) ? pageOf[host] : undefined
  if (page === undefined || version === undefined) return undefined
  return page(`${encodeURIComponent(namespace ?? '')}/${encodeURIComponent(type ?? '')}`, version)
}
