/** Compares the interface of a module version with that of the previous stored version: does it keep what its number promises? */

import { isDeepStrictEqual } from 'node:util'
import semver, { type SemVer } from 'semver'
import { changeText } from '../../../api/changes/changes.ts'
import type { ModuleDocs } from '../../../api/docs/docs.ts'
import {
  type Compared,
  conditionOf,
  type ModuleConfig,
  type Version,
} from '../../../api/v1alpha1/v1alpha1.ts'
import { compareModules } from '../../../archives/compare/compare.ts'
import { unpackDocs } from '../../../archives/docs/docs.ts'
import { printable } from '../../../base/errors/errors.ts'
import { refOf, type StoredObject } from '../../../records/store/store.ts'
import { FillError } from '../../sources/sources.ts'
import type { Context } from '../context.ts'
import { failureOf } from '../failure.ts'
import { keyOf, latestOf, resourceOf } from '../objects.ts'
import { moduleConfigOf, versionOfStored, versionsOf } from '../parent/versions.ts'
import {
  type ConditionState,
  conditionFalse,
  conditionTrue,
  conditionUnknown,
  isPatience,
  type StatusChange,
  writeStatus,
} from '../status.ts'
import { jittered } from '../timings.ts'
import { docsInArchive, storedDocs } from './document.ts'
import { storedPlaceOf } from './plan.ts'
import {
  type Candidate,
  docsIn,
  type Earlier,
  type VersionPlan,
  type VersionStatus,
  type VersionWork,
  versionStatus,
} from './work.ts'

const maxReasons = 3
const maxReasonBytes = 200

/** The version to compare one with. A module creates its Versions before it writes its status. */
function earlierFor(context: Context, parent: StoredObject | undefined, version: string): Earlier {
  if (parent?.kind !== 'Module') return undefined
  const { status, metadata } = latestOf(context, parent)
  const { observedGeneration } = (status ?? {}) as VersionStatus
  const isComplete = observedGeneration === metadata.generation
  return earlierOf(version, versionsOf(context, parent), isComplete)
}

/** Decisions of a person about breaking changes. */
interface VersionRules {
  readonly policy: NonNullable<ModuleConfig['versionPolicy']>
  readonly isAccepted: boolean
}

function rulesOf(version: Version, parent: StoredObject | undefined): VersionRules {
  const { versionPolicy = 'None' } = moduleConfigOf(parent, version)
  return { policy: versionPolicy, isAccepted: version.spec.acceptBreaking === true }
}

/** Whether a version that breaks callers is refused. */
const isEnforced = ({ policy, isAccepted }: VersionRules): boolean =>
  policy === 'Enforce' && !isAccepted

/** The version whose callers another one must not break; undefined if that is not enforced, or there is none. */
export function requiredEarlier(
  context: Context,
  version: Version,
  { parent, version: number }: Pick<VersionPlan, 'parent' | 'version'>,
): Earlier {
  if (!isEnforced(rulesOf(version, parent))) return undefined
  return earlierFor(context, parent, number)
}

/** Names what a refusal depends on; empty if nothing is refused. */
export const refusalBasis = (earlier: Earlier): string =>
  earlier === undefined || earlier === 'awaited'
    ? ''
    : ` ${versionStatus(earlier).artifact?.sha256 ?? ''}`

/** Whether the status has the comparison with that version. */
function isCompared({ compared, artifact }: VersionStatus, earlier: StoredObject | undefined) {
  if (earlier === undefined) return compared === undefined
  return (
    compared?.from === versionOfStored(earlier) &&
    compared.fromSha256 === versionStatus(earlier).artifact?.sha256 &&
    compared.sha256 === artifact?.sha256
  )
}

/** Whether a version was refused, and still breaks the callers of the same earlier version. */
export function isStillRefused(
  context: Context,
  version: Version,
  plan: Pick<VersionPlan, 'parent' | 'version'>,
): boolean {
  const earlier = requiredEarlier(context, version, plan)
  if (earlier === undefined || earlier === 'awaited') return false
  const { status = {} } = version
  return status.compared?.verdict === 'breaking' && isCompared(status, earlier)
}

/** Wakes the Versions of a module that have to be compared with another one, or wait for an earlier one. */
export function wakeUncompared(context: Context, parent: StoredObject): void {
  for (const [version, earlier] of earlierOfAll(versionsOf(context, parent))) {
    if (earlier === 'awaited') continue
    const status = versionStatus(version)
    const isKnown = status.artifact?.docs !== undefined || status.compared !== undefined
    const isWaiting = context.uncompared.get(keyOf(version.metadata)) === 'awaited'
    if (!isWaiting && (!isKnown || isCompared(status, earlier))) continue
    context.uncompared.set(keyOf(version.metadata), earlier)
    context.wake(refOf(version), 'poll')
  }
}

/**
 * Compares a fetched archive before it is stored.
 *
 * @returns the change of the status; undefined if it cannot be compared now; `awaited` if it has to be, and must wait
 * @throws FillError BreakingChange; errors of storage where a breaking change is refused
 */
