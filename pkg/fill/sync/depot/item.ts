import { parseConstraints, selectVersions } from '../../../api/constraint/constraint.ts'
import { normalizeVersion } from '../../../api/v1alpha1/v1alpha1.ts'
import { Turns } from '../../../base/pacing/pacing.ts'
import { ApiError, refOf, type StoredObject } from '../../../records/store/store.ts'
import { explained } from '../../egress/egress.ts'
import { FillError, type UpstreamOptions } from '../../sources/sources.ts'
import type { Context } from '../context.ts'
import { reportException } from '../decisions.ts'
import { failureOf } from '../failure.ts'
import { markGone } from '../parent/children.ts'
import { admission, type HeldVersion, heldBackIn, unlistedIn } from '../parent/held-back.ts'
import { denialsOf, quarantine } from '../parent/quarantine.ts'
import { listingOf, seenBefore } from '../parent/seen.ts'
import { msOf } from '../timings.ts'
import { type DepotItem, type DepotStatus, itemProblem, policyOf } from './configs.ts'
import { configIn, identityOf, type KnownSource, knownSources, knownVersions } from './known.ts'
import {
  acceptAnnotation,
  addressOf,
  isAccepted,
  isSameSource,
  isSuspicious,
  missingFrom,
  type SuspiciousList,
  suspiciousList,
} from './listing.ts'
import { apply, isApplied, isManagedBy, mayManage, writePolicy } from './made.ts'
import { markedVersions } from './marks.ts'
import { wakeMoved, wakeRefused, wakeReleased } from './outdated.ts'

export interface ItemResult {
  readonly item: DepotItem
  /** Whether the resource belongs to this Depot. */
  readonly isManaged: boolean
  readonly found?: number | undefined
  readonly matched?: number | undefined
  readonly retained: number
  readonly skipped: number
  /** Versions that the policy holds back. */
  readonly heldBack: readonly HeldVersion[]
  /** Number of further versions, which do not fit into the status of the resource. */
  readonly unlisted: number
  /** How far the clock of the host is ahead of this one, 0 where no policy needs it; undefined if it was not asked. */
  readonly skewMs?: number | undefined
  /** Its sources, with the versions that they are known to have. */
  readonly sources: readonly KnownSource[]
  readonly failure?: FillError | undefined
  /** The list of upstream that is not used. */
  readonly suspicious?: SuspiciousList
  /** Whether the config names another source, which could not be listed yet. */
  readonly isMoved?: boolean
}

interface Asking {
  readonly signal: AbortSignal
  readonly urgent: boolean
  /** Whether to ask upstream; otherwise its last answer is enough. */
  readonly isPoll: boolean
}

/** Brings the resource of one config to its desired state. A failure is part of the result. */
export async function syncItem(
  context: Context,
  depot: StoredObject,
  item: DepotItem,
  asking: Asking,
): Promise<ItemResult> {
  const { namespace } = depot.metadata
  const known = context.objects.get(item.kind, namespace, item.objectName)
  const heldBack = item.isTwin ? [] : heldBackIn(known)
  const unlisted = item.isTwin ? 0 : unlistedIn(known)
  const sources = knownSources(context, namespace, item, known)
  const result = { item, isManaged: false, retained: 0, skipped: 0, heldBack, unlisted, sources }
  try {
    return { ...result, ...(await bring(context, depot, item, asking)) }
  } catch (error) {
    asking.signal.throwIfAborted()
    const object = context.objects.get(item.kind, namespace, item.objectName)
    const isManaged = !item.isTwin && object !== undefined && isManagedBy(context, depot, object)
    const failure = failureOf(error) ?? otherFailure(error)
    return {
      ...result,
      isManaged,
      failure,
      ...(error instanceof SuspiciousError && { suspicious: error.seen }),
      ...(isManaged && isMoved(context, namespace, item, object) && { isMoved: true }),
    }
  }
}

/** A failure of one config, whatever it is, leaves the others alone. */
function otherFailure(error: unknown): FillError {
  const isRefused = error instanceof ApiError && error.reason === 'Invalid'
  return new FillError(isRefused ? 'InvalidSpec' : 'SyncFailed', explained(error), { cause: error })
}

