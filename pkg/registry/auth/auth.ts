/**
 * Identifies callers by tokens of an issuer, or by kubeconfigs and tokens of a cluster, and decides what each of them sees.
 * Views come from pkg/registry/access and pkg/registry/catalog.
 */

import type { PublishRight, WhoAmI } from '../../api/browse/browse.ts'
import type { Login } from '../../api/registry/registry.ts'
import type { ParentKind, PublishedBy } from '../../api/v1alpha1/v1alpha1.ts'
import { printable } from '../../base/errors/errors.ts'
import type { ProxyRules } from '../../base/http/http.ts'
import type { Clock } from '../../base/pacing/pacing.ts'
import {
  gauge,
  type Logger,
  type Metrics,
  type RequestFacts,
} from '../../base/telemetry/telemetry.ts'
import { allowsPublishing, type GroupBindings, publishRightsOf } from '../access/access.ts'
import { presentedIn, refusedHeader } from './bearer.ts'
import type { AuthMode, Caller, CallerView } from './caller.ts'
import { ClusterCallers } from './cluster-callers.ts'
import { type IssuerTimings, TokenIssuer } from './issuer.ts'
import { IssuerCallers } from './issuer-callers.ts'
import { type AccessNow, type AuthRequest, KnownCallers } from './known-callers.ts'
import { type LoginSettings, loginOf } from './login.ts'
import { AuthMetrics } from './metrics.ts'
import { maxUserBytes, Passthrough, type PassthroughOptions } from './passthrough.ts'
import { PublishIssuers, type PublishIssuersOptions } from './publish-issuers.ts'
import { Refusal } from './refusal.ts'
import {
  type CallerSession,
  type Callers,
  type ConsumerRules,
  callerHashOf,
  nameOf,
  noteCaller,
  unnamedSession,
} from './session.ts'
import { describe } from './who-am-i.ts'

export type { Caller, CallerView } from './caller.ts'
export type { ClusterAddress } from './caller-reads.ts'
export { TokenIssuer } from './issuer.ts'
export { type AccessNow, type AuthRequest, requestOf } from './known-callers.ts'
export type { PublishIssuer } from './publish-issuers.ts'
export { machinePrefix } from './token-verifier.ts'

export interface OidcAuthOptions extends LoginSettings {
  readonly issuerUrl: string
  /** Address of the issuer inside the network: scheme, host and port. */
  readonly reachedAt?: string | undefined
  /** Client of the explorer: a second audience of people. */
  readonly uiClientId?: string | undefined
  readonly groupsClaim: string
  /** Callers without a token are guests, who see public resources. */
  readonly allowGuests: boolean
  /** The cluster decides about tokens of other issuers; needs `cluster`. */
  readonly allowFallback: boolean
  /** Accepts tokens of other clients of the issuer, each as a group of its own. */
  readonly allowClientCredentials: boolean
  /** Which people are kept as consumers. Default: none. */
  readonly consumers?: ConsumerRules | undefined
  /** Proxies for the issuer. Default: none. */
  readonly proxies?: ProxyRules | undefined
  readonly timings?: Partial<IssuerTimings>
}

export interface AuthOptions {
  readonly mode: AuthMode
  /** For mode oidc. */
  readonly oidc?: OidcAuthOptions | undefined
  /** For modes kubeconfig and bearer, and for the fallback. */
  readonly cluster?:
    | Pick<PassthroughOptions, 'apiGroup' | 'address' | 'ttlMs' | 'connections'>
    | undefined
  /** Issuers of CI, whose jobs may publish. For all modes but anonymous. */
  readonly publishIssuers?: Pick<PublishIssuersOptions, 'file' | 'proxies' | 'timings'> | undefined
  readonly bindings: GroupBindings
  /** Whether a resource and its namespace are both labelled public. */
  readonly isPublic: (kind: ParentKind, namespace: string, name: string) => boolean
  readonly log: Logger
  readonly metrics: Metrics
  /** Default: the clock of the machine. */
  readonly clock?: Clock
}

/** Decides who may see what. Answers without a promise for every token that was seen before, and for callers who need none. */
export class Auth {
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
  #login: Login | undefined
  /** The issuer's metadata when that was created. */
  #loginSource: TokenIssuer['metadata']

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
      gauge(
        options.metrics,
        {
          name: 'auth_jwks_last_success_timestamp_seconds',
          help: 'When the keys of the OIDC issuer were fetched last; 0: never.',
        },
        (it) => it.set(issuer.succeededMs / 1000),
      )
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

