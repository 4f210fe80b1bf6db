import type { Kind } from '../../pkg/api/v1alpha1/v1alpha1.ts'

/** How large a made-up registry is. */
export interface RegistrySize {
  /** Versions in all; at least those that the cases ask for. */
  readonly versions: number
  readonly findingsPerVersion: number
  /** How many findings differ: the rest repeats them. */
  readonly distinctFindings: number
}

/** An archive on the filesystem backend. */
export interface BenchArchive {
  readonly name: string
  readonly fileName: string
  /** Hexadecimal. */
  readonly sha256: string
  readonly docs?: { readonly sha256: string; readonly sizeBytes: number }
}

export interface BenchObject {
  readonly apiVersion: string
  readonly kind: Kind
  readonly metadata: { readonly name: string; readonly namespace: string }
}

const namespace = 'bench'
const platforms = ['linux_amd64', 'linux_arm64', 'darwin_arm64', 'windows_amd64']
const severities = ['CRITICAL', 'HIGH', 'MEDIUM', 'LOW', 'UNKNOWN']
const fillerVersions = 10

/** The JSON answers that are measured, of objects that every made-up registry has. */
export const jsonCases = [
  { name: 'module versions, 10', path: '/depot/modules/v1/bench/small/aws/versions' },
  { name: 'module versions, 1,000', path: '/depot/modules/v1/bench/large/aws/versions' },
  { name: 'provider versions, 10', path: '/depot/providers/v1/bench/tool/versions' },
  {
    name: 'package metadata',
    path: '/depot/providers/v1/bench/tool/1.5.0/download/linux/arm64',
  },
  {
    name: 'SHA256SUMS.sig',
    path: '/depot/providers/v1/bench/tool/1.5.0/SHA256SUMS.sig/linux/arm64',
  },
  { name: 'browse: list', path: '/depot/ui/v1/resources' },
  { name: 'browse: resource', path: '/depot/ui/v1/resources/bench/module/small' },
  { name: 'browse: versions', path: '/depot/ui/v1/resources/bench/module/large/versions' },
  { name: 'browse: findings', path: '/depot/ui/v1/resources/bench/module/small/scan-findings' },
  { name: 'browse: Depots', path: '/depot/ui/v1/depots' },
  { name: 'browse: graph', path: '/depot/ui/v1/depots/graph' },
  { name: 'browse: statistics', path: '/depot/ui/v1/stats' },
  { name: 'browse: Atom feed', path: '/depot/ui/v1/feed.atom' },
] as const

/** Pages of browsing that differ at every request, so that none is ready. */
export const uncachedCases = [
  {
    name: 'browse: filtered, uncached',
    path: '/depot/ui/v1/resources?kind=module&synced=true&severity=HIGH&sort_by=severity&sort_dir=desc',
  },
  { name: 'browse: searched, uncached', path: '/depot/ui/v1/resources?q=mod' },
  { name: 'browse: search, uncached', path: '/depot/ui/v1/search?q=mod' },
] as const