async function bring(
  context: Context,
  depot: StoredObject,
  item: DepotItem,
  asking: Asking,
): Promise<Partial<ItemResult>> {
  const { namespace } = depot.metadata
  const { kind, config, objectName } = item
  const problem = itemProblem(item)
  if (problem !== undefined) throw new FillError('InvalidSpec', problem)
  const object = context.objects.get(kind, namespace, objectName)
  if (object?.metadata.deletionTimestamp !== undefined) return { heldBack: [], unlisted: 0 }
  if (object !== undefined && !mayManage(context, depot, object)) {
    throw new FillError(
      'OwnedByAnother',
      `${kind} ${objectName} is not this Depot's: the annotation ${context.apiGroup}/adopt: "${depot.metadata.name}" on it hands it over`,
    )
  }
  const policy = policyOf(context, depot)
  const identity = identityOf(context, namespace, kind, config) ?? ''
  const address = addressOf(identity)
  if (object !== undefined) {
    // A source that the config names now has nothing to do with what is stored.
    const from = identityOf(context, namespace, kind, configIn(object))
    await quarantine(context, object, from && addressOf(from), denialsOf(context, depot))
  }
  if (!asking.isPoll && object !== undefined && isApplied(context, depot, item, object)) {
    await writePolicy(context, depot, object)
    const before = itemBefore(depot, item)
    return { isManaged: true, found: before?.found, matched: before?.matched }
  }
  const { versionConstraints, versionHistoryLimit } = config
  const constraints = parseConstraints(
    typeof versionConstraints === 'string' ? versionConstraints : '',
  )
  const moved = object !== undefined && isMoved(context, namespace, item, object)
  // What lists of another source had says nothing about this one.
  const isOther = moved || listingOf(object)?.address !== address
  const before = isOther ? undefined : object
  const isSeen = seenBefore(before)
  const isAgeNeeded = policy?.needsAge === true
  const datesOf = isAgeNeeded ? (version: string) => !isSeen(version) : undefined
  const needsLicence = policy?.needsLicence === true
  const listed = await list(context, namespace, item, { ...asking, datesOf, needsLicence })
  const versions = listed.versions.map(({ version }) => version)
  const known = knownVersions(context, namespace, item, object)
  // A person who names another source expects another list.
  if (!moved) {
    requireAccepted(context, depot, item, {
      listed: selectVersions(versions, constraints).versions,
      accepted: selectVersions(known.listed, constraints).versions,
    })
  }
  const missing = missingFrom(versions, known.all)
  const historyLimit = typeof versionHistoryLimit === 'number' ? versionHistoryLimit : undefined
  const from = {
    address,
    kind,
    system: typeof config['provider'] === 'string' ? config['provider'] : undefined,
    isRegistry: identity.startsWith('registry:'),
    lastMs: lastListedMs(depot, item),
    skewMs: listed.skewMs,
    licence: listed.licence,
    isImmutable: kind === 'Provider' || config['immutable'] === true,
  }
  // After a restore without statuses, nobody knows what was stored. What the spec names was let in before.
  const isLost = [depot, object].some(isBare)
  const have = new Set((isLost ? known.all : known.stored).map(normalizeVersion))
  const unstored = new Set(known.unstored.map(normalizeVersion))
  // Stored versions that upstream no longer has stay. There is nothing to keep of others.
  const retained = missing.filter((version) => have.has(normalizeVersion(version)))
  const select = (all: readonly string[]) =>
    selectVersions([...all, ...retained], constraints, { historyLimit }).versions
  const wanted = new Set([...select(versions), ...known.all].map(normalizeVersion))
  const isAwaited = (version: string) => {
    const name = normalizeVersion(version)
    return wanted.has(name) && (unstored.has(name) || !have.has(name))
  }
  const candidates = await markedVersions(context, namespace, item, {
    versions: listed.versions,
    policy,
    memory: listingOf(before),
    lastMs: from.lastMs,
    isAwaited,
    asking,
  })
  const all = { ...from, versions: candidates, isAwaited }
  const admitted = admission(context, depot, before, all, policy)
  const { admits, exceptionsOf, remember } = admitted
  const isOld = (version: string) => have.has(normalizeVersion(version)) || admits(version)
  const mayCome = (version: string) =>
    have.has(normalizeVersion(version)) || admitted.mayCome(version)
  const coming = await filterInTurns(versions, mayCome)
  const selected = select(coming)
  if (object !== undefined && kind === 'Module') await markGone(context, object, missing)
  const isMissing = new Set(missing)
  const young = select(versions).filter((one) => !isMissing.has(one) && !mayCome(one))
  const held = object && (await remember(object, young))
  // Logged before they come in: a killed process may log it twice, but never omits it.
  const named = new Set(known.all.map(normalizeVersion))
  const isNew = (version: string) => !isOld(version) && !named.has(normalizeVersion(version))
  for (const version of selected.filter((one) => isNew(one) && !isMissing.has(one))) {
    for (const exception of exceptionsOf(version)) {
      reportException(context, depot, `${kind} ${item.name}`, exception)
    }
  }
  const applied = await apply(context, depot, item, selected)
  await writePolicy(context, depot, applied)
  // A tag that moved a moment ago replaces nothing yet.
  const isSettled = ({ version }: { version: string }) =>
    config['immutable'] !== false || admits(version)
  if (kind === 'Module') {
    const settled = new Set(await filterInTurns(listed.versions, isSettled))
    wakeMoved(context, applied, { versions: listed.versions, isHeld: (one) => !settled.has(one) })
  } else {
    if (!listed.unchanged) context.wake(refOf(applied), 'poll')
    wakeRefused(context, applied)
    if (asking.isPoll) await wakeReleased(context, applied, config, asking)
  }
  return {
    isManaged: true,
    found: versions.length,
    matched: selected.length,
    retained: selected.filter((version) => isMissing.has(version)).length,
    skipped: listed.skipped,
    skewMs: isAgeNeeded ? (listed.skewMs ?? 0) : 0,
    ...(held ?? (await remember(applied, young))),
    sources: [{ address, versions: [...versions, ...known.all], isListed: true }, ...known.sources],
  }
}

