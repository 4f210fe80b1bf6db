import type { Context } from 'hono'
import type { ParentKind, PublishedBy } from '../../api/v1alpha1/v1alpha1.ts'
import type { CallerReason } from '../../base/errors/errors.ts'
import { Bounded, CappedMap } from '../../base/memory/memory.ts'
import type { Clock } from '../../base/pacing/pacing.ts'
import type { ServingEnv } from '../../base/serving/serving.ts'
import { counter, type Metrics, type RequestFacts } from '../../base/telemetry/telemetry.ts'
import { type AccessDecision, allows } from '../access/access.ts'
import type { TokenIssuer } from './issuer.ts'
import type { Passthrough } from './passthrough.ts'
import { quote, Refusal } from './refusal.ts'
import {
  type AuthMode,
  type Caller,
  type CallerKind,
  type CallerSession,
  type Callers,
  type CallerView,
  type ConsumerRules,
  callerHashOf,
  checkSpelling,
  checkToken,
  consumerOf,
  createKeyedHash,
  nameOf,
  noteCaller,
  type Presented,
  passthroughSession,
  presentedIn,
  type ResourceKey,
  unverifiedClaims,
} from './session.ts'
import { type TokenRules, verifyToken } from './token-verifier.ts'

/** The header of a request, and where to note the result. */
export interface AuthRequest {
  /** The Authorization header; several are joined by commas. */
  readonly authorization: string | undefined
  readonly facts?: RequestFacts | undefined
}

/** A caller that is not counted yet. */
interface Reader {
  readonly count: () => void
}

interface Viewer extends Reader {
  readonly view: CallerView
}

/** Decisions without a wait and without an error. `Auth` decides the rest, and explains refusals. */
export interface AccessNow {
  /** As `Auth.mayRead`, without counting the caller. Undefined: ask `Auth.mayRead`. */
  readerOf(request: AuthRequest, ...resource: ResourceKey): Reader | undefined
  /** As `Auth.viewOf`, without counting the caller. Undefined: ask `Auth.viewOf`. */
  viewOf(request: AuthRequest): Viewer | undefined
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

  readerOf(request: AuthRequest, ...resource: ResourceKey): Reader | undefined {
    const seen = this.viewOf(request)
    return seen !== undefined && this.shows(seen.view, ...resource) ? seen : undefined
  }

