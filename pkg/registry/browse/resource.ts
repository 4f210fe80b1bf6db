import { ResourceDetail } from '../../api/browse/browse.ts'
import { distinctFindings, type VersionRow } from '../catalog/catalog.ts'
import { endpoint } from './endpoint.ts'
import { noParameters, resourcePath } from './parameters.ts'
import { findResource, platformOf, resourceRecord, revisionOf } from './resource-record.ts'

export const resource = endpoint({
  route: '/resources/{namespace}/{kind}/{name}',
  operationId: 'getResource',
  summary: 'One module or provider',
  description: 'One module or provider with its versions, and findings and README of the latest.',
  path: resourcePath,
  query: noParameters,
  response: ResourceDetail,
  example: {
    kind: 'module',
    namespace: 'platform',
    name: 'network',
    address: 'network/aws',
    latestVersion: '2.0.0',
    synced: true,
    provider: 'aws',
    public: true,
    totalDownloads: 0,
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
  },
  badRequest: 'kind must be one of module, provider',
  notFound:
    'module platform/network not found, or not for you to see: check its namespace and name, and your access',
  answer({ catalog, view, path, readmes }) {
    const entry = findResource(catalog, view, path)
    const { parent, summary } = entry
    const latest = summary.latestVersion === undefined ? [] : parent.rowsOf(summary.latestVersion)
    const findingsOf = (rows: readonly VersionRow[], scan: 'sourceFindings' | 'binaryFindings') =>
      distinctFindings(
        catalog.findings,
        rows.map((row) => row[scan]),
      )
    const binaries = Map.groupBy(
      latest.filter((row) => row.binaryScannedAt !== undefined),
      platformOf,
    )
    const detail: ResourceDetail = {
      ...resourceRecord(entry),
      versions: versionsOf(parent.versions),
      sourceScanFindings: findingsOf(latest, 'sourceFindings'),
      binaryScanFindings:
        summary.kind === 'Module'
          ? undefined
          : Object.fromEntries(
              Array.from(binaries, ([platform, rows]) => [
                platform,
                findingsOf(rows, 'binaryFindings'),
              ]),
            ),
      readmeContent:
        summary.readme &&
        readmes.get(
          summary.namespace,
          summary.readme.name,
          summary.readme.key,
          summary.readme.version,
        ),
    }
    return {
      body: JSON.stringify(detail),
      revision: () => revisionOf(catalog, view, path) + readmes.revision,
    }
  },
})

/** One entry for each version, in sync if every platform is. */
function versionsOf(rows: readonly VersionRow[]): ResourceDetail['versions'] {
  const versions = new Map<string, boolean>()
  for (const { version, health } of rows) {
    versions.set(version, (versions.get(version) ?? true) && health === 'synced')
  }
  return Array.from(versions, ([version, synced]) => ({ version, synced }))
}
