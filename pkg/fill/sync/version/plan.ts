import { hash } from 'node:crypto'
import semver from 'semver'
import {
  type Artifact,
  configOfVersion,
  configRefOf,
  normalizeVersion,
  type ProviderConfig,
  parentRefOf,
  type ScanPolicy,
  type StorageConfig,
  type Version,
} from '../../../api/v1alpha1/v1alpha1.ts'
import { normaliserVersion } from '../../../archives/archive/archive.ts'
import type { ArchivePlace } from '../../../archives/storage/storage.ts'
import type { StoredObject } from '../../../records/store/store.ts'
import { shownUrl } from '../../egress/egress.ts'
import {
  hasScan,
  quarantinedAfter,
  ruleRefusalOf,
  type ScanFacts,
  scanVerdict,
} from '../../policy/policy.ts'
import { FillError, type ProviderRelease } from '../../sources/sources.ts'
import type { Context } from '../context.ts'
import { signerLayers } from '../depot/configs.ts'
import { addressOf } from '../depot/known.ts'
import { contentOfRelease, markOfModule, markOfRevision } from '../depot/marks.ts'
import { keyOf } from '../objects.ts'
import { letIn } from '../parent/seen.ts'
import {
  configOf,
  moduleConfigOf,
  ownedBy,
  parentOfVersion,
  providerConfigOf,
} from '../parent/versions.ts'
import { timeOf, within } from '../timings.ts'
import { fetchModule, fetchProvider } from './store.ts'
import type {
  PlacedVersion,
  StoragePlace,
  UpstreamOffer,
  VersionPlan,
  VersionWork,
} from './work.ts'

/** A list from which the Depot let the version in, or a younger one. */
const listMaxAgeMs = 24 * 60 * 60_000

type PlaceContext = Pick<Context, 'objects' | 'archives'>

/** @throws FillError InvalidSpec */
export function placeOf(context: PlaceContext, version: Version): PlacedVersion {
  const normal = normalizeVersion(version.spec.version)
  if (semver.parse(normal) === null) {
    throw new FillError('InvalidSpec', 'spec.version must be a semantic version such as 1.2.0')
  }
  const ref = parentRefOf(version)
  const parent = parentOfVersion(context, version)
  const shared = configOf(parent)
  const own = configOfVersion(version)
  const configName = own?.name ?? shared?.name ?? ref?.name
  if (configName === undefined) {
    const field = configRefOf[version.spec.type]
    throw new FillError('InvalidSpec', `spec.${field}.name is required if there is no owner`)
  }
  const storage = own?.storageConfig ?? shared?.storageConfig
  if (storage === undefined) {
    throw new FillError(
      'InvalidSpec',
      'storageConfig is missing: set it in the config of the Module or Provider, or in spec.global of the Depot',
    )
  }
  return { version: normal, parent, ...placedIn(context, storage, configName) }
}

/** @throws RegistryError NotFound where such a place cannot exist */
function placedIn(
  { archives }: Pick<Context, 'archives'>,
  storage: StorageConfig,
  configName: string,
): StoragePlace {
  const place = archives.for(storage, configName)
  return { storage, configName, place, placeId: placeIdOf(storage, place, configName) }
}

/**
 * The place of the archive of a Version. It differs from the place that the spec names until the archive was copied.
 *
 * @throws FillError InvalidSpec
 */
export function storedPlaceOf(context: PlaceContext, version: Version): StoragePlace {
  return recordedPlace(context, version.status?.artifact) ?? placeOf(context, version)
}

/** The place that a status names. */
export function recordedPlace(
  context: Pick<Context, 'archives'>,
  record: Pick<Artifact, 'storageConfig' | 'configName'> | undefined,
): StoragePlace | undefined {
  const { storageConfig, configName } = record ?? {}
  if (storageConfig === undefined || configName === undefined) return undefined
  return placedIn(context, storageConfig, configName)
}

/**
 * Storage credentials reach the places of every tenant, so naming a place proves no right to use it.
 *
 * @throws FillError StorageNotGranted
 */
export function requireGrant({ place }: StoragePlace, namespace: string): void {
  if (place.isGrantedTo(namespace)) return
  throw new FillError(
    'StorageNotGranted',
    `namespace ${namespace} may not store archives in the place that storageConfig names; an administrator grants it with --storage-grants of the controller`,
  )
}

