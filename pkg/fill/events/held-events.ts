import { hash } from 'node:crypto'
import { whyHeld } from '../../api/held/held.ts'
import {
  ListingMemory,
  type ModuleConfig,
  normalizeVersion,
  type ProviderConfig,
} from '../../api/v1alpha1/v1alpha1.ts'
import type { StoredObject } from '../../records/store/store.ts'
import { msOf } from '../sync/sync.ts'
import type { VersionEvent } from './version-events.ts'

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
