import { hash, randomBytes } from 'node:crypto'
import { decodeJwt, decodeProtectedHeader, type JWTPayload } from 'jose'
import type { ParentKind, PublishedBy } from '../../api/v1alpha1/v1alpha1.ts'
import { printable } from '../../base/errors/errors.ts'
import type { RequestFacts } from '../../base/telemetry/telemetry.ts'
import type { Binding } from '../access/access.ts'
import { Refusal } from './refusal.ts'

/** A module or provider. */
export type ResourceKey = readonly [kind: ParentKind, namespace: string, name: string]

/** Credentials of a request, and their hash. */
export interface Presented {
  readonly format: 'token' | 'kubeconfig'
  /** Credentials after the scheme of the Authorization header. */
  readonly token: string
  /** Keyed hash of the token. Identifies the credentials in all keys. */
  readonly hash: string
}

/** A caller, and what it may see. */
export interface CallerSession {
  readonly caller: Caller
  /** Only for `passthrough`: the credentials for the cluster. */
  readonly presented?: Presented
  /** The view of the caller at a revision of the GroupBindings; undefined if one cannot be evaluated. */
  seen?: { readonly revision: number; readonly view: CallerView | undefined }
}

/** The name of a view in logs. */
export function nameOf(view: CallerView): string {
  return typeof view === 'string' ? view : `binding ${view.name}`
}

/** Identifies the caller of an unknown token. Without a wait if nothing has to be requested. */
export interface Callers {
  /**
   * @param token the credentials after `Bearer`
   * @param hash keyed hash of the token
   * @throws Refusal
   */
  identify(token: string, hash: string): CallerSession | Promise<CallerSession>
  /** The refusal of callers without a token. */
  missing(): Refusal
}

/** A caller without further identity. */
export function unnamedSession(mode: AuthMode, kind: CallerKind): CallerSession {
  return { caller: { mode, kind, subject: undefined, groups: [], hash: undefined } }
}

/** A caller that only the cluster knows. */
export function passthroughSession(
  mode: 'kubeconfig' | 'bearer' | 'oidc',
  presented: Presented,
  /** The user that the cluster names for them, if it was asked. */
  identity: (presented: Presented) => PublishedBy | undefined,
): CallerSession & { readonly presented: Presented } {
  const { caller } = unnamedSession(mode, 'passthrough')
  // Read when a download counts: the cluster is asked together with the question whether the caller may read.
  const consumer = () => serviceAccountOf(identity(presented)?.by)
  return { caller: { ...caller, consumer, hash: callerHashOf(presented.hash) }, presented }
}

/**
 * Replaces texts that must not be kept or shown. The key exists only in this process, so hashed texts cannot be guessed.
 * The digests are not signatures: length extension is harmless here, and a plain hash costs a quarter of an HMAC for every
 * request.
 *
 * @returns a function that returns 43 characters of base64url
 */
export function createKeyedHash(): (text: string) => string {
  const key = randomBytes(32).toString('base64url')
  return (text) => hash('sha256', key + text, 'base64url')
}

/** A part of a hash that is enough to distinguish callers in a log. */
export function callerHashOf(hashed: string): string {
  return hashed.slice(0, 12)
}

/** Describes a caller in the access log. @param view its name there */
export function noteCaller(
  facts: RequestFacts | undefined,
  { mode, hash: callerHash, subject, consumer }: Caller,
  view: string,
): void {
  if (facts === undefined) return
  facts.mode = mode
  if (callerHash !== undefined) facts.callerHash = callerHash
  if (subject !== undefined) facts.subject = subject
  if (consumer !== undefined) facts.consumer = consumer
  facts.view = view
}

/** Callers that are kept as consumers, besides programs. */
export interface ConsumerRules {
  /** Which of a caller's groups may stand for the caller. Default: none. */
  readonly isGroup?: ((group: string) => boolean) | undefined
  /** Whether callers without such a group are kept by the subject of their tokens. Default: not. */
  readonly persons?: boolean | undefined
}

const maxBytes = 200

/**
 * The name of a caller in the list of consumers; undefined if it must not be kept. A prefix says what it is, so that no group
 * looks like a program.
 */
export function consumerOf(
  {
    kind,
    subject,
    groups,
  }: { kind: 'user' | 'machine'; subject: string; groups: readonly string[] },
  { isGroup, persons = false }: ConsumerRules,
): string | undefined {
  if (kind === 'machine') return named('client', subject)
  const group = isGroup && groups.find(isGroup)
  if (group !== undefined) return named('group', group)
  return persons ? named('person', subject) : undefined
}