/** @throws FillError InvalidSpec, StorageNotGranted and others */
export function planOf(context: Context, version: Version): VersionPlan {
  const placed = placeOf(context, version)
  requireGrant(placed, version.metadata.namespace)
  return version.spec.type === 'Module'
    ? modulePlan(context, version, placed)
    : providerPlan(context, version, placed)
}

function modulePlan(context: Context, version: Version, placed: PlacedVersion): VersionPlan {
  const { metadata, spec } = version
  const config = moduleConfigOf(placed.parent, version)
  const { source: origin, repoUrl, repoOwner, immutable } = config
  if (origin === undefined && repoUrl === undefined && repoOwner === undefined) {
    throw new FillError(
      'InvalidSpec',
      'the module has no source: set source, repoUrl or repoOwner, or spec.upload for an archive that is in storage already',
    )
  }
  const source = context.sources.module({ ...config, name: placed.configName }, metadata.namespace)
  const format = config.fileFormat === 'zip' ? 'zip' : 'tar.gz'
  const { tagPrefix = '', path = '' } = origin ?? {}
  const [host = ''] = source.identity.replace(/^\w+:(?:https:\/\/)?/, '').split('/')
  const parts = [source.identity, tagPrefix, path, format, normaliserVersion]
  return {
    ...placed,
    type: 'Module',
    policy: immutable === true ? 'never' : immutable === false ? 'follow' : 'ask',
    sourceKey: sourceKeyOf(placed, placed, parts),
    address: addressOf(source.identity),
    keyIn: (other) => sourceKeyOf(placed, other, parts),
    host,
    async ask(options) {
      const resolved = await source.resolve(spec.version, options)
      return {
        revision: resolved.revision,
        from: `${source.identity} ${resolved.ref}`,
        mark: () => Promise.resolve(markOfModule(resolved.revision)),
        requireTrust: () => undefined,
        fetch: async (fetching) => {
          const fetched = await source.fetch(resolved, fetching)
          const stem = `${placed.configName}-${placed.version}`
          return fetchModule(context, fetched, { format, stem }, fetching)
        },
      }
    },
  }
}

function providerPlan(context: Context, version: Version, placed: PlacedVersion): VersionPlan {
  const { metadata, spec } = version
  const { operatingSystem: os, architecture: arch } = spec
  if (os === undefined || arch === undefined) {
    throw new FillError('InvalidSpec', 'spec.operatingSystem and spec.architecture are required')
  }
  const config = providerConfigOf(placed.parent, version)
  const type = placed.configName
  const upstream = context.sources.provider({ ...config, name: type }, metadata.namespace)
  const parts = [upstream.identity, os, arch]
  const address = addressOf(upstream.identity)
  return {
    ...placed,
    type: 'Provider',
    policy: 'never',
    sourceKey: sourceKeyOf(placed, placed, parts),
    address,
    keyIn: (other) => sourceKeyOf(placed, other, parts),
    host: upstream.host,
    async ask(options) {
      const release = await upstream.release(placed.version, { os, arch }, options)
      return {
        revision: release.revision,
        from: shownUrl(release.downloadUrl),
        async mark(asking) {
          const { versions } = await upstream.list({ ...asking, maxAgeMs: listMaxAgeMs })
          const listed = versions.find((one) => one.version === placed.version)
          if (listed === undefined) return undefined
          const { sums, mark } = await contentOfRelease(upstream, listed, asking)
          return sums.includes(release.shasum) ? mark : markOfRevision(release.revision)
        },
        requireTrust() {
          // A signer that a rule refuses has nothing to do with the trusted one.
          requireSigner(context, version, { parent: placed.parent, address }, release)
          requireTrust(context, config, release, {
            parent: placed.parent,
            version: keyOf(metadata),
          })
        },
        fetch: async (fetching) => {
          const fetched = await upstream.fetch(release, fetching)
          return fetchProvider(
            fetched,
            release,
            { type, limits: context.limits.provider },
            fetching,
          )
        },
      }
    },
  }
}

/**
 * Requires that the key that signed a release is trusted: it is in trustedKeys, or it signed the first version of the
 * provider.
 *
 * @param version the key of the Version in work
 * @throws FillError SigningKeyChanged, with the change that accepts the key
 */