export async function compareCandidate(
  context: Context,
  { object, version, attempt, signal }: VersionWork,
  { parent, version: number }: VersionPlan,
  { docs, sha256 }: Candidate,
): Promise<StatusChange<VersionStatus> | 'awaited' | undefined> {
  const earlier = earlierFor(context, parent, number)
  const rules = rulesOf(version, parent)
  if (earlier === 'awaited' && isEnforced(rules)) {
    context.uncompared.set(keyOf(object.metadata), earlier)
    return earlier
  }
  if (earlier === undefined || earlier === 'awaited' || docs === undefined) return undefined
  try {
    const after = await unpackDocs(docs.bytes)
    const compared = await compare(context, earlier, { number, after, sha256 }, signal)
    if (compared === undefined) return undefined
    context.uncompared.delete(keyOf(object.metadata))
    if (compared.verdict !== 'breaking' || !isEnforced(rules)) return changeOf(compared, rules)
    const { sha256: _, ...refused } = compared
    // The status keeps the comparison of an archive that stays.
    if (version.status?.artifact === undefined) attempt.comparison = changeOf(refused, rules)
    throw new FillError('BreakingChange', refusalOf(context, object, compared))
  } catch (err) {
    if (signal.aborted || (isEnforced(rules) && failureOf(err) !== undefined)) throw err
    context.log.warn({ version: object.metadata.name, err }, uncompared)
    return undefined
  }
}

/** Logged; the archive is served all the same. */
const uncompared = 'a module version could not be compared with the previous one'

/**
 * Compares a stored version with the one that its module found for it, and reports the comparison as the policy says.
 *
 * @returns when to try again
 */
export async function compareStored(
  context: Context,
  object: StoredObject,
  parent: StoredObject | undefined,
  signal: AbortSignal,
): Promise<number | undefined> {
  const status = versionStatus(object)
  const found = await freshComparison(context, object, signal)
  const { compared } = found === undefined || 'waitMs' in found ? status : found
  const change = changeOf(compared, rulesOf(resourceOf('Version', object), parent))
  const known = conditionOf(status, 'SemVer')
  const shown = known && { status: known.status, reason: known.reason, message: known.message }
  if (compared !== status.compared || !isDeepStrictEqual(change.conditions.SemVer, shown)) {
    await writeStatus<VersionStatus>(context, object, (now) =>
      now?.artifact?.sha256 === status.artifact?.sha256 ? change : { fields: {}, conditions: {} },
    )
  }
  return found?.waitMs
}

/** @returns undefined if the comparison in the status is still true */
async function freshComparison(
  context: Context,
  object: StoredObject,
  signal: AbortSignal,
): Promise<{ compared?: Compared | undefined; waitMs?: number } | undefined> {
  const key = keyOf(object.metadata)
  const { sha256 } = versionStatus(object).artifact ?? {}
  const earlier = context.uncompared.get(key)
  if (sha256 === undefined || !context.uncompared.has(key) || earlier === 'awaited')
    return undefined
  const done = (compared: Compared | undefined) => {
    context.uncompared.delete(key)
    return { compared }
  }
  if (earlier === undefined) return done(undefined)
  const later = { waitMs: jittered(context.timings.stalledMs, object.metadata.uid) }
  const waitMs = context.comparisonAllowance.take()
  if (waitMs !== undefined) return { waitMs }
  try {
    const after = await docsOf(context, object, signal)
    const number = versionOfStored(object)
    const one = { number, after, sha256 }
    const compared = await compare(context, latestOf(context, earlier), one, signal)
    return compared === undefined ? later : done(compared)
  } catch (err) {
    if (signal.aborted) throw err
    context.log.warn({ version: object.metadata.name, err }, uncompared)
    return later
  }
}

interface ComparedVersion {
  readonly number: string
  readonly after: ModuleDocs | undefined
  readonly sha256: string
}

/** @returns undefined if the documentation of one of them cannot be had */
async function compare(
  context: Context,
  earlier: StoredObject,
  { number, after, sha256 }: ComparedVersion,
  signal: AbortSignal,
): Promise<Compared | undefined> {
  const before = await docsOf(context, earlier, signal)
  const fromSha256 = versionStatus(earlier).artifact?.sha256
  if (before === undefined || after === undefined || fromSha256 === undefined) return undefined
  const from = versionOfStored(earlier)
  const { verdict, changes } = compareModules(before, after, { from, to: number })
  const deciding = changes.filter((change) => change.verdict === verdict)
  const reasons = deciding
    .slice(0, maxReasons)
    .map((change) => printable(changeText(change), maxReasonBytes))
  return {
    from,
    fromSha256,
    sha256,
    verdict,
    ...(verdict !== 'compatible' && { reasons }),
  }
}