/** Every object of a made-up registry, one after the other, so that no more than one need be held. */
export function* benchObjects(size: RegistrySize): Generator<BenchObject> {
  const random = randomNumbers(1)
  const findings = Array.from({ length: size.distinctFindings }, (_, index) => finding(index))
  const scan = () => ({
    scannedAt: '2026-01-01T00:00:00Z',
    findings: Array.from(
      { length: size.findingsPerVersion },
      () => findings[random() % findings.length],
    ),
  })
  const status = (index: number) => ({
    checksum: Buffer.from(Uint32Array.from({ length: 8 }, random).buffer).toString('base64'),
    synced: true,
    syncStatus: 'Successfully synced',
    archiveSizeBytes: 10_000 + (index % 50_000),
    sourceScan: scan(),
  })
  const wrap = (kind: Kind, name: string, index: number, rest: ObjectParts): BenchObject =>
    object(kind, name, { resourceVersion: String(index + 1), ...rest })

  let made = 0
  function* moduleVersions(module: string, count: number): Generator<BenchObject> {
    const config = { name: module, provider: 'aws', storageConfig: s3 }
    yield wrap('Module', module, made, { spec: { moduleConfig: config } })
    for (let index = 0; index < count; index++, made++) {
      const version = `${Math.floor(index / 100)}.${index % 100}.0`
      const fileName = `${module}-${version}.zip`
      yield wrap('Version', `${module}-${version}`, made, {
        owner: { kind: 'Module', name: module },
        spec: { type: 'Module', version, fileName, moduleConfigRef: config },
        status: status(made),
      })
    }
  }
  function* providerVersions(provider: string, count: number): Generator<BenchObject> {
    const config = { name: provider, protocols: ['5.0', '6.0'], storageConfig: s3 }
    yield wrap('Provider', provider, made, { spec: { providerConfig: config } })
    for (let index = 0; index < count * platforms.length; index++, made++) {
      const version = `1.${Math.floor(index / platforms.length)}.0`
      const platform = platforms[index % platforms.length] as string
      const [operatingSystem, architecture] = platform.split('_')
      const fileName = `terraform-provider-${provider}_${version}_${platform}.zip`
      yield wrap('Version', `${provider}-${version}-${platform.replace('_', '-')}`, made, {
        owner: { kind: 'Provider', name: provider },
        spec: {
          type: 'Provider',
          version,
          fileName,
          operatingSystem,
          architecture,
          providerConfigRef: config,
        },
        status: status(made),
      })
    }
  }

  const managed = ['small', 'large'].map((name) => ({ name, provider: 'aws', storageConfig: s3 }))
  yield object('Depot', 'main', {
    resourceVersion: '1',
    spec: {
      global: { storageConfig: s3 },
      moduleConfigs: managed,
      providerConfigs: [{ name: 'tool', storageConfig: s3 }],
    },
    status: { modules: ['small', 'large'], providers: ['tool'] },
  })
  yield* moduleVersions('small', 10)
  yield* moduleVersions('large', 1000)
  yield* providerVersions('tool', 10)
  for (let module = 0; made < size.versions; module++) {
    yield* moduleVersions(`module-${module}`, Math.min(fillerVersions, size.versions - made))
  }
}

/** A module with one version whose archive is on disk. */
export function archiveObjects({ name, fileName, sha256, docs }: BenchArchive): BenchObject[] {
  const config = { name, storageConfig: { fileSystem: { directoryPath: 'modules' } } }
  return [
    object('Module', name, { spec: { moduleConfig: config } }),
    object('Version', `${name}-1.0.0`, {
      owner: { kind: 'Module', name },
      spec: { type: 'Module', version: '1.0.0', fileName, moduleConfigRef: config },
      status: { checksum: sha256, synced: true, ...(docs && { artifact: { docs } }) },
    }),
  ]
}

interface ObjectParts {
  readonly resourceVersion?: string
  readonly owner?: { readonly kind: string; readonly name: string }
  readonly spec: object
  readonly status?: object
}

const s3 = { s3: { bucket: 'archives', region: 'eu-west-1' } }
const apiVersion = 'depot.internal/v1alpha1'

function object(kind: Kind, name: string, parts: ObjectParts): BenchObject {
  const { resourceVersion, owner, ...rest } = parts
  const ownerReferences = owner && [{ apiVersion, ...owner, uid: `uid-of-${owner.name}` }]
  const metadata = { name, namespace, uid: `uid-of-${name}`, resourceVersion, ownerReferences }
  return { apiVersion, kind, metadata, ...rest }
}

const finding = (index: number) => ({
  vulnerabilityID: `CVE-2024-${10_000 + index}`,
  pkgName: `github.com/acme/package-${index % 500}`,
  installedVersion: `v1.${index % 30}.${index % 7}`,
  fixedVersion: `v1.${index % 30}.${(index % 7) + 1}`,
  severity: severities[index % severities.length],
  title: `A vulnerability in package number ${index} lets somebody do something`,
})

/** The same numbers at every run (mulberry32), 0 to 2^32 - 1. */
function randomNumbers(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)
    return (mixed ^ (mixed >>> 14)) >>> 0
  }
}
