import * as z from 'zod'
import { type BrowseVersion, VersionList } from '../../api/browse/browse.ts'
import {
  type Catalog,
  compareText,
  type ResourceDownloads,
  scanCounts,
  type VersionRow,
} from '../catalog/catalog.ts'
import { endpoint } from './endpoint.ts'
import { flag, oneOf, optional, pageOf, paging, resourcePath, word } from './parameters.ts'
import { findResource, revisionOf, rfc3339, whyNot } from './resource-record.ts'

const query = z.object({
  q: optional(word, '1.2', 'Part of the version, in any case.'),
  synced: optional(flag, true, 'true: archives in sync. false: archives that failed.'),
  os: optional(word, 'linux', 'In any case; providers only.'),
  arch: optional(word, 'amd64', 'In any case; providers only.'),
  by: oneOf(['archive', 'version'])
    .default('archive')
    .meta({
      description:
        'Unit of the page size. version: the items are all archives of each version with a matching archive.',
      examples: ['version'],
    }),
  ...paging,
})

export const versions = endpoint({
  route: '/resources/{namespace}/{kind}/{name}/versions',
  operationId: 'listVersions',
  summary: 'Versions of a module or provider',
  description:
    'One item per archive, so for providers one per platform. Newest first, then by platform.',
  path: resourcePath,
  query,
  response: VersionList,
  example: {
    items: [
      {
        version: '2.0.0',
        synced: true,
        fileName: 'network-2.0.0.zip',
        checksum: 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
        downloadCount: 3,
        lastDownloadedAt: '2026-01-31T12:00:00.000Z',
        archiveSizeBytes: 20480,
      },
    ],
    totalCount: 1,
    page: 1,
    pageSize: 20,
  },
  answer({ catalog, view, path, query: asked }) {
    const { page, pageSize, offset } = pageOf(asked)
    const { parent, summary } = findResource(catalog, view, path)
    const isProvider = summary.kind === 'Provider'
    const rows = chosenOf(
      parent.versions,
      isProvider ? asked : { ...asked, os: undefined, arch: undefined },
    )
    const downloads = catalog.downloads.of(summary.kind, summary.namespace, summary.name)
    const items = (own: readonly VersionRow[]) =>
      own.map((row) => versionRecord(row, catalog, downloads))
    const numbers = [...new Set(rows.map((row) => row.version))]
    const groups = numbers.slice(offset, offset + pageSize).map((one) => parent.rowsOf(one))
    const answer: z.infer<typeof VersionList> = {
      ...(asked.by === 'archive'
        ? { items: items(rows.slice(offset, offset + pageSize)), totalCount: rows.length }
        : {
            items: items(groups.flat()),
            totalCount: numbers.length,
            versionScanCounts: Object.fromEntries(
              groups.flatMap((own) => {
                const counts = scanCounts(catalog.findings, own)
                return counts === undefined ? [] : [[own[0]?.version, counts]]
              }),
            ),
          }),
      page,
      pageSize,
      ...(isProvider && {
        availableOS: distinct(parent.versions, 'os'),
        availableArch: distinct(parent.versions, 'arch'),
      }),
    }
    return { body: JSON.stringify(answer), revision: () => revisionOf(catalog, view, path) }
  },
})

function chosenOf(
  rows: readonly VersionRow[],
  asked: Partial<z.output<typeof query>>,
): readonly VersionRow[] {
  const [q, os, arch] = [asked.q, asked.os, asked.arch].map((text) => text?.toLowerCase())
  const health = asked.synced === undefined ? undefined : asked.synced ? 'synced' : 'failed'
  if ([q, os, arch, health].every((part) => part === undefined)) return rows
  return rows.filter(
    (row) =>
      (q === undefined || row.version.toLowerCase().includes(q)) &&
      (os === undefined || row.os?.toLowerCase() === os) &&
      (arch === undefined || row.arch?.toLowerCase() === arch) &&
      (health === undefined || row.health === health),
  )
}

function versionRecord(
  row: VersionRow,
  catalog: Catalog,
  downloads: ResourceDownloads | undefined,
): BrowseVersion {
  const counted = downloads?.of(row)
  const isCounted = counted !== undefined && counted.count > 0
  return {
    version: row.version,
    synced: row.health === 'synced',
    syncStatus: row.syncStatus || undefined,
    os: row.os,
    arch: row.arch,
    fileName: row.fileName,
    checksum: row.sha256,
    scanCounts: scanCounts(catalog.findings, [row]),
    downloadCount: isCounted ? counted.count : undefined,
    lastDownloadedAt: isCounted ? rfc3339(counted.lastAt) : undefined,
    archiveSizeBytes: row.sizeBytes,
    breaks: row.breaks,
    lifecycle: row.lifecycle,
    ...whyNot(row.unserved),
  }
}

function distinct(rows: readonly VersionRow[], field: 'os' | 'arch'): string[] {
  return [...new Set(rows.flatMap((row) => row[field] ?? []))].toSorted(compareText)
}