function requireTrust(
  { objects, signers }: Pick<Context, 'objects' | 'signers'>,
  { trustedKeys = [], keyPolicy }: Partial<ProviderConfig>,
  { signer }: Pick<ProviderRelease, 'signer'>,
  { parent, version }: { readonly parent: StoredObject | undefined; readonly version: string },
): void {
  if (signer === undefined || signer.trusted) return
  const { fingerprint } = signer
  if (trustedKeys.length > 0) {
    throw new FillError(
      'SigningKeyChanged',
      `signed by ${fingerprint}, which is not in trustedKeys: add it there to accept it`,
    )
  }
  if (parent === undefined || keyPolicy === 'Follow') return
  const first = signers.of(parent, ownedBy({ objects }, parent), fingerprint, version)
  if (first === fingerprint) return
  throw new FillError(
    'SigningKeyChanged',
    `signed by ${fingerprint}, the first version by ${first}: add both to trustedKeys to accept it, or set keyPolicy: Follow`,
  )
}

function placeIdOf(
  { s3, azureStorage: azure, gcs }: StorageConfig,
  { backend, prefix }: ArchivePlace,
  name: string,
): string {
  // An account has one identity, however its URL is spelled.
  const account = azure && `${azure.accountUrl.toLowerCase().replace(/\/+$/, '')}/${name}`
  return `${backend}:${s3?.bucket ?? gcs?.bucket ?? account ?? ''}/${prefix}`
}

/** The policy for findings of scans: that of the parent. Its own copy counts only for a Version without one. */
export function scanPolicyOf(
  { spec }: Version,
  parent: StoredObject | undefined,
): ScanPolicy | undefined {
  const config = parent === undefined ? spec[configRefOf[spec.type]] : configOf(parent)
  return config?.scanPolicy
}

/** The quarantines of a Version whose archive was stored. A scanner lifts those for missing scans and for findings. */
export function heldForScan(
  version: Version,
  parent: StoredObject | undefined,
  facts: Omit<ScanFacts, 'policy'>,
): NonNullable<Version['status']>['quarantinedBy'] {
  const verdict = scanVerdict({ ...facts, policy: scanPolicyOf(version, parent) })
  const { status, sha256 } = facts
  if (verdict.message === undefined && hasScan(status, sha256)) return status?.quarantinedBy
  return quarantinedAfter(facts.status?.quarantinedBy, verdict, timeOf(facts.nowMs))
}

/** The same archive in another place has another key. */
function sourceKeyOf(
  { version }: PlacedVersion,
  { configName, placeId }: StoragePlace,
  parts: readonly string[],
): string {
  const text = JSON.stringify([version, configName, placeId, ...parts])
  return `sha256:${hash('sha256', text).slice(0, 32)}`
}

/** Versions of a repository that are looked at within this time share its list. */
const sharedListMs = 60_000

/** Asks upstream, and requires that its signing key is trusted. @throws FillError */
export async function upstreamOf(
  context: Context,
  plan: VersionPlan,
  { attempt, signal }: Pick<VersionWork, 'attempt' | 'signal'>,
  maxAgeMs = sharedListMs,
): Promise<UpstreamOffer> {
  const urgent = attempt.request !== undefined
  const offer = await plan.ask({
    signal: within(signal, context.timings.listMs),
    urgent,
    maxAgeMs: urgent ? 0 : maxAgeMs,
  })
  attempt.revision = offer.revision
  offer.requireTrust()
  return offer
}

/**
 * Requires that the rules of the policy let in a release by its signer, before its archive is fetched. The Depot decided all
 * other rules when it listed the version. What is stored stays.
 *
 * @throws FillError RuleRefused
 */
function requireSigner(
  context: Context,
  { spec, status }: Version,
  { parent, address }: Pick<PlacedVersion, 'parent'> & { readonly address: string },
  { signer }: Pick<ProviderRelease, 'signer'>,
): void {
  if (status?.artifact?.fileName !== undefined) return
  const { policy, seen } = letIn(context, parent, spec.version)
  const layers = signerLayers(policy)
  if (layers.length === 0) return
  const { sinceMs } = seen ?? {}
  const { version } = spec
  const signedBy = signer?.fingerprint ?? ''
  const candidate = { address, version, kind: 'Provider', sinceMs, signedBy } as const
  const refusal = ruleRefusalOf(candidate, { layers }, context.clock())
  if (refusal === undefined) return
  const by = signer === undefined ? 'no signature' : `a signature by ${signer.fingerprint}`
  const whose = refusal.owner === 'Installation' ? 'the whole installation' : 'its Depot'
  throw new FillError('RuleRefused', `${refusal.message} (policy of ${whose}; it has ${by})`)
}
