import type { Kind } from '../../pkg/api/v1alpha1/v1alpha1.ts'

export interface BrowseObject {
  readonly kind: Kind
  readonly metadata: object
  readonly spec?: object
  readonly status?: object
}

const publicLabel = { 'depot.internal/public': 'true' }
const severities = ['CRITICAL', 'HIGH', 'MEDIUM', 'LOW', 'UNKNOWN']
const words = ['network', 'vpc', 'cluster', 'database', 'queue', 'bucket', 'gateway', 'identity']
const [namespaces, depots, bindings, distinctFindings] = [50, 50, 200, 4000]
const versionsPerResource = 10
const platforms = [
  ['linux', 'amd64'],
  ['darwin', 'arm64'],
] as const
const s3 = { s3: { bucket: 'archives', region: 'eu-west-1' } }

export const namespaceOf = (resource: number): string => `team-${resource % namespaces}`
export const nameOf = (resource: number): string =>
  `${words[resource % words.length]}-${words[(resource >> 3) % words.length]}-${resource}`

/** Half modules, half providers, ten Versions each, with findings on a third of them. */
export function* browseObjects(versions: number): Generator<BrowseObject> {
  const resources = versions / versionsPerResource
  for (let index = 0; index < namespaces; index += 1) {
    const labels = index % 2 === 0 ? publicLabel : {}
    yield { kind: 'Namespace', metadata: { name: `team-${index}`, labels } }
  }
  for (let index = 0; index < resources; index += 1) yield* resourceObjects(index)
  for (let index = 0; index < depots; index += 1) yield depot(index, resources)
  for (let index = 0; index < bindings; index += 1) {
    yield {
      kind: 'GroupBinding',
      metadata: { name: `binding-${index}`, namespace: 'depot' },
      spec: {
        expression: `"team-${index}" in groups`,
        moduleResources: [`${words[index % words.length]}-*`, `*-${index}`],
        providerResources: Array.from({ length: 10 }, (_, step) => nameOf(index * 2 + step * 401)),
      },
    }
  }
}

const isModule = (resource: number) => resource % 2 === 0

function* resourceObjects(resource: number): Generator<BrowseObject> {
  const kind = isModule(resource) ? 'Module' : 'Provider'
  const [name, namespace] = [nameOf(resource), namespaceOf(resource)]
  const labels = resource % 3 === 0 ? publicLabel : {}
  const config = { name, storageConfig: s3, ...(kind === 'Module' && { provider: 'aws' }) }
  const status = { synced: resource % 10 !== 0, syncStatus: 'Successfully synced' }
  const metadata = { name, namespace, labels, resourceVersion: '1' }
  if (kind === 'Module') yield { kind, metadata, spec: { moduleConfig: config }, status }
  else yield { kind, metadata, spec: { providerConfig: config }, status }
  for (let index = 0; index < versionsPerResource; index += 1)
    yield versionObject(resource, index, 1)
}

/** @param revision other revisions differ in more than their number */
export function versionObject(resource: number, index: number, revision: number): BrowseObject {
  const name = nameOf(resource)
  const kind = isModule(resource) ? 'Module' : 'Provider'
  const number = isModule(resource) ? index : index >> 1
  const [operatingSystem, architecture] = platforms[index % 2] as (typeof platforms)[number]
  const made = resource * versionsPerResource + index
  const config = { name, storageConfig: s3 }
  return {
    kind: 'Version',
    metadata: {
      name: `${name}-${index}`,
      namespace: namespaceOf(resource),
      resourceVersion: String(revision),
      ownerReferences: [{ apiVersion: 'depot.internal/v1alpha1', kind, name }],
    },
    spec: {
      type: kind,
      version: `1.${number}.0`,
      fileName: `${name}_1.${number}.0_${index}.zip`,
      ...(kind === 'Module'
        ? { moduleConfigRef: config }
        : { providerConfigRef: config, operatingSystem, architecture }),
    },
    status: {
      checksum: made.toString(16).padStart(64, '0'),
      synced: true,
      syncStatus: 'Successfully synced',
      archiveSizeBytes: 10_000 + made + revision,
      ...(made % 3 === 0 && { sourceScan: scan(made) }),
    },
  }
}

function scan(made: number): object {
  return {
    scannedAt: new Date(1_767_225_600_000 + made * 1000).toISOString(),
    findings: Array.from({ length: 20 }, (_, index) =>
      finding((made * 7 + index * 13) % distinctFindings),
    ),
  }
}

const finding = (index: number) => ({
  vulnerabilityID: `CVE-2026-${10_000 + index}`,
  pkgName: `github.com/acme/package-${index % 500}`,
  installedVersion: `v1.${index % 30}.0`,
  fixedVersion: `v1.${index % 30}.1`,
  severity: severities[index % severities.length],
  title: `A vulnerability in package number ${index} lets somebody do something`,
})

function depot(index: number, resources: number): BrowseObject {
  const all = Array.from(
    { length: Math.ceil(resources / depots) },
    (_, step) => index + step * depots,
  )
  const managed = all.filter((resource) => resource < resources)
  const namesOf = (wanted: boolean) =>
    managed
      .filter((resource) => isModule(resource) === wanted)
      .map((resource) => `${namespaceOf(resource)}/${nameOf(resource)}`)
  return {
    kind: 'Depot',
    metadata: { name: `depot-${index}`, namespace: `team-${index}`, labels: publicLabel },
    spec: { pollingIntervalMinutes: 60, global: { storageConfig: s3 } },
    status: { modules: namesOf(true), providers: namesOf(false) },
  }
}