/** Expressions of tenants decide about each: other work goes on meanwhile. */
async function filterInTurns<T>(all: readonly T[], keeps: (one: T) => boolean): Promise<T[]> {
  const turns = new Turns()
  const kept: T[] = []
  for (const one of all) {
    await turns.yieldIfDue()
    if (keeps(one)) kept.push(one)
  }
  return kept
}

/** Whether an object has no status, or lost it. The status of a Depot is written when it has polled. */
function isBare(object: StoredObject | undefined): boolean {
  const { lastPoll } = (object?.status ?? {}) as DepotStatus
  if (object?.kind === 'Depot') return lastPoll === undefined
  return object !== undefined && Object.keys(object.status ?? {}).length === 0
}

/** @throws FillError UpstreamSuspicious for a list that lost most versions and was not accepted */
function requireAccepted(
  { apiGroup, clock, confirmRemovals }: Context,
  depot: StoredObject,
  item: DepotItem,
  { listed, accepted }: { listed: readonly string[]; accepted: readonly string[] },
): void {
  if (!isSuspicious(listed, accepted)) return
  const annotation = acceptAnnotation(apiGroup)
  const before = itemBefore(depot, item)?.suspicious
  const seen = suspiciousList(item, listed, before, clock())
  if (isAccepted(seen, depot.metadata.annotations[annotation], clock())) return
  const { namespace, name } = depot.metadata
  const command =
    confirmRemovals === undefined
      ? `kubectl annotate depot ${name} --namespace ${namespace} ${annotation}=${seen.token} --overwrite`
      : `the annotation ${annotation}: "${seen.token}" on Depot ${namespace}/${name}`
  const message = `upstream has ${listed.length} of ${accepted.length} versions left: its list is not used until it was the same for 24 hours, or until you accept it with: ${command}`
  throw new SuspiciousError(message, seen)
}

/** Carries what the status of the Depot remembers of a list. */
class SuspiciousError extends FillError {
  readonly seen: SuspiciousList

  constructor(message: string, seen: SuspiciousList) {
    super('UpstreamSuspicious', message)
    this.seen = seen
  }
}

const itemBefore = (depot: StoredObject, { kind, name }: DepotItem) =>
  ((depot.status ?? {}) as DepotStatus).items?.find((one) => one.kind === kind && one.name === name)

/** When the versions of an item were last listed without a failure; undefined if nobody knows. */
function lastListedMs(depot: StoredObject, item: DepotItem): number | undefined {
  const before = itemBefore(depot, item)
  const { lastPoll } = (depot.status ?? {}) as DepotStatus
  return before?.found !== undefined && before.message === undefined ? msOf(lastPoll) : undefined
}

/** Asks upstream for the versions of an item. @throws FillError */
function list(
  { sources, timings }: Context,
  namespace: string,
  { kind, config }: DepotItem,
  { signal, urgent, isPoll, ...needs }: Asking & Pick<UpstreamOptions, 'datesOf' | 'needsLicence'>,
) {
  const options = {
    signal: AbortSignal.any([signal, AbortSignal.timeout(timings.listMs)]),
    urgent,
    ...needs,
    maxAgeMs: isPoll ? 0 : Number.POSITIVE_INFINITY,
  }
  return kind === 'Module'
    ? sources.module(config, namespace).list(options)
    : sources.provider(config, namespace).list(options)
}

/** Whether the config of an item names another source than the resource has. */
function isMoved(
  context: Context,
  namespace: string,
  { kind, config }: DepotItem,
  object: StoredObject,
): boolean {
  const before = identityOf(context, namespace, kind, configIn(object))
  const now = identityOf(context, namespace, kind, config)
  return before === undefined || now === undefined || !isSameSource(before, now)
}
