/** Withdraws versions that policies deny, and reports exceptions of people. */

import { isDeepStrictEqual } from 'node:util'
import { type PolicyException, sha256Hex } from '../../../api/v1alpha1/v1alpha1.ts'
import { Turns } from '../../../base/pacing/pacing.ts'
import type { Logger } from '../../../base/telemetry/telemetry.ts'
import { refOf, type StoredObject } from '../../../records/store/store.ts'
import {
  exceptionsFor,
  expiryOf,
  hasScan,
  type PolicyOwner,
  quarantinedAfter,
  refusalOf,
  withoutExceptions,
} from '../../policy/policy.ts'
import type { Context, PolicyDecision } from '../context.ts'
import { denyingPolicyOf } from '../depot/configs.ts'
import { depotOf } from '../depot/made.ts'
import { keyOf } from '../objects.ts'
import { writeStatus } from '../status.ts'
import { timeOf } from '../timings.ts'
import { type VersionPlan, type VersionStatus, versionStatus } from '../version/work.ts'
import { configOf, ownedBy } from './versions.ts'

const author = 'UpstreamPolicy'

type Entries = VersionStatus['quarantinedBy']

type Denial = Pick<NonNullable<Entries>[number], 'message' | 'owner'>

/** Decisions of policies about the versions of addresses, with or without an archive. */
interface Denials {
  /** Undefined if nothing denies the version. */
  readonly of: (address: string, version: string, before: Entries) => Denial | undefined
  /** Those of the owner that take precedence over what it still denies. */
  readonly exceptionsFor: (
    address: string,
    version: string,
    owner: PolicyOwner,
  ) => readonly PolicyException[]
}

/** Status fields store both texts: with other words, `since` would begin again and owners would be unknown. */
const ofInstallation =
  '(policy of the whole installation; who runs it can except the version there)'

/** Reads what the installation denies, and what the policy of a Depot does if it can be read. */
export function denialsOf(
  context: Pick<Context, 'clock' | 'installation'>,
  depot: StoredObject | undefined,
): Denials {
  const { policy, isDepotRead } = denyingPolicyOf(context, depot)
  const ofDepot = depot && `(policy of Depot ${keyOf(depot.metadata)}, whose editors can except it)`
  const of: Denials['of'] = (address, version, before) => {
    const refusal = policy && refusalOf(address, version, policy, context.clock())
    if (refusal?.why === 'Denied') {
      const { owner, message } = refusal
      return { message: `${message} ${owner === 'Depot' ? ofDepot : ofInstallation}`, owner }
    }
    // Only a Depot releases versions that a Depot quarantined.
    const known = entryIn(before)
    return isDepotRead || ownerOf(known) === 'Installation' ? undefined : known
  }
  return {
    of,
    exceptionsFor(address, version, owner) {
      if (policy === undefined) return []
      const own = { ...policy, layers: policy.layers.filter((layer) => layer.owner === owner) }
      const refusal = refusalOf(address, version, withoutExceptions(own), context.clock())
      return refusal?.why === 'Denied' ? exceptionsFor(address, version, own) : []
    },
  }
}

/** The quarantines of a Version with an archive that was fetched now. */
export function quarantinedByPolicy(
  context: Pick<Context, 'apiGroup' | 'clock' | 'installation' | 'objects'>,
  { parent, address, version }: Pick<VersionPlan, 'parent' | 'address' | 'version'>,
  before: Entries,
): Entries {
  const denies = denialsOf(context, depotOf(context, parent))
  return entriesAfter(before, denies.of(address, version, before), timeOf(context.clock()))
}

const entryIn = (entries: Entries) => entries?.find((entry) => entry.by === author)

/** Older releases wrote the owner at the end of the message only. */
const ownerOf = (entry: Denial | undefined) =>
  entry?.owner ?? (entry?.message.endsWith(ofInstallation) === true ? 'Installation' : 'Depot')

function entriesAfter(before: Entries, denial: Denial | undefined, now: string): Entries {
  const others = (before ?? []).filter((entry) => entry.by !== author)
  const known = entryIn(before)
  if (denial === undefined) {
    if (known === undefined) return before
    return others.length > 0 ? others : undefined
  }
  const isSame = known?.message === denial.message
  const owner = ownerOf(denial)
  if (isSame && known.owner === owner) return before
  const since = isSame ? known.since : now
  return [...others, { by: author, owner, message: denial.message, since }]
}

/**
 * Withdraws the versions of a parent that the policy of its Depot denies, and gives back those that it no longer denies.
 *
 * @param address of what is not stored yet, and of what older releases stored; undefined: nobody knows it, and such versions
 *   stay as they are
 */
export async function quarantine(
  context: Context,
  parent: StoredObject,
  address: string | undefined,
  denies: Denials,
): Promise<void> {
  const turns = new Turns()
  for (const version of ownedBy(context, parent)) {
    await turns.yieldIfDue()
    const from = versionStatus(version).artifact?.address ?? address
    if (from !== undefined) await decide(context, version, from, denies)
  }
}

