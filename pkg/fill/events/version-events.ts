import { hash } from 'node:crypto'
import { whyHeld } from '../../api/held/held.ts'
import {
  ListingMemory,
  type ModuleConfig,
  normalizeVersion,
  type ProviderConfig,
  type Version,
} from '../../api/v1alpha1/v1alpha1.ts'
import type { StoredObject } from '../../records/store/store.ts'
import { msOf, versionOfStored } from '../sync/sync.ts'

/** Something that happened to a version. */
export interface VersionEvent {
  /** The same whenever and wherever it is computed. */
  readonly id: string
  readonly type: `depot.version.${'served' | 'deprecated' | 'finding' | 'held'}`
  readonly atMs: number
  /** Namespace and name of the Version, or of the Module or Provider of a version that is not stored. */
  readonly subject: string
  readonly data: Readonly<Record<string, unknown>>
}

const maxFindings = 100

/** The events that the state of a Version tells. Each has the time that its status has, so nothing else needs to be kept. */
export function eventsOf({ metadata, spec, status }: StoredObject): VersionEvent[] {
  const { type: kind, operatingSystem: os, architecture: arch, ...rest } = spec as Version['spec']
  const { moduleConfigRef: module, providerConfigRef: provider } = rest
  const { artifact, checksum, lifecycle, quarantineEndedAt, quarantinedBy, ...scans } = (status ??
    {}) as NonNullable<Version['status']>
  const { scan, dependencyScan, sourceScan, binaryScan } = scans
  const [criticalSince] = [scan?.criticalSince, dependencyScan?.criticalSince]
    .filter((since) => since !== undefined)
    .toSorted((a, b) => (msOf(b) ?? 0) - (msOf(a) ?? 0))
  const { namespace, name, uid } = metadata
  const owner = metadata.ownerReferences.find((one) => one.kind === kind)?.name
  const about = {
    namespace,
    kind,
    name: (module ?? provider)?.name ?? owner,
    system: module?.provider,
    version: versionOfStored({ spec }),
    os,
    arch,
  }
  const event = (
    type: VersionEvent['type'],
    at: string | undefined,
    data: object,
  ): VersionEvent[] => {
    const atMs = msOf(at)
    if (atMs === undefined) return []
    const id = hash(
      'sha256',
      JSON.stringify([uid, namespace, name, type, atMs]),
      'base64url',
    ).slice(0, 22)
    return [{ id, type, atMs, subject: `${namespace}/${name}`, data: { ...about, ...data } }]
  }
  const [servedAt] = [artifact?.storedAt, quarantineEndedAt].toSorted(
    (a, b) => (msOf(b) ?? 0) - (msOf(a) ?? 0),
  )
  const isServed = lifecycle?.state !== 'Quarantined' && !quarantinedBy?.length
  const findings = [sourceScan, binaryScan]
    .flatMap((one) => one?.findings ?? [])
    .filter(({ severity }) => severity === 'CRITICAL')
    .slice(0, maxFindings)
    .map(({ vulnerabilityID: id, pkgName, installedVersion, fixedVersion }) => ({
      id,
      package: pkgName,
      installedVersion,
      fixedVersion,
    }))
  return [
    ...(artifact && isServed
      ? event('depot.version.served', servedAt, { sha256: artifact.sha256 ?? checksum })
      : []),
    ...event('depot.version.deprecated', lifecycle?.since, { ...lifecycle, since: undefined }),
    ...event('depot.version.finding', criticalSince, { severity: 'CRITICAL', findings }),
  ]
}

/** A version that is held back for less time is not news: most are free within hours. */
const heldMs = 24 * 60 * 60_000

/**
 * The events of the versions of a Module or Provider that a policy has held back for a day. Those that
 * no rule allows, or that an expression refuses, are left out, because they may be hundreds, for ever.
 */
export function heldEventsOf(parent: StoredObject, nowMs: number): VersionEvent[] {
  const { kind, metadata, spec, status } = parent
  const { namespace, name, uid } = metadata
  const { listing } = (status ?? {}) as { readonly listing?: unknown }
  const { heldBack = [] } = ListingMemory.safeParse(listing).data ?? {}
  const { moduleConfig, providerConfig } = spec as {
    readonly moduleConfig?: ModuleConfig
    readonly providerConfig?: ProviderConfig
  }
  const about = {
    namespace,
    kind,
    name: (moduleConfig ?? providerConfig)?.name ?? name,
    system: moduleConfig?.provider,
  }
  return heldBack.flatMap((entry): VersionEvent[] => {
    const why = whyHeld(entry)
    const sinceMs = msOf(entry.since)
    if (sinceMs === undefined || (why !== 'TooYoung' && why !== 'Denied')) return []
    const atMs = sinceMs + heldMs
    if (atMs > nowMs) return []
    const { version: spelled, since, until, message } = entry
    const identity = [uid, namespace, name, 'depot.version.held', spelled, atMs]
    const id = hash('sha256', JSON.stringify(identity), 'base64url').slice(0, 22)
    const data = { ...about, version: normalizeVersion(spelled), why, message, since, until }
    return [{ id, type: 'depot.version.held', atMs, subject: `${namespace}/${name}`, data }]
  })
}
