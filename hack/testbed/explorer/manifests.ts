import { createHash } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/* Manifests of registries that a browser looks at: one to show, and one that is large. */

const apiVersion = 'depot.internal/v1alpha1'
const isPublic = { 'depot.internal/public': 'true' }

interface Finding {
  readonly vulnerabilityID: string
  readonly pkgName: string
  readonly installedVersion: string
  readonly fixedVersion?: string
  readonly severity: string
  readonly title: string
}

export interface Sample {
  readonly namespace: string
  readonly name: string
  readonly kind: 'module' | 'provider'
  readonly provider?: string
  readonly versions: readonly string[]
  readonly public?: boolean
  readonly synced?: boolean
  /** Versions that would be removed wait for a confirmation. */
  readonly removalHeld?: boolean
  /** Versions of its upstream that a policy holds back, as in its status. */
  readonly heldBack?: readonly object[]
  /** Versions that failed to synchronise. */
  readonly failed?: readonly string[]
  /** Versions that a second object has too. */
  readonly twice?: readonly string[]
  /** Name in the address, if another one than its own. */
  readonly configName?: string
  /** Findings of the latest version: critical, high, medium, low, unknown. None: not scanned. */
  readonly findings?: readonly number[] | undefined
  readonly platforms?: readonly string[]
  /** Rules that deprecate, yank or quarantine versions. */
  readonly lifecycle?: readonly object[]
  /** The publisher of each version, as in its status. */
  readonly published?: object
}

const severities = ['CRITICAL', 'HIGH', 'MEDIUM', 'LOW', 'UNKNOWN']
const packages = [
  'golang.org/x/crypto',
  'golang.org/x/net',
  'github.com/golang-jwt/jwt/v4',
  'stdlib',
]

export function findingsOf(counts: readonly number[], isModule: boolean): Finding[] {
  return counts.flatMap((count, rank) =>
    Array.from({ length: count }, (_, at) => {
      const number = rank * 10_000 + at
      const severity = severities[rank] ?? 'UNKNOWN'
      return isModule
        ? {
            vulnerabilityID: `AWS-${String(number).padStart(4, '0')}`,
            pkgName: ['main.tf', 'subnets.tf', 'nacl.tf'][at % 3] ?? '',
            installedVersion: '',
            severity,
            title: 'Security group rule allows ingress from 0.0.0.0/0',
          }
        : {
            vulnerabilityID: `CVE-2026-${String(20_000 + number)}`,
            pkgName: packages[at % packages.length] ?? '',
            installedVersion: '0.33.0',
            ...(at % 3 !== 0 && { fixedVersion: '0.35.0' }),
            severity,
            title: 'Denial of service in the key exchange of golang.org/x/crypto/ssh',
          }
    }),
  )
}

const condition = (type: string, status: 'True' | 'False', reason: string) => ({
  type,
  status,
  reason,
  message: 'for operators',
  lastTransitionTime: '2026-11-20T10:00:00Z',
})

