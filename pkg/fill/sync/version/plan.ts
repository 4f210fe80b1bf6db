import { createHash } from 'node:crypto'
import semver from 'semver'
import {
  configOfVersion,
  type ModuleConfig,
  normalizeVersion,
  type ProviderConfig,
  parentRefOf,
  type StorageConfig,
  type Version,
} from '../../../api/v1alpha1/v1alpha1.ts'
import { type ArchiveFormat, normaliserVersion } from '../../../archives/archive/archive.ts'
import type { ArchivePlace } from '../../../archives/storage/storage.ts'
import type { StoredObject } from '../../../records/store/store.ts'
import type { ModuleUpstream, Platform, ProviderUpstream } from '../../sources/sources.ts'
import type { Context } from '../context.ts'
import { mistake } from '../failure.ts'

/** Whether an archive may be replaced by what upstream has now. */
export type ReplacePolicy = 'never' | 'ask' | 'follow'

interface CommonPlan extends Placed {
  readonly policy: ReplacePolicy
  /** Digest of everything that the archive is made from, but for what upstream has at a moment. */
  readonly sourceKey: string
}

export interface ModulePlan extends CommonPlan {
  readonly type: 'Module'
  readonly source: ModuleUpstream
  readonly format: ArchiveFormat
}

export interface ProviderPlan extends CommonPlan {
  readonly type: 'Provider'
  readonly upstream: ProviderUpstream
  readonly platform: Platform
  readonly config: ProviderConfig
}

export type Plan = ModulePlan | ProviderPlan

/** Where the archives of a Version are, and under which version. */
export interface Placed {
  /** Without a leading `v`. */
  readonly version: string
  /** Of the module or provider in storage. */
  readonly configName: string
  readonly place: ArchivePlace
  /** Names the place, whatever is set beside it. */
  readonly placeId: string
  readonly parent: StoredObject | undefined
}

/** @throws Failure InvalidSpec */
export function placeOf(context: Context, version: Version): Placed {
  const normal = normalizeVersion(version.spec.version)
  if (semver.parse(normal) === null) {
    throw mistake('InvalidSpec', `spec.version must be a semantic version such as 1.2.0`)
  }
  const { namespace } = version.metadata
  const ref = parentRefOf(version)
  const parent = ref && context.objects.get(ref.kind, namespace, ref.name)
  const shared = configOf(parent)
  const own = configOfVersion(version)
  const configName = own?.name ?? shared?.name ?? ref?.name
  if (configName === undefined) {
    const field = version.spec.type === 'Module' ? 'moduleConfigRef' : 'providerConfigRef'
    throw mistake('InvalidSpec', `spec.${field}.name is required where there is no owner`)
  }
  const storage = own?.storageConfig ?? shared?.storageConfig
  if (storage === undefined) {
    throw mistake(
      'InvalidSpec',
      'storageConfig is missing: set it in the config of the Module or Provider, or in spec.global of the Depot',
    )
  }
  const place = context.archives.for(storage, configName)
  return {
    version: normal,
    configName,
    place,
    placeId: placeIdOf(storage, place, configName),
    parent,
  }
}

/**
 * Storage is opened with credentials that reach the places of every tenant, so that naming one proves no right to it.
 *
 * @throws Failure StorageNotGranted
 */
export function requireGrant({ place }: Placed, namespace: string): void {
  if (place.isGrantedTo(namespace)) return
  throw mistake(
    'StorageNotGranted',
    `namespace ${namespace} may not store archives in the place that storageConfig names; an administrator grants it with --storage-grants of the controller`,
  )
}

/** @throws Failure InvalidSpec, StorageNotGranted, SourceError */
export function planOf(context: Context, version: Version): Plan {
  const placed = placeOf(context, version)
  requireGrant(placed, version.metadata.namespace)
  return version.spec.type === 'Module'
    ? modulePlan(context, version, placed)
    : providerPlan(context, version, placed)
}

function modulePlan(context: Context, { metadata, spec }: Version, placed: Placed): ModulePlan {
  const config: ModuleConfig = { ...configOf(placed.parent), ...spec.moduleConfigRef }
  const { source: origin, repoUrl, repoOwner } = config
  if (origin === undefined && repoUrl === undefined && repoOwner === undefined) {
    throw mistake(
      'InvalidSpec',
      'nothing says where the module comes from: set source, repoUrl or repoOwner, or spec.upload for an archive that is in storage already',
    )
  }
  const source = context.sources.module({ ...config, name: placed.configName }, metadata.namespace)
  const format = config.fileFormat === 'zip' ? 'zip' : 'tar.gz'
  const { immutable } = config
  return {
    ...placed,
    type: 'Module',
    source,
    format,
    policy: immutable === true ? 'never' : immutable === false ? 'follow' : 'ask',
    sourceKey: keyOf(placed, [
      source.identity,
      origin?.tagPrefix ?? '',
      origin?.path ?? '',
      format,
      normaliserVersion,
    ]),
  }
}

function providerPlan(context: Context, { metadata, spec }: Version, placed: Placed): ProviderPlan {
  const { operatingSystem: os, architecture: arch } = spec
  if (os === undefined || arch === undefined) {
    throw mistake('InvalidSpec', 'spec.operatingSystem and spec.architecture are required')
  }
  const config = { ...configOf(placed.parent), ...spec.providerConfigRef } as ProviderConfig
  const upstream = context.sources.provider(
    { ...config, name: placed.configName },
    metadata.namespace,
  )
  return {
    ...placed,
    type: 'Provider',
    upstream,
    platform: { os, arch },
    config,
    policy: 'never',
    sourceKey: keyOf(placed, [upstream.identity, os, arch]),
  }
}

function placeIdOf(
  storage: StorageConfig,
  { backend, prefix }: ArchivePlace,
  name: string,
): string {
  const { s3, azureStorage: azure, gcs } = storage
  const account =
    s3?.bucket ?? gcs?.bucket ?? (azure && `${accountOf(azure.accountUrl)}/${name}`) ?? ''
  return `${backend}:${account}/${prefix}`
}

/** An account has one spelling, however its URL is written. */
function accountOf(url: string): string {
  return url.toLowerCase().replace(/\/+$/, '')
}

function configOf(parent: StoredObject | undefined): ModuleConfig | ProviderConfig | undefined {
  if (parent === undefined) return undefined
  const { moduleConfig, providerConfig } = parent.spec as {
    moduleConfig?: ModuleConfig
    providerConfig?: ProviderConfig
  }
  return moduleConfig ?? providerConfig
}

/** Another storage is another key, so that an archive follows its Module when that moves. */
function keyOf({ version, configName, placeId }: Placed, parts: string[]): string {
  const text = JSON.stringify([version, configName, placeId, ...parts])
  return `sha256:${createHash('sha256').update(text).digest('hex').slice(0, 32)}`
}
