import { hash, randomBytes } from 'node:crypto'
import type { ParentKind, PublishedBy } from '../../api/v1alpha1/v1alpha1.ts'
import { printable } from '../../base/errors/errors.ts'
import type { RequestFacts } from '../../base/telemetry/telemetry.ts'
import type { AuthMode, Caller, CallerKind, CallerView } from './caller.ts'
import type { Refusal } from './refusal.ts'

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
