import type { Context } from 'hono'
import type { ParentKind } from '../../api/v1alpha1/v1alpha1.ts'
import { Bounded } from '../../base/memory/memory.ts'
import type { Clock } from '../../base/pacing/pacing.ts'
import type { ServingEnv } from '../../base/serving/serving.ts'
import type { RequestFacts } from '../../base/telemetry/telemetry.ts'
import { type AccessDecision, allows } from '../access/access.ts'
import type { CallerView } from './caller.ts'
import type { AuthMetrics } from './metrics.ts'
import { RecentTokens } from './recent-tokens.ts'
import {
  type CallerSession,
  createKeyedHash,
  nameOf,
  noteCaller,
  type ResourceKey,
} from './session.ts'

/** The header of a request, and where to note the result. */
export interface AuthRequest {
  /** The Authorization header; several are joined by commas. */
  readonly authorization: string | undefined
  readonly facts?: RequestFacts | undefined
}

/** Decisions without a wait and without an error. `Auth` decides the rest, and explains refusals. */
export interface AccessNow {
  /** As `Auth.mayRead`, without counting the caller. Undefined: ask `Auth.mayRead`. */
  readerOf(
    request: AuthRequest,
    ...resource: ResourceKey
  ): { readonly count: () => void } | undefined
  /** As `Auth.viewOf`, without counting the caller. Undefined: ask `Auth.viewOf`. */
  viewOf(
    request: AuthRequest,
  ): { readonly view: CallerView; readonly count: () => void } | undefined
}

export interface KnownCallersOptions {
  /** The session of callers without a token; undefined if they are not allowed. */
  readonly tokenless: CallerSession | undefined
  /** Whether tokens are checked. */
  readonly readsTokens: boolean
  readonly bindings: {
    /** Changes whenever a decision may change. */
    readonly revision: number
    decide(groups: readonly string[], isJob?: boolean): AccessDecision
  }
  /** Whether a resource and its namespace are both labelled public. */
  readonly isPublic: (...resource: ResourceKey) => boolean
  readonly metrics: AuthMetrics
  readonly clock: Clock
}

/** Limit of all sessions together, some 80,000: a token may carry 48 kB of groups. */
const maxSessionBytes = 48 * 1024 * 1024

/**
 * Callers that were identified before, until their tokens expire. One lookup finds a caller and what it may see. Only
 * hashes of tokens are kept, and those of the last minute with the tokens themselves.
 */
export class KnownCallers implements AccessNow {
  readonly hashOf = createKeyedHash()
  readonly #options: KnownCallersOptions
  /** By the hash of the token. */
  readonly #sessions: Bounded<CallerSession>
  readonly #recent = new RecentTokens()

  constructor(options: KnownCallersOptions) {
    this.#options = options
    const { clock } = options
    this.#sessions = new Bounded({ maxBytes: maxSessionBytes, sizeOf: bytesOf, clock })
  }

  readerOf(
    request: AuthRequest,
    ...resource: ResourceKey
  ): { readonly count: () => void } | undefined {
    const seen = this.viewOf(request)
    return seen !== undefined && this.shows(seen.view, ...resource) ? seen : undefined
  }

  viewOf(
    request: AuthRequest,
  ): { readonly view: CallerView; readonly count: () => void } | undefined {
    const session = this.of(request)
    if (session === undefined) return undefined
    const view = this.viewOfSession(session)
    if (view === undefined) return undefined
    const { caller } = session
    noteCaller(request.facts, caller, nameOf(view))
    const { allowed } = this.#options.metrics
    return { view, count: () => void (allowed[caller.kind] += 1) }
  }

  /** The caller, if known. Unusual spellings of the header are not looked up. */
  of({ authorization }: AuthRequest): CallerSession | undefined {
    if (authorization === undefined || !this.#options.readsTokens) return this.#options.tokenless
    const recent = this.#recent.hashOf(authorization)
    if (recent !== undefined) return this.get(recent)
    if (!authorization.startsWith('Bearer ')) return undefined
    const hash = this.hashOf(authorization.slice('Bearer '.length))
    const session = this.get(hash)
    if (session !== undefined) this.#recent.keep(authorization, hash)
    return session
  }

  get(hash: string): CallerSession | undefined {
    return this.#sessions.get(hash)
  }

  /** @param expiresAtMs milliseconds since 1970 */
  keep(hash: string, session: CallerSession, expiresAtMs: number): void {
    this.#sessions.set(hash, session, expiresAtMs)
  }

  /** Forgets all tokens, because a key may have been withdrawn. */
  forget(): void {
    this.#sessions.clear()
  }

  /** The view of a caller with the current GroupBindings; undefined if one of them cannot be evaluated. */
  viewOfSession(session: CallerSession): CallerView | undefined {
    const { revision } = this.#options.bindings
    const known = session.seen
    if (known?.revision === revision) return known.view
    const view = this.#look(session)
    session.seen = { revision, view }
    return view
  }

  shows(view: CallerView, kind: ParentKind, namespace: string, name: string): boolean {
    if (view === 'all') return true
    const isAllowed = view !== 'public' && allows(view, kind, name)
    return isAllowed || this.#options.isPublic(kind, namespace, name)
  }

  #look({ caller: { kind, groups, isJob } }: CallerSession): CallerView | undefined {
    if (kind === 'anonymous') return 'all'
    if (kind === 'guest') return 'public'
    const decision = this.#options.bindings.decide(groups, isJob)
    if (decision.kind === 'failed') return undefined
    return viewOf(decision)
  }
}

/** The view that a decision of the GroupBindings gives. */
export function viewOf(decision: Exclude<AccessDecision, { kind: 'failed' }>): CallerView {
  return decision.kind === 'none' ? 'public' : decision.binding
}

/** How much memory a session keeps. */
function bytesOf({ caller: { subject = '', groups } }: CallerSession): number {
  const groupBytes = groups.reduce((sum, group) => sum + 32 + Buffer.byteLength(group), 0)
  return 600 + Buffer.byteLength(subject) + groupBytes
}

/** The parts of a request to the app that say who sent it. Several headers are joined by commas, as the web's Headers does it. */
export function requestOf(c: Context<ServingEnv>): AuthRequest {
  const incoming = c.env?.incoming
  const authorization =
    incoming === undefined
      ? c.req.header('authorization')
      : incoming.headersDistinct['authorization']?.join(', ')
  return { authorization, facts: c.env?.facts }
}