  /** The login endpoints, once known. The same object as long as they do not change. */
  login(): Login | undefined {
    const { oidc } = this.#options
    if (oidc === undefined) return undefined
    const metadata = this.#issuer?.metadata
    if (this.#login !== undefined && metadata === this.#loginSource) return this.#login
    this.#loginSource = metadata
    const login = loginOf(oidc, metadata)
    if (JSON.stringify(login) !== JSON.stringify(this.#login)) this.#login = login
    return this.#login
  }

  /**
   * Whether the caller may use a module or provider. False if it is invisible or does not exist: the answer must be the
   * same for both.
   *
   * @throws RegistryError Unauthenticated, Forbidden, or Unavailable where the cluster that has to decide is unreachable
   */
  mayRead(
    request: AuthRequest,
    kind: ParentKind,
    namespace: string,
    name: string,
  ): boolean | Promise<boolean> {
    return this.#answer(request, (session) => {
      const { presented } = session
      if (presented === undefined) return this.#sees(session, request, kind, namespace, name)
      note(request, 'cluster')
      return this.#cluster().mayRead(presented, kind, namespace, name)
    })
  }

  /**
   * The view of the caller when browsing.
   *
   * @throws RegistryError Unauthenticated, Forbidden, or Unavailable where the cluster that has to decide is unreachable
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
   * Whether the caller may write Versions of a module or provider: by its GroupBinding, or by the cluster's RBAC rules.
   * Callers who are not identified may not.
   *
   * @param name metadata.name of the Module or Provider
   * @throws RegistryError as `mayRead`
   */
  mayPublish(
    request: AuthRequest,
    kind: ParentKind,
    namespace: string,
    name: string,
  ): boolean | Promise<boolean> {
    return this.#answer(request, (session) => this.#mayPublish(session, kind, namespace, name))
  }

  /**
   * As `mayPublish`, and says who it is; undefined if the caller may not.
   *
   * @param isNew whether the Module or Provider would be created, for which the cluster has a right of its own
   */
  async publisherOf(
    request: AuthRequest,
    kind: ParentKind,
    namespace: string,
    name: string,
    isNew = false,
  ): Promise<PublishedBy | undefined> {
    return await this.#answer(request, async (session) => {
      if (!(await this.#mayPublish(session, kind, namespace, name, isNew))) return undefined
      const { presented, caller } = session
      if (presented !== undefined) return this.#cluster().identityOf(presented)
      const by = caller.subject && printable(caller.subject, maxUserBytes)
      return { by, ...caller.origin }
    })
  }

  /**
   * The namespaces that the caller may publish to.
   *
   * @param asked the namespaces that the cluster is asked about for callers that only it knows
   * @throws RegistryError as `mayRead`
   */
  publishRights(
    request: AuthRequest,
    asked: readonly string[],
  ): PublishRight[] | Promise<PublishRight[]> {
    if (this.#asksCluster() && request.authorization === undefined) {
      this.#guest(request)
      return []
    }
    return this.#answer(request, (session) => {
      if (session.presented !== undefined)
        return this.#cluster().publishRights(session.presented, asked)
      const view = this.#viewOf(session)
      return typeof view === 'string' ? [] : publishRightsOf(view)
    })
  }

  /**
   * How the server understood the caller.
   *
   * @throws RegistryError Unauthenticated, Forbidden, or Unavailable where the cluster that has to decide is unreachable
   */
  whoAmI(request: AuthRequest): WhoAmI | Promise<WhoAmI> {
    if (this.#asksCluster() && request.authorization === undefined) return this.#guest(request)
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

  #mayPublish(
    session: CallerSession,
    kind: ParentKind,
    namespace: string,
    name: string,
    isNew = false,
  ): boolean | Promise<boolean> {
    const { presented } = session
    if (presented !== undefined) {
      return this.#cluster().mayPublish(presented, namespace, isNew ? [kind] : [])
    }
    const view = this.#viewOf(session)
    return typeof view !== 'string' && allowsPublishing(view, kind, namespace, name)
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

  #sees(
    session: CallerSession,
    request: AuthRequest,
    kind: ParentKind,
    namespace: string,
    name: string,
  ): boolean {
    const view = this.#viewOf(session)
    note(request, nameOf(view))
    if (this.#known.shows(view, kind, namespace, name)) return true
    if (view !== 'public') return false
    throw new Refusal(
      'NoBinding',
      session.caller.kind === 'guest'
        ? 'only what is public can be had without a token: log in with terraform login'
        : 'no GroupBinding is for your groups: ask the administrators of this registry for access',
    )
  }

  /** @throws Refusal where a GroupBinding cannot be evaluated */
  #viewOf(session: CallerSession): CallerView {
    const view = this.#known.viewOfSession(session)
    if (view !== undefined) return view
    const { groups, isJob } = session.caller
    const decision = this.#options.bindings.decide(groups, isJob)
    throw new Refusal(
      'BindingFailed',
      `the GroupBinding ${decision.kind === 'failed' ? decision.name : ''} could not be evaluated for your groups: ask the administrators of this registry to fix it`,
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
