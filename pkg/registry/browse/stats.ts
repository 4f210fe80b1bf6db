import * as z from 'zod'
import { BrowseStats } from '../../api/browse/browse.ts'
import { backends } from '../../api/v1alpha1/v1alpha1.ts'
import { endpoint } from './endpoint.ts'
import { nameOfKind, noParameters, onlyNamespace } from './parameters.ts'
import { rfc3339 } from './resource-record.ts'

export const stats = endpoint({
  route: '/stats',
  operationId: 'getStats',
  summary: 'Statistics',
  description: 'Numbers about the modules and providers that the caller may see.',
  path: noParameters,
  query: z.object({
    namespace: onlyNamespace,
  }),
  response: BrowseStats,
  example: {
    totalModules: 2,
    totalProviders: 1,
    totalVersions: 9,
    totalStorageBytes: 184320,
    totalDownloads: 7,
    syncHealth: { syncedVersions: 8, unsyncedVersions: 0, failedVersions: 1 },
    securityPosture: {
      critical: 0,
      high: 1,
      medium: 2,
      low: 0,
      unknown: 0,
      totalAffectedResources: 1,
    },
    storageDistribution: [{ backend: 's3', count: 3 }],
    mostDownloaded: [
      {
        namespace: 'platform',
        kind: 'module',
        name: 'network',
        version: '2.0.0',
        downloadCount: 7,
        lastDownloadedAt: '2026-01-31T12:00:00.000Z',
      },
    ],
  },
  answer({ catalog: { model }, view, query }) {
    const { totals, mostDownloaded } = model.stats(view, query.namespace)
    const record: BrowseStats = {
      totalModules: totals.modules,
      totalProviders: totals.providers,
      totalVersions: totals.versions,
      totalStorageBytes: totals.storageBytes,
      totalDownloads: totals.downloads,
      syncHealth: {
        syncedVersions: totals.synced,
        unsyncedVersions: totals.unsynced,
        failedVersions: totals.failed,
      },
      securityPosture: {
        critical: totals.critical,
        high: totals.high,
        medium: totals.medium,
        low: totals.low,
        unknown: totals.unknown,
        totalAffectedResources: totals.affectedResources,
      },
      storageDistribution: backends
        .map((backend) => ({ backend, count: totals[backend] }))
        .filter(({ count }) => count > 0),
      mostDownloaded: mostDownloaded.map(({ entry: { summary }, version, count, lastAt }) => ({
        namespace: summary.namespace,
        kind: nameOfKind[summary.kind],
        name: summary.name,
        version,
        downloadCount: count,
        lastDownloadedAt: rfc3339(lastAt),
      })),
    }
    return { body: JSON.stringify(record), revision: () => model.revision }
  },
})
