import {
  type Constraints,
  parseConstraints,
  selectVersions,
} from '../../../api/constraint/constraint.ts'
import type { ParentKind } from '../../../api/v1alpha1/v1alpha1.ts'
import { Turns } from '../../../base/pacing/pacing.ts'
import { ApiError, refOf, type StoredObject } from '../../../records/store/store.ts'
import { explained } from '../../egress/egress.ts'
import type { Policy } from '../../policy/policy.ts'
import { FillError, type UpstreamOptions } from '../../sources/sources.ts'
import type { Context } from '../context.ts'
import { failureOf } from '../failure.ts'
import { markGone } from '../parent/children.ts'
import { type Admission, admission, type HeldVersion, heldIn } from '../parent/held-back.ts'
import { denialsOf, quarantine, reportException } from '../parent/quarantine.ts'
import { listingOf, seenBefore } from '../parent/seen.ts'
import { configOf } from '../parent/versions.ts'
import { pastMsOf, within } from '../timings.ts'
import { type DepotItem, type DepotStatus, itemProblem, policyOf, upstreamFor } from './configs.ts'
import {
  acceptAnnotation,
  addressOf,
  type Choice,
  choiceOf,
  hasUnnamed,
  type ItemSource,
  type ItemWork,
  identityOf,
  isAccepted,
  isMoved,
  isSuspicious,
  type KnownSource,
  knownSources,
  knownVersions,
  type SuspiciousList,
  sourceOf,
  suspiciousList,
} from './known.ts'
import { apply, awaitsList, isApplied, isManagedBy, mayManage, writePolicy } from './made.ts'
import { markedVersions, wakeMoved, wakeRefused, wakeReleased } from './marks.ts'

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
  const { heldBack, unlisted } = heldIn(item.isTwin ? undefined : known)
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
  const problem = itemProblem(item)
  if (problem !== undefined) throw new FillError('InvalidSpec', problem)
  const object = context.objects.get(item.kind, depot.metadata.namespace, item.objectName)
  if (object?.metadata.deletionTimestamp !== undefined) return { heldBack: [], unlisted: 0 }
  if (object !== undefined) requireOwn(context, depot, object)
  const policy = policyOf(context, depot)
  if (object !== undefined) await withdrawDenied(context, depot, item.kind, object)
  if (asking.isPoll || object === undefined || !isComplete(context, depot, item, object)) {
    return update(context, { depot, item, object }, policy, asking)
  }
  await writePolicy(context, depot, object)
  const before = itemBefore(depot, item)
  return { isManaged: true, found: before?.found, matched: before?.matched }
}

/**
 * Whether a resource is as its Depot made it, and names every stored Version or was listed since the start. A retained Version
 * that is not named costs one list after each start.
 */
function isComplete(
  context: Context,
  depot: StoredObject,
  item: DepotItem,
  object: StoredObject,
): boolean {
  if (!isApplied(context, depot, item, object)) return false
  return !awaitsList(context, object) || !hasUnnamed(context, item, object)
}

/** @throws FillError OwnedByAnother */
function requireOwn(context: Context, depot: StoredObject, object: StoredObject): void {
  if (mayManage(context, depot, object)) return
  throw new FillError(
    'OwnedByAnother',
    `${object.kind} ${object.metadata.name} is not this Depot's: the annotation ${context.apiGroup}/adopt: "${depot.metadata.name}" on it hands it over`,
  )
}

async function withdrawDenied(
  context: Context,
  depot: StoredObject,
  kind: ParentKind,
  object: StoredObject,
): Promise<void> {
  // A source that the config names now has nothing to do with what is stored.
  const from = identityOf(context, depot.metadata.namespace, kind, configOf(object))
  await quarantine(context, object, from && addressOf(from), denialsOf(context, depot))
}