  viewOf(request: AuthRequest): Viewer | undefined {
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

interface ClusterCallersOptions {
  readonly mode: 'kubeconfig' | 'bearer'
  readonly cluster: Passthrough
  readonly hashOf: (token: string) => string
  /** The caller of all pages, because the cluster is not asked for every page. */
  readonly guest: CallerSession
  readonly metrics: AuthMetrics
}

const howTo = {
  kubeconfig:
    'send "Authorization: Bearer" with the base64 of a kubeconfig (kubectl config view --raw --minify --flatten | base64 -w0)',
  bearer:
    'send "Authorization: Bearer" with a service-account token (kubectl create token NAME --namespace NAMESPACE)',
}

/** Callers that only the cluster knows. The cluster decides what they may read. */
export class ClusterCallers implements Callers, AccessNow {
  readonly #options: ClusterCallersOptions

  constructor(options: ClusterCallersOptions) {
    this.#options = options
  }

  identify(token: string, hash: string): CallerSession & { readonly presented: Presented } {
    const { mode, cluster } = this.#options
    const format = mode === 'kubeconfig' ? 'kubeconfig' : 'token'
    return passthroughSession(mode, { format, token, hash }, cluster.identityNow)
  }

  missing(): Refusal {
    return new Refusal('NoCredentials', `credentials are needed: ${howTo[this.#options.mode]}`)
  }

  readerOf({ authorization, facts }: AuthRequest, ...resource: ResourceKey): Reader | undefined {
    const { cluster, hashOf, metrics } = this.#options
    const token = authorization === undefined ? undefined : presentedIn(authorization)
    if (token === undefined) return undefined
    const { caller, presented } = this.identify(token, hashOf(token))
    if (!cluster.allowedNow(presented, ...resource)) return undefined
    noteCaller(facts, caller, 'cluster')
    return { count: () => void (metrics.allowed[caller.kind] += 1) }
  }

  viewOf({ facts }: AuthRequest): Viewer {
    const { guest, metrics } = this.#options
    noteCaller(facts, guest.caller, 'public')
    return { view: 'public', count: () => void (metrics.allowed.guest += 1) }
  }
}

interface IssuerCallersOptions extends TokenRules {
  /** The cluster decides about tokens of other issuers. */
  readonly allowFallback: boolean
  /** The caller as the cluster names it, if the cluster was asked. */
  readonly identityNow: (presented: Presented) => PublishedBy | undefined
  /** Which people are kept as consumers. */
  readonly consumers: ConsumerRules
}

/** Callers with a token of the OIDC issuer. Each token is verified once and remembered until it expires. */
export class IssuerCallers implements Callers {
  readonly #options: IssuerCallersOptions
  readonly #issuer: TokenIssuer
  readonly #known: KnownCallers

  constructor(issuer: TokenIssuer, known: KnownCallers, options: IssuerCallersOptions) {
    this.#issuer = issuer
    this.#known = known
    this.#options = options
  }

  missing(): Refusal {
    return new Refusal(
      'NoCredentials',
      'a token is needed: log in with terraform login, or send "Authorization: Bearer TOKEN"',
    )
  }

  identify(token: string, hash: string): CallerSession | Promise<CallerSession> {
    const { issuerUrl, allowFallback } = this.#options
    checkToken(token)
    const claims = unverifiedClaims(token)
    if (claims === undefined) {
      throw new Refusal(
        'MalformedCredentials',
        'the token is not a signed JWT: log in with terraform login',
      )
    }
    if (claims.iss === issuerUrl) {
      checkSpelling(token)
      return this.#issuer.verifying.run(hash, () => this.#verify(token, hash))
    }
    if (allowFallback && typeof claims.iss === 'string') {
      return passthroughSession('oidc', { format: 'token', token, hash }, this.#options.identityNow)
    }
    throw new Refusal(
      'WrongIssuer',
      `the token was issued by ${quote(claims.iss)}, and this registry takes tokens of ${quote(issuerUrl)}: log in with terraform login, or have the server started with --oidc-allow-sa-fallback if it is one of the cluster, or with --publish-issuers if it is one of CI`,
    )
  }

  async #verify(token: string, hash: string): Promise<CallerSession> {
    const { keys } = this.#issuer
    const verified = await verifyToken(token, this.#issuer, this.#options)
    const { kind, subject, groups, expiresAtMs } = verified
    const callerHash = callerHashOf(this.#known.hashOf(subject))
    const name = consumerOf(verified, this.#options.consumers)
    const consumer = name === undefined ? undefined : () => name
    const origin = { issuer: this.#options.issuerUrl }
    const known = { mode: 'oidc', kind, subject, groups, origin } as const
    const caller: Caller = { ...known, consumer, hash: callerHash }
    const session: CallerSession = { caller }
    // If new keys arrived meanwhile, the token was verified with old ones.
    if (this.#issuer.keys === keys) this.#known.keep(hash, session, expiresAtMs)
    return session
  }
}

/** Counts allowed and refused callers in plain numbers, because it does so for every request. */
export class AuthMetrics {
  /** Allowed callers by kind. */
  readonly allowed: Record<CallerKind, number> = {
    anonymous: 0,
    guest: 0,
    user: 0,
    machine: 0,
    passthrough: 0,
  }
  readonly #refused = new Map<CallerReason, { readonly result: string; count: number }>()

  constructor(metrics: Metrics, mode: AuthMode) {
    counter(metrics, {
      name: 'auth_requests_total',
      help: 'Requests by what was decided about their caller, and why.',
      labels: ['mode', 'result', 'reason'],
      collect: (it) => {
        it.reset()
        for (const [reason, count] of Object.entries(this.allowed)) {
          if (count > 0) it.inc({ mode, result: 'allowed', reason }, count)
        }
        for (const [reason, { result, count }] of this.#refused) {
          it.inc({ mode, result, reason }, count)
        }
      },
    })
  }

  refused({ reason, result }: Refusal): void {
    const entry = this.#refused.get(reason) ?? { result, count: 0 }
    entry.count += 1
    this.#refused.set(reason, entry)
  }
}

/**
 * Characters of the signature that a token ends with: 72 bits, which nobody can guess. V8 copies a part of up to 12
 * characters. A longer one refers to the whole header, and takes longer to find.
 */
const endCharacters = 12
/** A CLI sends its token several times within seconds. */
const keptMs = 60_000
const maxTokens = 4096
const maxCharacters = 4096

/**
 * Hashes of verified tokens, each with its whole header, for at most a minute: to hash a token takes longer than to find it
 * by its end. The rest is compared only for a caller who knows the end, so the time of the comparison tells others nothing.
 */
export class RecentTokens {
  readonly #byEnd = new CappedMap<string, { readonly header: string; readonly hash: string }>(
    maxTokens,
  )

  hashOf(header: string): string | undefined {
    const found = this.#byEnd.get(header.slice(-endCharacters))
    return found?.header === header ? found.hash : undefined
  }

  /** @param header with a token that is signed and was verified */
  keep(header: string, hash: string): void {
    if (header.length > maxCharacters) return
    if (this.#byEnd.size === 0) setTimeout(() => this.#byEnd.clear(), keptMs).unref()
    this.#byEnd.set(header.slice(-endCharacters), { header, hash })
  }
}