/** The consumer of a CI job. @param repository a claim of its verified token */
export const repositoryConsumer = (alias: string, repository: string): string =>
  named('repository', `${alias}:${repository}`)

function serviceAccountOf(user: string | undefined): string | undefined {
  const [, namespace, name] = /^system:serviceaccount:([^:]+):([^:]+)$/.exec(user ?? '') ?? []
  return name === undefined ? undefined : named('serviceaccount', `${namespace}/${name}`)
}

const named = (prefix: string, text: string): string => printable(`${prefix}:${text}`, maxBytes)

/** How the server identifies callers. */
export type AuthMode = 'anonymous' | 'kubeconfig' | 'bearer' | 'oidc'

/**
 * `anonymous`: callers are not identified. `guest`: a caller without a token, if allowed. `user`: a person with a token of
 * the issuer. `machine`: a program with such a token. `passthrough`: a caller that only the cluster knows.
 */
export type CallerKind = 'anonymous' | 'guest' | 'user' | 'machine' | 'passthrough'

/** The sender of a request, as far as known. */
export interface Caller {
  readonly mode: AuthMode
  readonly kind: CallerKind
  /** `sub` of the token; undefined without a token of the issuer. */
  readonly subject: string | undefined
  /** In the order of the token. */
  readonly groups: readonly string[]
  /** The name of the caller in lists of consumers; absent if it must not be kept. */
  readonly consumer?: (() => string | undefined) | undefined
  /** Whether it has a token of CI, which anybody can get. */
  readonly isJob?: boolean
  /** The verified issuer and, for a job of CI, where it runs. */
  readonly origin?: Omit<PublishedBy, 'by'> | undefined
  /** Distinguishes callers in logs without identifying them. Different in each process. */
  readonly hash: string | undefined
}

/** The view of a caller when browsing: everything, public resources, or these and what a binding allows. */
export type CallerView = 'all' | 'public' | Binding

/** Limit of the header: most proxies refuse longer ones, and checking them costs too much. */
const maxHeaderCharacters = 48 * 1024

/**
 * Credentials after the scheme of the Authorization header, without blanks around them: one token has one spelling.
 * Undefined if the scheme is different or the header is too long; `refusedHeader` says which.
 */
export function presentedIn(header: string): string | undefined {
  if (header.length > maxHeaderCharacters || !hasScheme(header)) return undefined
  let [start, end] = [6, header.length]
  while (header[start] === ' ') start += 1
  while (end > start && header[end - 1] === ' ') end -= 1
  return header.slice(start, end)
}

export function refusedHeader(header: string): Refusal {
  return new Refusal(
    'MalformedCredentials',
    hasScheme(header)
      ? `the Authorization header has ${header.length} characters, and ${maxHeaderCharacters} are allowed: ask for a token with fewer claims`
      : 'the Authorization header is not of the scheme Bearer: send "Authorization: Bearer TOKEN"',
  )
}

function hasScheme(header: string): boolean {
  if (header.length > 6 && header[6] !== ' ') return false
  return header.startsWith('Bearer') || header.slice(0, 6).toLowerCase() === 'bearer'
}

/**
 * Checks that this can be a token (RFC 6750, section 2.1).
 *
 * @param presented may be several headers joined by commas. That is refused, because a proxy may have checked another one.
 * @throws Refusal
 */
export function checkToken(presented: string): void {
  if (/^[\w.~+/-]+=*$/.test(presented)) return
  throw new Refusal(
    'MalformedCredentials',
    presented.includes(',')
      ? 'there is more than one Authorization header: send one, "Authorization: Bearer TOKEN"'
      : 'the Authorization header has no token of the usual characters: send "Authorization: Bearer TOKEN"',
  )
}

/**
 * Checks that the signature of a JWT is spelled canonically (RFC 7515, section 2): many texts decode to one signature, and
 * each of them would count as a different token.
 *
 * @throws Refusal
 */
export function checkSpelling(token: string): void {
  const signature = token.slice(token.lastIndexOf('.') + 1)
  if (Buffer.from(signature, 'base64url').toString('base64url') === signature) return
  throw new Refusal(
    'MalformedCredentials',
    'the signature of the token is not spelled as an issuer does, in base64url without padding: send the token as it was issued',
  )
}

/** The claims of a signed JWT before its signature is verified; undefined if the token is not one (RFC 7519). */
export function unverifiedClaims(token: string): JWTPayload | undefined {
  if (token.endsWith('.')) return undefined
  try {
    decodeProtectedHeader(token)
    return decodeJwt(token)
  } catch {
    return undefined
  }
}