/** Lists upstream, and brings the versions that the config wants and the policy lets in. */
async function update(
  context: Context,
  work: ItemWork,
  policy: Policy | undefined,
  asking: Asking,
): Promise<Partial<ItemResult>> {
  const { depot, item, object } = work
  const { namespace } = depot.metadata
  const { kind } = item
  const constraints = constraintsOf(item)
  const source = sourceOf(context, work)
  const isSeen = seenBefore(source.remembered)
  const listed = await list(context, namespace, item, {
    ...asking,
    datesOf: policy?.needsAge === true ? (version) => !isSeen(version) : undefined,
    needsLicence: policy?.needsLicence === true,
  })
  const versions = listed.versions.map(({ version }) => version)
  const known = knownVersions(context, namespace, item, object)
  // A person who names another source expects another list.
  if (!source.isMoved) {
    requireAccepted(context, depot, item, {
      listed: selectVersions(versions, constraints).versions,
      accepted: selectVersions(known.listed, constraints).versions,
    })
  }
  const choice = choiceOf(work, constraints, versions, known)
  const admitted = await admissionOf(context, work, { listed, source, policy, choice, asking })
  const mayCome = (version: string) => choice.isStored(version) || admitted.mayCome(version)
  const selected = choice.select(await filterInTurns(versions, mayCome))
  if (object !== undefined && kind === 'Module') await markGone(context, object, choice.missing)
  const isMissing = new Set(choice.missing)
  const young = choice.select(versions).filter((one) => !isMissing.has(one) && !mayCome(one))
  const held = object && (await admitted.remember(object, young))
  // Logged before they come in: a killed process may log it twice, but never omits it.
  const coming = selected.filter((version) => !isMissing.has(version) && choice.isNew(version))
  for (const version of coming.filter((one) => !admitted.admits(one))) {
    for (const exception of admitted.exceptionsOf(version)) {
      reportException(context, depot, `${kind} ${item.name}`, exception)
    }
  }
  const applied = await apply(context, depot, item, selected)
  if (awaitsList(context, applied)) {
    context.listed.add(applied.metadata.uid)
    if (hasUnnamed(context, item, applied)) context.wake(refOf(applied), 'poll')
  }
  await writePolicy(context, depot, applied)
  await wakeChanged(context, applied, item, { listed, admitted, asking })
  const { address } = source
  return {
    isManaged: true,
    found: versions.length,
    matched: selected.length,
    retained: selected.filter((version) => isMissing.has(version)).length,
    skipped: listed.skipped,
    skewMs: policy?.needsAge === true ? (listed.skewMs ?? 0) : 0,
    ...(held ?? (await admitted.remember(applied, young))),
    sources: [{ address, versions: [...versions, ...known.all], isListed: true }, ...known.sources],
  }
}

const constraintsOf = ({ config: { versionConstraints: text } }: DepotItem): Constraints =>
  parseConstraints(typeof text === 'string' ? text : '')

/** Decides which versions of a list the policy lets in, by their content and their age. */
async function admissionOf(
  context: Context,
  { depot, item }: ItemWork,
  { listed, source, policy, choice, asking }: Admitting,
): Promise<Admission> {
  const { kind, config } = item
  const { identity, address, remembered } = source
  const { isAwaited } = choice
  const lastMs = lastListedMs(depot, item, context.clock())
  const versions = await markedVersions(context, depot.metadata.namespace, item, {
    versions: listed.versions,
    policy,
    memory: listingOf(remembered),
    lastMs,
    isAwaited,
    asking,
  })
  const facts = {
    kind,
    system: typeof config['provider'] === 'string' ? config['provider'] : undefined,
    isRegistry: identity.startsWith('registry:'),
    licence: listed.licence,
  }
  const isImmutable = kind === 'Provider' || config['immutable'] === true
  const { skewMs } = listed
  const all = { address, versions, isImmutable, skewMs, lastMs, isAwaited, facts }
  return admission(context, { depot, parent: remembered }, all, policy)
}

interface Admitting {
  readonly listed: UpstreamList
  readonly source: ItemSource
  readonly policy: Policy | undefined
  readonly choice: Choice
  readonly asking: Asking
}

/** Wakes the Versions whose content upstream has changed. */
async function wakeChanged(
  context: Context,
  resource: StoredObject,
  { kind, config }: DepotItem,
  {
    listed,
    admitted,
    asking,
  }: Pick<Admitting, 'listed' | 'asking'> & { readonly admitted: Admission },
): Promise<void> {
  if (kind === 'Provider') {
    if (!listed.unchanged) context.wake(refOf(resource), 'poll')
    wakeRefused(context, resource)
    if (asking.isPoll) await wakeReleased(context, resource, config, asking)
    return
  }
  // A tag that moved a moment ago replaces nothing yet.
  const isSettled = ({ version }: { version: string }) =>
    config['immutable'] !== false || admitted.admits(version)
  const settled = new Set(await filterInTurns(listed.versions, isSettled))
  wakeMoved(context, resource, {
    versions: listed.versions,
    isHeld: (one) => !settled.has(one),
  })
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
function lastListedMs(depot: StoredObject, item: DepotItem, nowMs: number): number | undefined {
  const before = itemBefore(depot, item)
  const { lastPoll } = (depot.status ?? {}) as DepotStatus
  const isListed = before?.found !== undefined && before.message === undefined
  return (isListed && pastMsOf(lastPoll, nowMs)) || undefined
}

type UpstreamList = Awaited<ReturnType<typeof list>>

/** Asks upstream for the versions of an item. @throws FillError */
function list(
  context: Context,
  namespace: string,
  { kind, config }: DepotItem,
  { signal, urgent, isPoll, ...needs }: Asking & Pick<UpstreamOptions, 'datesOf' | 'needsLicence'>,
) {
  const options = {
    signal: within(signal, context.timings.listMs),
    urgent,
    ...needs,
    maxAgeMs: isPoll ? 0 : Number.POSITIVE_INFINITY,
  }
  return upstreamFor(context, namespace, kind, config).list(options)
}
