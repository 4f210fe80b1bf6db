import { hash } from 'node:crypto'
import { normalizeVersion, type ParentKind } from '../../../api/v1alpha1/v1alpha1.ts'
import { timeOf } from '../timings.ts'

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
export function missingFrom(listed: readonly string[], known: readonly string[]): string[] {
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
