/** The source of a config, the versions that its resource has, and those that it takes from a list of upstream. */

import { hash } from 'node:crypto'
import { type Constraints, selectVersions } from '../../../api/constraint/constraint.ts'
import { normalizeVersion, type ParentKind } from '../../../api/v1alpha1/v1alpha1.ts'
import { attempt } from '../../../base/errors/errors.ts'
import type { StoredObject } from '../../../records/store/store.ts'
import type { Context } from '../context.ts'
import { listingOf } from '../parent/seen.ts'
import { configOf } from '../parent/versions.ts'
import { timeOf } from '../timings.ts'
import { isStored, versionStatus } from '../version/work.ts'
import { type DepotItem, type DepotStatus, upstreamFor } from './configs.ts'
import type { RawChild } from './made.ts'

/** A source, and the versions that it is known to have. */
export interface KnownSource {
  /** Host and path; undefined if nobody can tell. */
  readonly address: string | undefined
  readonly versions: readonly string[]
  /** Whether it has no others. */
  readonly isListed: boolean
}

/** The sources of a config whose upstream was not listed now. */
export function knownSources(
  context: Context,
  namespace: string,
  item: DepotItem,
  object: StoredObject | undefined,
): KnownSource[] {
  const identity = identityOf(context, namespace, item.kind, item.config)
  const { all, sources } = knownVersions(context, namespace, item, object)
  const address = identity && addressOf(identity)
  return [{ address, versions: all, isListed: false }, ...sources]
}

type KnownVersions = ReturnType<typeof knownVersions>

/**
 * The versions of a resource: those of its spec, and every Version that is stored, even if its own file or that of the
 * resource cannot be read.
 */
export function knownVersions(
  { objects, removals }: Context,
  namespace: string,
  { kind, objectName }: DepotItem,
  object: StoredObject | undefined,
) {
  const { versions = [] } = (object?.spec ?? {}) as RawChild
  const isNamed = ({ metadata }: StoredObject) =>
    metadata.namespace === namespace &&
    metadata.ownerReferences.some((owner) => owner.kind === kind && owner.name === objectName)
  const owned = objects.list('Version', {
    namespace,
    ...(object !== undefined && { ownerUid: object.metadata.uid }),
  })
  const children = [...owned, ...removals.held].filter(isNamed)
  const stored = children.filter((one) => isStored(one))
  const versionOf = ({ spec }: StoredObject) => String((spec as { version?: unknown }).version)
  const gone = stored.filter((child) => versionStatus(child).upstream === 'Gone').map(versionOf)
  const named = versions.map(({ version }) => version)
  const have = new Set(named.map(normalizeVersion))
  const unnamed = stored.map(versionOf).filter((version) => !have.has(normalizeVersion(version)))
  return {
    all: [...named, ...new Set(unnamed)],
    stored: stored.map(versionOf),
    /** Those of which an archive is not stored yet, such as that of a platform that came later. */
    unstored: children.filter((one) => !isStored(one)).map(versionOf),
    // What is stored from a source that the config no longer names is judged by that source.
    sources: stored.flatMap((child) => {
      const { address } = versionStatus(child).artifact ?? {}
      return address === undefined
        ? []
        : [{ address, versions: [versionOf(child)], isListed: true }]
    }),
    /** Those that upstream had when it was last asked. */
    listed: missingFrom(gone, named),
  }
}

/** Whether Versions are stored that their resource does not name. */
export function hasUnnamed(context: Context, item: DepotItem, object: StoredObject): boolean {
  const { versions = [] } = object.spec as RawChild
  return (
    knownVersions(context, object.metadata.namespace, item, object).all.length > versions.length
  )
}

/** Names the place that a config takes versions from; undefined if the config cannot be read. */
export function identityOf(
  context: Context,
  namespace: string,
  kind: DepotItem['kind'],
  config: unknown,
): string | undefined {
  return attempt(() => upstreamFor(context, namespace, kind, config).identity)
}

/** A config, its Depot, and the resource that it has. */
export interface ItemWork {
  readonly depot: StoredObject
  readonly item: DepotItem
  readonly object: StoredObject | undefined
}

/** The source that a config names. */
export interface ItemSource {
  readonly identity: string
  readonly address: string
  /** Whether it differs from the source of the resource. */
  readonly isMoved: boolean
  /** The resource, if it remembers lists of this source. */
  readonly remembered: StoredObject | undefined
}

export function sourceOf(context: Context, { depot, item, object }: ItemWork): ItemSource {
  const { namespace } = depot.metadata
  const identity = identityOf(context, namespace, item.kind, item.config) ?? ''
  const address = addressOf(identity)
  const moved = object !== undefined && isMoved(context, namespace, item, object)
  // What lists of another source had says nothing about this one.
  const isOther = moved || listingOf(object)?.address !== address
  return { identity, address, isMoved: moved, remembered: isOther ? undefined : object }
}

/** The versions that a config takes from a list. */
export interface Choice {
  /** Versions that the resource has, and the list has not. */
  readonly missing: readonly string[]
  readonly select: (versions: readonly string[]) => readonly string[]
  readonly isStored: (version: string) => boolean
  /** Whether the resource neither stores nor names a version. */
  readonly isNew: (version: string) => boolean
  /** Whether something of a wanted version is not stored. */
  readonly isAwaited: (version: string) => boolean
}