/** The documentation of a stored version; made from its archive if it has none yet. */
async function docsOf(
  context: Context,
  object: StoredObject,
  signal: AbortSignal,
): Promise<ModuleDocs | undefined> {
  const { artifact } = versionStatus(object)
  const at = storedPlaceOf(context, resourceOf('Version', object))
  if (!at.place.isGrantedTo(object.metadata.namespace)) return undefined
  const docsName = docsIn(artifact)
  const stored =
    docsName === undefined || artifact?.docs === undefined
      ? undefined
      : await storedDocs(
          context,
          at.place,
          { fileName: docsName, sha256: artifact.docs.sha256 },
          signal,
        )
  if (stored !== undefined) return stored
  const { fileName, sha256 } = artifact ?? {}
  if (fileName === undefined || sha256 === undefined) return undefined
  const made = await docsInArchive(context, at, { fileName, sha256, isModule: true }, signal)
  return made && unpackDocs(made.bytes)
}

function changeOf(
  compared: Compared | undefined,
  rules: VersionRules,
): StatusChange<VersionStatus> {
  return { fields: { compared }, conditions: { SemVer: conditionFor(compared, rules) } }
}

function conditionFor(
  compared: Compared | undefined,
  { policy, isAccepted }: VersionRules,
): ConditionState | undefined {
  if (compared === undefined || policy === 'None') return undefined
  const { from, verdict } = compared
  if (verdict === 'compatible') {
    return conditionTrue('Compatible', `callers of ${from} can take it unchanged`)
  }
  const reasons = reasonsIn(compared)
  if (verdict === 'unknown') {
    return conditionUnknown('Undecided', `whether callers of ${from} break is unknown: ${reasons}`)
  }
  return isAccepted
    ? conditionTrue('BreakingAccepted', `breaks callers of ${from}, which is accepted: ${reasons}`)
    : conditionFalse('BreakingChange', `breaks callers of ${from}: ${reasons}`)
}

const reasonsIn = ({ reasons = [] }: Compared): string => reasons.join(' ')

function refusalOf(
  { objects, apiGroup }: Context,
  { metadata: { name, namespace } }: StoredObject,
  compared: Compared,
): string {
  const accept = objects.isFolder
    ? `set spec.acceptBreaking: true in the manifest of Version ${namespace}/${name}`
    : `kubectl patch versions.${apiGroup} ${name} --namespace ${namespace} --type merge -p '{"spec":{"acceptBreaking":true}}'`
  return `breaks callers of ${compared.from}: ${reasonsIn(compared)} Publish it as a new major version, or accept it with: ${accept}`
}

interface Numbered {
  readonly number: SemVer
  readonly object: StoredObject
}

/** Versions of a module, newest first. Those before 1.0.0 and those without a semantic version are left out. */
function numbered(siblings: readonly StoredObject[]): Numbered[] {
  return siblings
    .flatMap((object) => {
      const number = semver.parse(versionOfStored(object))
      return number === null || number.major === 0 ? [] : [{ number, object }]
    })
    .toSorted((a, b) => semver.rcompare(a.number, b.number))
}

/** The earlier version of each Version that has one. */
function earlierOfAll(siblings: readonly StoredObject[]): (readonly [StoredObject, Earlier])[] {
  const all = numbered(siblings)
  return all.map(({ number, object }, at) => [object, previousOf(number, all, at + 1)])
}

/** @param isComplete whether all siblings exist */
function earlierOf(
  version: string,
  siblings: readonly StoredObject[],
  isComplete: boolean,
): Earlier {
  const number = semver.parse(version)
  if (number === null || number.major === 0) return undefined
  if (!isComplete) return 'awaited'
  const isClose = (one: StoredObject) => versionOfStored(one).startsWith(`${number.major}.`)
  return previousOf(number, numbered(siblings.filter(isClose)), 0)
}

/** @param from index of the first one to look at */
function previousOf(number: SemVer, newestFirst: readonly Numbered[], from: number): Earlier {
  for (let at = from; at < newestFirst.length; at += 1) {
    const one = newestFirst[at]
    if (one === undefined || one.number.major !== number.major) return undefined
    // Nothing is promised to those who use a prerelease.
    if (one.number.prerelease.length > 0 || one.number.compare(number) >= 0) continue
    const state = stateOf(one.object)
    if (state === 'stored') return one.object
    if (state === 'awaited') return 'awaited'
  }
  return undefined
}

/** Whether a Version has an archive, may get one soon, or does not count. */
function stateOf({ metadata, spec, status }: StoredObject): 'stored' | 'awaited' | 'none' {
  if (metadata.deletionTimestamp !== undefined) return 'none'
  const { artifact, conditions } = versionStatus({ status } as StoredObject)
  if (artifact?.sha256 !== undefined && artifact.fileName !== undefined) return 'stored'
  if ((spec as { readonly suspend?: boolean }).suspend === true) return 'none'
  const ready = conditionOf({ conditions }, 'Ready')
  return ready?.status === 'False' && !isPatience(ready.reason) ? 'none' : 'awaited'
}
