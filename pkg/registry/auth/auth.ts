/**
 * Identifies callers by tokens of an issuer, or by kubeconfigs and tokens of a cluster. `Auth` says who calls and what the
 * caller sees, `Publishers` who may publish.
 */

import type { WhoAmI } from '../../api/browse/browse.ts'
import type { Login } from '../../api/registry/registry.ts'
import { gauge, type RequestFacts } from '../../base/telemetry/telemetry.ts'
import {
  type AccessNow,
  AuthMetrics,
  type AuthRequest,
  ClusterCallers,
  IssuerCallers,
  KnownCallers,
  viewOf,
} from './callers.ts'
import { TokenIssuer } from './issuer.ts'
import type { AuthOptions, OidcAuthOptions } from './options.ts'
import { Passthrough } from './passthrough.ts'
import { loginOf } from './provider-metadata.ts'
import { PublishIssuers } from './publish-issuers.ts'
import { Publishers } from './publishers.ts'
import { Refusal } from './refusal.ts'
import {
  type AuthMode,
  type Caller,
  type CallerSession,
  type Callers,
  type CallerView,
  callerHashOf,
  nameOf,
  noteCaller,
  presentedIn,
  type ResourceKey,
  refusedHeader,
  unnamedSession,
} from './session.ts'
import { describe } from './who-am-i.ts'

export type { ClusterAddress } from './caller-reads.ts'
export { type AccessNow, type AuthRequest, requestOf } from './callers.ts'
export { TokenIssuer } from './issuer.ts'
export type { AuthOptions, OidcAuthOptions } from './options.ts'
export type { PublishIssuer } from './publish-issuers.ts'
export type { Publishers } from './publishers.ts'
export type { Caller, CallerView } from './session.ts'
export { machinePrefix } from './token-verifier.ts'

/**
 * Identifies the caller of each request, and decides what it sees. Tokens that were seen before, and callers who need none,
 * are answered without a promise.
 */
export class Auth {
  readonly publishers = new Publishers({
    answer: (request, answer) => this.#answer(request, answer),
    viewOf: (session) => this.#viewOf(session),
    isGuest: (request) => this.#guestOf(request) !== undefined,
    cluster: () => this.#cluster(),
  })
  /** Decisions without a wait and without an error. */
  readonly now: AccessNow
  readonly #options: AuthOptions
  readonly #metrics: AuthMetrics
  readonly #known: KnownCallers
  /** Checks tokens. */
  readonly #callers: Callers | undefined
  readonly #issuer: TokenIssuer | undefined
  readonly #publishIssuers: PublishIssuers | undefined
  readonly #passthrough: Passthrough | undefined
  /** The session of browsing without credentials. */
  readonly #anyGuest: CallerSession
  #login: { readonly of: TokenIssuer['metadata']; readonly login: Login | undefined } | undefined

