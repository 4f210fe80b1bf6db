import type { z } from 'zod'
import { Metadata } from './metadata.ts'
import { ModuleConfig } from './module.ts'
import { ProviderConfig } from './provider.ts'
import { isRecord } from './record.ts'
import { checkedFindings, Scan } from './scan.ts'
import { StorageConfig } from './storage-config.ts'
import { Version } from './version.ts'

type Fields = Readonly<Record<string, unknown>>
type Metadata = z.infer<typeof Metadata>

/** Tricks are off in this process; see docs/performance.md. */
const isPlain = process.env['DEPOT_PLAIN'] === '1'
const [Spec, Status] = [Version.shape.spec, Version.shape.status]
/** The fields that are read here. A part with other fields is read by its schema. */
const usual = {
  spec: new Set([
    'type',
    'version',
    'fileName',
    'operatingSystem',
    'architecture',
    'moduleConfigRef',
    'providerConfigRef',
  ]),
  moduleConfig: new Set(['name', 'provider', 'repoOwner', 'repoUrl', 'storageConfig']),
  providerConfig: new Set(['name', 'namespace', 'protocols', 'storageConfig']),
  storageConfig: new Set(['s3']),
  status: new Set(['checksum', 'synced', 'syncStatus', 'archiveSizeBytes', 'sourceScan']),
}

/**
 * Reads a valid Version as its schema does, in a fifth of the time and almost without garbage: there may be 200,000. The
 * usual fields are checked here, and each part with other fields by its own schema.
 *
 * @returns undefined where it may be invalid: then the schema has to say why
 */
export function plainVersion(raw: Fields): Version | undefined {
  if (isPlain) return undefined
  const metadata = read(raw['metadata'], metadataOf, Metadata)
  const spec = read(raw['spec'], specOf, Spec)
  if (metadata === undefined || spec === undefined) return undefined
  if (raw['status'] === undefined) return { kind: 'Version', metadata, spec }
  const status = read(raw['status'], statusOf, Status)
  return status && { kind: 'Version', metadata, spec, status }
}

function read<T>(
  raw: unknown,
  plain: (fields: Fields) => T | undefined,
  schema: z.ZodType<T>,
): T | undefined {
  return (isRecord(raw) ? plain(raw) : undefined) ?? schema.safeParse(raw).data
}

/** Clusters write many fields that Depot does not read, so other fields do not matter. */
function metadataOf(raw: Fields): Metadata | undefined {
  const { name, namespace = 'default', uid = '', resourceVersion = '', generation } = raw
  const { creationTimestamp = '', labels, deletionTimestamp, finalizers } = raw
  const isUsual =
    labels === undefined && deletionTimestamp === undefined && finalizers === undefined
  if (!isUsual || !isText(name) || name === '' || !isText(namespace) || namespace === '')
    return undefined
  if (!isText(uid) || !isText(resourceVersion) || !isText(creationTimestamp)) return undefined
  const ownerReferences = ownersOf(raw['ownerReferences'])
  if (ownerReferences === undefined) return undefined
  const ids = { name, namespace, uid, resourceVersion, creationTimestamp }
  const metadata: Metadata = { ...ids, labels: {}, ownerReferences }
  if (generation === undefined) return metadata
  if (!isInteger(generation)) return undefined
  metadata.generation = generation
  return metadata
}

function ownersOf(raw: unknown = []): Metadata['ownerReferences'] | undefined {
  if (!Array.isArray(raw)) return undefined
  const owners: Metadata['ownerReferences'] = []
  for (const one of raw as unknown[]) {
    if (!isRecord(one)) return undefined
    const { apiVersion, kind, name, uid } = one
    if (!isText(apiVersion) || !isText(kind) || !isText(name) || !mayBeText(uid)) return undefined
    owners.push(uid === undefined ? { apiVersion, kind, name } : { apiVersion, kind, name, uid })
  }
  return owners
}