/**
 * Withdraws a stored version that the installation denies, whoever made its resource and whatever the state of a Depot, and
 * gives it back.
 *
 * @param parent of the Version
 * @returns when the policy of the installation changes by itself
 */
export async function quarantineStored(
  context: Context,
  version: StoredObject,
  parent: StoredObject | undefined,
): Promise<number | undefined> {
  const from = versionStatus(version).artifact?.address
  if (context.installation === undefined || from === undefined) return undefined
  await decide(context, version, from, denialsOf(context, depotOf(context, parent)))
  const { policy } = denyingPolicyOf(context, undefined)
  return policy && expiryOf(policy, context.clock()).nextMs
}

async function decide(
  context: Context,
  version: StoredObject,
  from: string,
  denies: Denials,
): Promise<void> {
  const before = versionStatus(version).quarantinedBy
  const { version: name, type } = version.spec as { version: string; type: string }
  const denial = denies.of(from, name, before)
  const since = timeOf(context.clock())
  const known = entryIn(before)
  const exceptions =
    denial === undefined && known ? denies.exceptionsFor(from, name, ownerOf(known)) : []
  // Logged before the version is served again: a killed process may log it twice, but never omits it.
  for (const exception of exceptions) {
    reportException(context, version, `${type} ${from}`, exception)
  }
  const after = (entries: Entries) => entriesAfter(entries, denial, since)
  const isChanged = await writeEntries(context, version, (status) => after(status?.quarantinedBy))
  if (!isChanged) return
  if (denial === undefined) {
    const why =
      exceptions.length > 0 ? 'an exception takes precedence' : 'the policy no longer denies it'
    return lifted(context, version, why)
  }
  if (denial.message === known?.message) return
  const { message: note } = denial
  context.objects.event({ object: version, type: 'Warning', reason: 'Quarantined', note })
}

/**
 * Releases versions that wait for a scan, if the config of their parent no longer demands one. This needs no scanner. Those
 * with findings wait for one, because the policy of its installation decides too.
 */
export async function releaseUnscanned(
  context: Context,
  parent: StoredObject,
  versions: readonly StoredObject[],
): Promise<void> {
  const { block, onMissing = block && 'Hold' } = configOf(parent)?.scanPolicy ?? {}
  if (onMissing === 'Hold') return
  const after = (status: VersionStatus | undefined) => {
    return hasScan(status, sha256Hex(status?.checksum ?? ''))
      ? status?.quarantinedBy
      : quarantinedAfter(status?.quarantinedBy, {}, '')
  }
  const turns = new Turns()
  for (const version of versions) {
    await turns.yieldIfDue()
    const isChanged = await writeEntries(context, version, after)
    if (isChanged) lifted(context, version, 'scanPolicy no longer demands a scan')
  }
}

/** @returns whether the entries have changed */
async function writeEntries(
  context: Context,
  version: StoredObject,
  after: (status: VersionStatus | undefined) => Entries,
): Promise<boolean> {
  const status = versionStatus(version)
  const before = status.quarantinedBy
  if (isDeepStrictEqual(after(status), before)) return false
  const written = await writeAnyway(context, version, (current) => ({
    fields: { quarantinedBy: after(current) },
    conditions: {},
    isObserved: false,
  }))
  return written !== undefined && !isDeepStrictEqual(versionStatus(written).quarantinedBy, before)
}

function lifted({ objects }: Context, object: StoredObject, why: string): void {
  const note = `${why}: it is served again`
  objects.event({ object, type: 'Normal', reason: 'QuarantineLifted', note })
}

/** Nothing else would ask for this write again, and it does not depend on the spec. */
async function writeAnyway(
  context: Context,
  version: StoredObject,
  change: Parameters<typeof writeStatus<VersionStatus>>[2],
): Promise<StoredObject | undefined> {
  const { namespace, name, uid } = version.metadata
  let current: StoredObject | undefined = version
  while (current?.metadata.uid === uid) {
    const written = await writeStatus<VersionStatus>(context, current, change)
    if (written !== undefined) return written
    current = await context.objects.fresh('Version', namespace, name)
  }
  return undefined
}

/** Writes decisions to a log, whatever its level: operators look for them later. A silent log stays silent. */
export function auditTo(log: Logger): (decision: PolicyDecision) => void {
  const lines = log.child({}, { level: log.level === 'silent' ? 'silent' : 'info' })
  return ({ object: { kind, namespace, name }, address, version, by, reason }) => {
    const resource = `${kind} ${namespace}/${name}`
    lines.info({ outcome: 'excepted', resource, address, version, by, reason }, 'audit')
  }
}

/** Tells who let a version in that is too young, or that is denied. */
export function reportException(
  { objects, audit }: Pick<Context, 'objects' | 'audit'>,
  object: StoredObject,
  item: string,
  exception: PolicyException,
): void {
  const { address, version, by, reason } = exception
  audit({ object: refOf(object), address, version, by, reason })
  const note = `${item} ${version} comes in despite the policy, by the exception of ${by}: ${reason}`
  objects.event({ object, type: 'Normal', reason: 'Excepted', note })
}