  constructor(options: AuthOptions) {
    const { mode, oidc, cluster, log, clock = Date.now } = options
    const metrics = new AuthMetrics(options.metrics, mode)
    const guest = unnamedSession(mode, 'guest')
    const known = new KnownCallers({
      ...options,
      tokenless: tokenlessOf(options, guest),
      readsTokens: mode !== 'anonymous',
      metrics,
      clock,
    })
    this.#options = options
    this.#anyGuest = guest
    this.#metrics = metrics
    this.#known = known
    this.now = known
    if (cluster !== undefined) {
      this.#passthrough = new Passthrough({ ...cluster, metrics: options.metrics, clock })
    }
    const publishIssuers =
      options.publishIssuers &&
      new PublishIssuers({ ...options, ...options.publishIssuers, known, clock })
    this.#publishIssuers = publishIssuers
    if (mode === 'oidc') {
      if (oidc === undefined) throw new TypeError('mode oidc needs an issuer')
      const child = log.child({ component: 'auth' })
      const issuer = new TokenIssuer({ ...oidc, log: child, clock })
      gauge(options.metrics, {
        name: 'auth_jwks_last_success_timestamp_seconds',
        help: 'When the keys of the OIDC issuer were fetched last; 0: never.',
        collect: (it) => it.set(issuer.succeededMs / 1000),
      })
      const clientIds = [oidc.clientId, oidc.uiClientId].filter((id) => id !== undefined)
      this.#callers = new IssuerCallers(issuer, known, {
        ...oidc,
        consumers: oidc.consumers ?? {},
        identityNow: (presented) => this.#passthrough?.identityNow(presented),
        isReserved: publishIssuers && ((group) => publishIssuers.isReserved(group)),
        clientIds,
        clock,
      })
      issuer.start(() => known.forget())
      this.#issuer = issuer
    } else if (mode !== 'anonymous') {
      const { hashOf } = known
      const callers = new ClusterCallers({ mode, cluster: this.#cluster(), hashOf, guest, metrics })
      this.#callers = callers
      this.now = callers
    }
  }

  get mode(): AuthMode {
    return this.#options.mode
  }

  /** The issuer of tokens, and the scopes to ask it for; undefined in other modes. */
  get issuer(): Pick<OidcAuthOptions, 'issuerUrl' | 'scopes'> | undefined {
    return this.mode === 'oidc' ? this.#options.oidc : undefined
  }

  /** Resolves when callers can be identified. @throws ReasonError WrongIssuer */
  get started(): Promise<void> {
    return this.#issuer?.started ?? Promise.resolve()
  }

  /**
   * The first attempt to reach the issuer, until it is over: a server that is ready before would answer 503 to tokens, and
   * its discovery would name no login.
   */
  waitingFor(): readonly string[] {
    return this.#issuer?.wasAsked === false ? ['the keys of the OIDC issuer are being fetched'] : []
  }

  /**
   * Current problems in words, with the last error: some callers get 503. Others are not affected, so the server is ready
   * anyway.
   */
  impaired(): readonly string[] {
    return [this.#issuer?.problem ?? [], this.#publishIssuers?.impaired() ?? []].flat()
  }

  /** The login endpoints, once known. The same object until the issuer's metadata are fetched again. */
  login(): Login | undefined {
    const { oidc } = this.#options
    if (oidc === undefined) return undefined
    const metadata = this.#issuer?.metadata
    if (this.#login === undefined || this.#login.of !== metadata) {
      this.#login = { of: metadata, login: loginOf(oidc, metadata) }
    }
    return this.#login.login
  }

  /**
   * Whether the caller may use a module or provider. False if it is invisible or does not exist: the answer must be the
   * same for both.
   *
   * @throws RegistryError Unauthenticated, Forbidden, or Unavailable if the cluster that has to decide is unreachable
   */
  mayRead(request: AuthRequest, ...resource: ResourceKey): boolean | Promise<boolean> {
    return this.#answer(request, (session) => {
      const { presented } = session
      if (presented === undefined) return this.#sees(session, request, ...resource)
      note(request, 'cluster')
      return this.#cluster().mayRead(presented, ...resource)
    })
  }

  /**
   * The view of the caller when browsing.
   *
   * @throws RegistryError Unauthenticated, Forbidden, or Unavailable if the cluster that has to decide is unreachable
   */
  viewOf(request: AuthRequest): CallerView | Promise<CallerView> {
    if (this.#asksCluster()) {
      // The cluster decides what these callers may read, and is not asked for every page.
      this.#guest(request)
      return 'public'
    }
    return this.#answer(request, (session) => {
      if (session.presented !== undefined) {
        note(request, 'public')
        return this.#cluster()
          .authenticate(session.presented)
          .then(() => 'public' as const)
      }
      const view = this.#viewOf(session)
      note(request, nameOf(view))
      return view
    })
  }

  /**
   * How the server understood the caller.
   *
   * @throws RegistryError Unauthenticated, Forbidden, or Unavailable if the cluster that has to decide is unreachable
   */
  whoAmI(request: AuthRequest): WhoAmI | Promise<WhoAmI> {
    const guest = this.#guestOf(request)
    if (guest !== undefined) return guest
    return this.#answer(request, (session) => {
      const { caller, presented } = session
      if (presented !== undefined) {
        return this.#cluster()
          .authenticate(presented)
          .then(() => describe(caller, undefined))
      }
      const known = caller.kind === 'user' || caller.kind === 'machine'
      const decision = known
        ? this.#options.bindings.decide(caller.groups, caller.isJob)
        : undefined
      return describe(caller, decision)
    })
  }

  async close(): Promise<void> {
    await Promise.all([
      this.#issuer?.close(),
      this.#publishIssuers?.close(),
      this.#passthrough?.close(),
    ])
  }

  /** Identifies the caller, answers the question and counts the result. Waits only if one of these has to. */
  #answer<T>(
    request: AuthRequest,
    answer: (session: CallerSession) => T | Promise<T>,
  ): T | Promise<T> {
    const { facts } = request
    const answered = (session: CallerSession): T | Promise<T> => {
      const { caller } = session
      if (facts !== undefined && caller.hash !== undefined) facts.callerHash = caller.hash
      if (facts !== undefined && caller.subject !== undefined) facts.subject = caller.subject
      if (facts !== undefined && caller.consumer !== undefined) facts.consumer = caller.consumer
      const result = answer(session)
      if (result instanceof Promise) return result.then((value) => this.#allow(caller, value))
      return this.#allow(caller, result)
    }
    if (facts !== undefined) facts.mode = this.#options.mode
    try {
      const session = this.#identify(request)
      const result = session instanceof Promise ? session.then(answered) : answered(session)
      return result instanceof Promise
        ? result.catch((thrown: unknown) => Promise.reject(this.#refuse(thrown, facts)))
        : result
    } catch (thrown) {
      throw this.#refuse(thrown, facts)
    }
  }

  /** @throws Refusal */
  #identify(request: AuthRequest): CallerSession | Promise<CallerSession> {
    const { authorization, facts } = request
    const callers = this.#callers
    if (authorization === undefined || callers === undefined) {
      const session = this.#known.of(request)
      if (session !== undefined) return session
      throw callers?.missing() ?? new TypeError('mode anonymous has a session for every caller')
    }
    const token = presentedIn(authorization)
    if (token === undefined) throw refusedHeader(authorization)
    const hash = this.#known.hashOf(token)
    // Hash of the token, until the caller is known.
    if (facts !== undefined) facts.callerHash = callerHashOf(hash)
    return (
      this.#known.get(hash) ??
      this.#publishIssuers?.identify(token, hash) ??
      callers.identify(token, hash)
    )
  }

  #allow<T>(caller: Caller, value: T): T {
    this.#metrics.allowed[caller.kind] += 1
    return value
  }

  #refuse(thrown: unknown, facts: RequestFacts | undefined): unknown {
    if (!(thrown instanceof Refusal)) return thrown
    this.#metrics.refused(thrown)
    if (facts !== undefined) facts.refusal = { reason: thrown.reason, message: thrown.message }
    return thrown.toRegistryError()
  }

  #asksCluster(): boolean {
    const { mode } = this.#options
    return mode === 'kubeconfig' || mode === 'bearer'
  }

  /** A caller without credentials, where the cluster knows the others. */
  #guestOf(request: AuthRequest): WhoAmI | undefined {
    if (!this.#asksCluster() || request.authorization !== undefined) return undefined
    return this.#guest(request)
  }

  /** Browsing where no credentials are looked at. */
  #guest(request: AuthRequest): WhoAmI {
    const { caller } = this.#anyGuest
    noteCaller(request.facts, caller, 'public')
    this.#metrics.allowed.guest += 1
    return describe(caller, undefined)
  }

  #cluster(): Passthrough {
    if (this.#passthrough !== undefined) return this.#passthrough
    throw new TypeError('a caller is left to the cluster, and there is none')
  }

  #sees(session: CallerSession, request: AuthRequest, ...resource: ResourceKey): boolean {
    const view = this.#viewOf(session)
    note(request, nameOf(view))
    if (this.#known.shows(view, ...resource)) return true
    if (view !== 'public') return false
    throw new Refusal(
      'NoBinding',
      session.caller.kind === 'guest'
        ? 'only what is public can be had without a token: log in with terraform login'
        : 'no GroupBinding is for your groups: ask the administrators of this registry for access',
    )
  }

  /** @throws Refusal if a GroupBinding cannot be evaluated */
  #viewOf(session: CallerSession): CallerView {
    const view = this.#known.viewOfSession(session)
    if (view !== undefined) return view
    const { groups, isJob } = session.caller
    const decision = this.#options.bindings.decide(groups, isJob)
    if (decision.kind !== 'failed') return viewOf(decision)
    throw new Refusal(
      'BindingFailed',
      `the GroupBinding ${decision.name} could not be evaluated for your groups: ask the administrators of this registry to fix it`,
    )
  }
}

/** The session of callers without a token, if they are allowed. */
function tokenlessOf({ mode, oidc }: AuthOptions, guest: CallerSession): CallerSession | undefined {
  if (mode === 'anonymous') return unnamedSession(mode, 'anonymous')
  return mode === 'oidc' && oidc?.allowGuests === true ? guest : undefined
}

/** Sets the view in the access log. */
function note({ facts }: AuthRequest, view: string): void {
  if (facts !== undefined) facts.view = view
}