export function choiceOf(
  { depot, item, object }: ItemWork,
  constraints: Constraints,
  versions: readonly string[],
  known: KnownVersions,
): Choice {
  const { versionHistoryLimit } = item.config
  const historyLimit = typeof versionHistoryLimit === 'number' ? versionHistoryLimit : undefined
  const missing = missingFrom(versions, known.all)
  // After a restore without statuses, nobody knows what was stored. What the spec names was let in before.
  const isLost = [depot, object].some(isBare)
  const stored = new Set((isLost ? known.all : known.stored).map(normalizeVersion))
  const unstored = new Set(known.unstored.map(normalizeVersion))
  const named = new Set(known.all.map(normalizeVersion))
  const hasArchive = (version: string) => stored.has(normalizeVersion(version))
  // Stored versions that upstream no longer has stay. There is nothing to keep of others.
  const retained = missing.filter(hasArchive)
  const select = (all: readonly string[]) =>
    selectVersions([...all, ...retained], constraints, { historyLimit }).versions
  const wanted = new Set([...select(versions), ...known.all].map(normalizeVersion))
  return {
    missing,
    select,
    isStored: hasArchive,
    isNew: (version) => !hasArchive(version) && !named.has(normalizeVersion(version)),
    isAwaited: (version) => {
      const name = normalizeVersion(version)
      return wanted.has(name) && (unstored.has(name) || !stored.has(name))
    },
  }
}

/** Whether the config of an item names another source than the resource has. */
export function isMoved(
  context: Context,
  namespace: string,
  { kind, config }: DepotItem,
  object: StoredObject,
): boolean {
  const before = identityOf(context, namespace, kind, configOf(object))
  const now = identityOf(context, namespace, kind, config)
  return before === undefined || now === undefined || !isSameSource(before, now)
}

/** Whether an object has no status, or lost it. The status of a Depot is written when it has polled. */
function isBare(object: StoredObject | undefined): boolean {
  const { lastPoll } = (object?.status ?? {}) as DepotStatus
  if (object?.kind === 'Depot') return lastPoll === undefined
  return object !== undefined && Object.keys(object.status ?? {}).length === 0
}

/** A suspicious list of upstream that stays the same is accepted by itself after so many polls and so much time. */
const acceptedAfter = { polls: 3, ms: 24 * 60 * 60_000 }

/** A list of upstream that lost most versions, as the status of a Depot remembers it. */
export interface SuspiciousList {
  /** Names the list. */
  readonly token: string
  /** When it was seen first, RFC 3339. */
  readonly since: string
  readonly polls: number
}

export function acceptAnnotation(apiGroup: string): string {
  return `${apiGroup}/accept-listing`
}

/** The versions that a list of upstream lacks. */
function missingFrom(listed: readonly string[], known: readonly string[]): string[] {
  const have = new Set(listed.map(normalizeVersion))
  return known.filter((version) => !have.has(normalizeVersion(version)))
}

/** Whether a list is more likely a mistake than the truth: it lost more than half of what the last accepted one had. */
export function isSuspicious(listed: readonly string[], accepted: readonly string[]): boolean {
  return missingFrom(listed, accepted).length * 2 > accepted.length
}

/** Remembers a suspicious list. @param before the one of the last poll */
export function suspiciousList(
  item: { readonly kind: ParentKind; readonly name: string },
  listed: readonly string[],
  before: SuspiciousList | undefined,
  nowMs: number,
): SuspiciousList {
  const text = JSON.stringify([item.kind, item.name, listed.map(normalizeVersion).toSorted()])
  const token = hash('sha256', text).slice(0, 12)
  return before?.token === token
    ? { ...before, polls: before.polls + 1 }
    : { token, since: timeOf(nowMs), polls: 1 }
}

/** @param annotation tokens that a person accepts, separated by commas or blanks */
export function isAccepted(
  { token, since, polls }: SuspiciousList,
  annotation: string | undefined,
  nowMs: number,
): boolean {
  if (annotation?.split(/[\s,]+/).includes(token) === true) return true
  return polls >= acceptedAfter.polls && nowMs - Date.parse(since) >= acceptedAfter.ms
}

/** Whether two sources are the same place, however their URLs are spelled. */
export function isSameSource(one: string, other: string): boolean {
  return spelled(one) === spelled(other)
}

/**
 * The host and path of a source, as policies name it, however its URL spells it. GitHub has other hosts for its API, and for
 * archives of a repository.
 */
export function addressOf(identity: string): string {
  return spelled(identity)
    .replace(githubArchive, 'github.com/$1/$2')
    .replace(/^\w*:/, '')
    .replace(/^api\.github\.com\//, 'github.com/')
}

const githubArchive =
  /^archive:(?:(?:codeload\.)?github\.com|api\.github\.com\/repos)\/([^/]+)\/([^/]+?)(?:\.git)?\/.*$/i

/** `git:https://Git.test/team/vpc.git/` becomes `git:git.test/team/vpc`. */
function spelled(identity: string): string {
  const [, kind = '', host = '', path = ''] =
    /^(?:(\w+):)?(?:[a-z+]+:\/\/)?(?:[^@/]*@)?([^/:]*)[/:]?(.*)$/is.exec(identity) ?? []
  const plain = path
    .replace(/(?<!\/)\/+$/, '')
    .replace(/\.git$/i, '')
    .replace(/%[0-9a-f]{2}/gi, (code) => (isUnreserved(code) ? decodeURIComponent(code) : code))
    .replace(/\/{2,}/g, '/')
    .replace(/^\/|\/$/g, '')
    .replace(/\.git$/i, '')
  return `${kind}:${host.toLowerCase().replace(/\.$/, '')}/${plain}`
}

/** Such escapes mean the same as their characters (RFC 3986). */
const isUnreserved = (code: string) =>
  /[\w.~-]/.test(String.fromCharCode(Number.parseInt(code.slice(1), 16)))