function specOf(raw: Fields): Version['spec'] | undefined {
  if (!holdsOnly(usual.spec, raw)) return undefined
  const { type, version, fileName, operatingSystem, architecture } = raw
  if (type !== 'Module' && type !== 'Provider') return undefined
  if (!isText(version) || !mayBeText(fileName)) return undefined
  if (!mayBeText(operatingSystem) || !mayBeText(architecture)) return undefined
  const spec: Version['spec'] = { type, version }
  if (fileName !== undefined) spec.fileName = fileName
  if (operatingSystem !== undefined) spec.operatingSystem = operatingSystem
  if (architecture !== undefined) spec.architecture = architecture
  const { moduleConfigRef, providerConfigRef } = raw
  if (moduleConfigRef !== undefined) {
    spec.moduleConfigRef = read(moduleConfigRef, moduleConfigOf, ModuleConfig)
    if (spec.moduleConfigRef === undefined) return undefined
  }
  if (providerConfigRef !== undefined) {
    spec.providerConfigRef = read(providerConfigRef, providerConfigOf, ProviderConfig)
    if (spec.providerConfigRef === undefined) return undefined
  }
  return spec
}

function moduleConfigOf(raw: Fields): ModuleConfig | undefined {
  const { name, provider, repoOwner, repoUrl } = raw
  if (!holdsOnly(usual.moduleConfig, raw) || !mayBeText(name) || name === '') return undefined
  if (!mayBeText(provider) || !mayBeText(repoOwner) || !mayBeText(repoUrl)) return undefined
  const config: ModuleConfig = {}
  if (name !== undefined) config.name = name
  if (provider !== undefined) config.provider = provider
  if (repoOwner !== undefined) config.repoOwner = repoOwner
  if (repoUrl !== undefined) config.repoUrl = repoUrl
  return withStorage(config, raw['storageConfig'])
}

function providerConfigOf(raw: Fields): ProviderConfig | undefined {
  const { name, namespace = 'hashicorp', protocols } = raw
  if (!holdsOnly(usual.providerConfig, raw) || !mayBeText(name) || name === '') return undefined
  if (!isText(namespace)) return undefined
  const config: ProviderConfig = name === undefined ? { namespace } : { name, namespace }
  if (protocols !== undefined) {
    if (!Array.isArray(protocols) || !protocols.every(isText)) return undefined
    config.protocols = [...protocols]
  }
  return withStorage(config, raw['storageConfig'])
}

function withStorage<C extends ModuleConfig | ProviderConfig>(
  config: C,
  raw: unknown,
): C | undefined {
  if (raw === undefined) return config
  config.storageConfig = read(raw, storageOf, StorageConfig)
  return config.storageConfig && config
}

function storageOf(raw: Fields): StorageConfig | undefined {
  const { s3 } = raw
  if (!holdsOnly(usual.storageConfig, raw) || !isRecord(s3)) return undefined
  const { bucket, region, key } = s3
  if (!isText(bucket) || bucket === '' || !isText(region) || region === '') return undefined
  if (!mayBeText(key)) return undefined
  return { s3: key === undefined ? { bucket, region } : { bucket, region, key } }
}

function statusOf(raw: Fields): Version['status'] {
  if (!holdsOnly(usual.status, raw)) return undefined
  const { checksum, synced, syncStatus, archiveSizeBytes, sourceScan } = raw
  if (!mayBeText(checksum) || !mayBeText(syncStatus)) return undefined
  const status: NonNullable<Version['status']> = {}
  if (checksum !== undefined) status.checksum = checksum
  if (synced !== undefined) {
    if (typeof synced !== 'boolean') return undefined
    status.synced = synced
  }
  if (syncStatus !== undefined) status.syncStatus = syncStatus
  if (archiveSizeBytes !== undefined) {
    if (!isInteger(archiveSizeBytes) || archiveSizeBytes < 0) return undefined
    status.archiveSizeBytes = archiveSizeBytes
  }
  if (sourceScan !== undefined) {
    status.sourceScan = read(sourceScan, scanOf, Scan)
    if (status.sourceScan === undefined) return undefined
  }
  return status
}

function scanOf({ scannedAt, findings }: Fields): Scan | undefined {
  const checked = checkedFindings(findings)
  if (checked === undefined || !mayBeText(scannedAt)) return undefined
  return scannedAt === undefined ? { findings: checked } : { scannedAt, findings: checked }
}

function holdsOnly(names: ReadonlySet<string>, raw: Fields): boolean {
  for (const name in raw) if (!names.has(name)) return false
  return true
}

function isText(value: unknown): value is string {
  return typeof value === 'string'
}

function mayBeText(value: unknown): value is string | undefined {
  return value === undefined || typeof value === 'string'
}

function isInteger(value: unknown): value is number {
  return Number.isSafeInteger(value)
}
