import * as z from 'zod'
import { ResourceList } from '../../api/browse/browse.ts'
import type { SortBy } from '../catalog/catalog.ts'
import { endpoint } from './endpoint.ts'
import {
  anyNamespace,
  flag,
  kindOf,
  noParameters,
  oneOf,
  onlyKind,
  optional,
  pageOf,
  paging,
  word,
} from './parameters.ts'
import { exampleResource, resourceRecord } from './resource-record.ts'

const sortNames = {
  relevance: 'relevance',
  name: 'name',
  namespace: 'namespace',
  kind: 'kind',
  latestVersion: 'latestVersion',
  synced: 'synced',
  severity: 'severity',
  totalDownloads: 'totalDownloads',
  lastDownloadedAt: 'lastDownloadedAt',
  lastScanned: 'lastScanned',
  latest_version: 'latestVersion',
  total_downloads: 'totalDownloads',
  last_downloaded_at: 'lastDownloadedAt',
  last_scanned: 'lastScanned',
} as const satisfies Record<string, SortBy | 'relevance'>

const query = z.object({
  namespace: anyNamespace,
  kind: onlyKind,
  q: optional(
    word,
    'vpc aws',
    'Words, each of them part of the namespace, name or system, in any case; or an address, with or without its host.',
  ),
  match: oneOf(['name', 'any'])
    .default('name')
    .meta({
      description:
        'What `q` is compared with. `any`: names and documentation, as in `/search`, whose limits apply, but a typing error counts only in a word that nothing has. Items say what matched.',
      examples: ['any'],
    }),
  synced: optional(flag, true, 'Whether it is in sync.'),
  os: optional(word, 'linux', 'Providers for this operating system.'),
  arch: optional(word, 'amd64', 'Providers for this architecture.'),
  severity: optional(
    oneOf(['CRITICAL', 'HIGH', 'MEDIUM', 'LOW']),
    'HIGH',
    'Whose latest version has a finding of this severity or a worse one.',
  ),
  public_only: optional(
    flag,
    true,
    'Only resources with the public label in a namespace with that label.',
  ),
  sort_by: optional(
    oneOf(Object.keys(sortNames) as [keyof typeof sortNames]),
    'latestVersion',
    'What to sort by; ties by namespace, kind and name. What has nothing to compare comes last. Default: with `q` relevance, which is the name that equals it, begins with it, has a word that does, or contains it, then downloads and name; otherwise name.',
  ),
  sort_dir: oneOf(['asc', 'desc'])
    .default('asc')
    .meta({ description: 'Smallest or largest first.', examples: ['desc'] }),
  ...paging,
})

export const resources = endpoint({
  route: '/resources',
  operationId: 'listResources',
  summary: 'Modules and providers',
  description: 'The modules and providers that the caller may see, filtered, sorted and in pages.',
  path: noParameters,
  query,
  response: ResourceList,
  example: {
    items: [
      {
        ...exampleResource,
        repoUrl: 'https://git.example.com/platform/network',
        scanCounts: { critical: 0, high: 1, medium: 0, low: 2, unknown: 0 },
        lastDownloadedAt: '2026-01-31T12:00:00.000Z',
      },
    ],
    totalCount: 1,
    page: 1,
    pageSize: 20,
  },
  answer({ catalog, view, search, query: asked }) {
    const { model } = catalog
    const { q: text, match } = asked
    const { page, pageSize: limit, offset } = pageOf(asked)
    const selection = {
      namespaces: asked.namespace,
      kind: asked.kind && kindOf[asked.kind],
      synced: asked.synced,
      os: asked.os,
      arch: asked.arch,
      severity: asked.severity,
      publicOnly: asked.public_only,
    }
    const sortBy = sortNames[asked.sort_by ?? (text === undefined ? 'name' : 'relevance')]
    const order = { descending: asked.sort_dir === 'desc', offset, limit }
    const bodyOf = (items: readonly string[], totalCount: number): string =>
      `{"items":[${items.join()}],"totalCount":${totalCount},"page":${page},"pageSize":${limit}}`
    if (text !== undefined && match === 'any') {
      const { count, numbers, slice, matchesOf } = search.find(
        view,
        { ...selection, exactFirst: true },
        text,
      )
      const entries =
        sortBy === 'relevance'
          ? slice(offset, offset + limit)
          : model.sorted(numbers, { ...order, sortBy })
      const items = entries.map((entry) =>
        JSON.stringify({ ...resourceRecord(entry, catalog), matched: matchesOf(entry) }),
      )
      return { body: bodyOf(items, count), revision: () => search.revision }
    }
    const { entries, totalCount } = model.page(view, { ...selection, text }, { ...order, sortBy })
    const items = entries.map((entry) =>
      entry.memo('record', () => JSON.stringify(resourceRecord(entry, catalog))),
    )
    return { body: bodyOf(items, totalCount), revision: () => model.revision }
  },
})