function objectsOf(sample: Sample): object[] {
  const { namespace, name, kind, provider, versions, failed = [], twice = [] } = sample
  const isModule = kind === 'module'
  const labels = sample.public === false ? {} : isPublic
  const storageConfig = { fileSystem: { directoryPath: isModule ? 'modules' : 'providers' } }
  const repoUrl = `https://git.example.com/${namespace}/terraform-${provider ?? 'provider'}-${name}`
  const platforms = sample.platforms ?? (isModule ? [''] : ['linux/amd64', 'darwin/arm64'])
  const configName = sample.configName ?? (isModule ? undefined : name)
  const config = isModule
    ? { moduleConfig: { name: configName, provider, fileFormat: 'zip', repoUrl, storageConfig } }
    : { providerConfig: { name: configName, repoUrl, storageConfig } }
  const parent = {
    apiVersion,
    kind: isModule ? 'Module' : 'Provider',
    metadata: { name, namespace, labels },
    spec: { ...config, lifecycle: sample.lifecycle },
    status: {
      synced: sample.synced ?? true,
      ...(sample.heldBack !== undefined && {
        listing: {
          address: `git.example.com/${namespace}/${name}`,
          depot: 'platform/mirror',
          heldBack: sample.heldBack,
        },
      }),
      ...(sample.removalHeld === true && {
        conditions: [condition('RemovalHeld', 'True', 'RemovalHeld')],
      }),
    },
  }
  const children = versions.flatMap((version, index) =>
    platforms.map((platform) => {
      const [os = '', arch = ''] = platform.split('/')
      const suffix = isModule ? '' : `-${os}-${arch}`
      const isFailed = failed.includes(version)
      const digest = createHash('sha256').update(`${name}${version}${platform}`).digest('hex')
      const scanner = {
        scanner: 'trivy 0.70.0',
        database: isModule ? 'embedded checks' : '2026-11-19T18:00:00Z',
        counts: { critical: 0, high: 0, medium: 0, low: 0, unknown: 0 },
      }
      const scan = {
        scannedAt: '2026-11-20T10:00:00Z',
        findings: findingsOf(
          (sample.findings ?? []).map((count) => Math.max(0, count + Math.min(index, 3))),
          isModule,
        ),
      }
      return {
        apiVersion,
        kind: 'Version',
        metadata: { name: `${name}-${version}${suffix}`.replaceAll('+', '-'), namespace },
        spec: {
          type: isModule ? 'Module' : 'Provider',
          version,
          fileName: `${name}-${version}${suffix}.zip`,
          ...(isModule
            ? { moduleConfigRef: { name } }
            : { providerConfigRef: { name }, operatingSystem: os, architecture: arch }),
        },
        status: {
          synced: !isFailed,
          syncStatus: isFailed ? 'failed: the repository has no such tag' : 'synced',
          ...(!isFailed && {
            checksum: digest,
            archiveSizeBytes: 188_621 - (index % 180) * 997,
          }),
          ...(sample.published !== undefined && { published: sample.published }),
          ...(sample.findings !== undefined &&
            index < 3 && {
              [isModule ? 'sourceScan' : 'binaryScan']: scan,
              ...(!isFailed && { scan: { ...scanner, sha256: digest } }),
            }),
        },
      }
    }),
  )
  const copies = children
    .filter(({ spec }) => twice.includes(spec.version))
    .map((child) => ({
      ...child,
      metadata: { ...child.metadata, name: `${child.metadata.name}-copy` },
    }))
  return [parent, ...children, ...copies]
}

export interface SampleDepot {
  readonly namespace: string
  readonly name: string
  readonly storage: 's3' | 'gcs' | 'azureStorage' | 'fileSystem'
  readonly minutes: number
  readonly modules: readonly string[]
  readonly providers: readonly string[]
  /** Reason for which it is not ready. */
  readonly failing?: string
}

const storages = {
  s3: { bucket: 'modules', region: 'eu-central-1' },
  gcs: { bucket: 'modules' },
  azureStorage: {
    accountName: 'modules',
    accountUrl: 'https://modules.example.com',
    subscriptionID: '0',
    resourceGroup: 'modules',
  },
  fileSystem: { directoryPath: 'modules' },
}

const depotObject = (depot: SampleDepot): object => ({
  apiVersion,
  kind: 'Depot',
  metadata: { namespace: depot.namespace, name: depot.name, labels: isPublic },
  spec: {
    pollingIntervalMinutes: depot.minutes,
    global: { storageConfig: { [depot.storage]: storages[depot.storage] } },
  },
  status: {
    modules: depot.modules,
    providers: depot.providers,
    conditions: [
      depot.failing === undefined
        ? condition('Ready', 'True', 'Synced')
        : condition('Ready', 'False', depot.failing),
    ],
  },
})

/** Writes a folder for `--manifests`: JSON is YAML, and quicker to write. */
export function writeRegistry(
  folder: string,
  samples: readonly Sample[],
  depots: readonly SampleDepot[] = [],
): string {
  mkdirSync(folder, { recursive: true })
  const namespaces = [...new Set([...samples, ...depots].map(({ namespace }) => namespace))]
  const objects = [
    ...namespaces.map((name) => ({
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name, labels: isPublic },
    })),
    ...samples.flatMap(objectsOf),
    ...depots.map(depotObject),
  ]
  const size = 2000
  for (let at = 0; at < objects.length; at += size) {
    const text = objects.slice(at, at + size).map((object) => JSON.stringify(object))
    writeFileSync(join(folder, `${at / size}.yaml`), `---\n${text.join('\n---\n')}\n`)
  }
  return folder
}
