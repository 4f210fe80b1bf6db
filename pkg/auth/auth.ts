import { allows, type GroupBindings } from '../access/access.ts'
import type { ProxyRules } from '../http/http.ts'
import type { Logger, Metrics, RequestFacts } from '../telemetry/telemetry.ts'
import { presentedIn, refusedHeader } from './bearer.ts'
import { type AuthMode, type Caller, type CallerKind, nameOfView, type View } from './caller.ts'
import { Issuer, type IssuerTimings } from './issuer.ts'
import { IssuerCallers } from './issuer-callers.ts'
import { createKeyedHash } from './keyed-hash.ts'
import { type Login, type LoginOptions, loginOf } from './login.ts'
import { AuthMetrics } from './metrics.ts'
import { Passthrough, type PassthroughOptions } from './passthrough.ts'
import { Refusal } from './refusal.ts'
import { type Callers, callerHashOf, clusterCallers, decisionFor, type Session } from './session.ts'
import { describe, type WhoAmI } from './who-am-i.ts'

export type { Caller, View } from './caller.ts'
export type { ClusterAddress } from './caller-reads.ts'
export type { Login } from './login.ts'
export type { WhoAmI } from './who-am-i.ts'

export interface OidcOptions extends LoginOptions {
  readonly issuerUrl: string
  /** Where the issuer is reached instead of at its own address: scheme, host and port. */
  readonly reachedAt?: string | undefined
  /** The explorer's: a second audience of people. */
  readonly uiClientId?: string | undefined
  readonly groupsClaim: string
  /** Callers without a token are guests, who see what is public. */
  readonly allowGuests: boolean
  /** Leaves tokens of other issuers to the cluster; needs `cluster`. */
  readonly allowFallback: boolean
  /** Takes tokens of the issuer's other clients, as groups of one. */
  readonly allowClientCredentials: boolean
  /** The ways out to the issuer. Default: direct. */
  readonly proxies?: ProxyRules | undefined
  readonly timings?: Partial<IssuerTimings>
}

export interface AuthOptions {
  readonly mode: AuthMode
  /** Of mode oidc. */
  readonly oidc?: OidcOptions | undefined
  /** Of modes kubeconfig and bearer, and of the fallback. */
  readonly cluster?:
    | Pick<PassthroughOptions, 'apiGroup' | 'address' | 'ttlMs' | 'connections'>
    | undefined
  readonly bindings: GroupBindings
  /** Whether a resource and its namespace are both labelled public. */
  readonly isPublic: (kind: 'Module' | 'Provider', namespace: string, name: string) => boolean
  readonly log: Logger
  readonly metrics: Metrics
  /** Milliseconds since 1970. Default: the clock of the machine. */
  readonly clock?: () => number
  /** From 0 up to, and without, 1. Default: Math.random. */
  readonly random?: () => number
}

/** What is looked at of a request, and where to note what came out. */
export interface AuthRequest {
  /** The header of that name; several joined by commas. */
  readonly authorization: string | undefined
  readonly facts?: RequestFacts | undefined
}

/**
 * Who may see what. Answers at once, without a promise, wherever nothing has to be asked for: for every token that was seen
 * before, and for callers who need none.
 */
export class Auth {
  readonly #options: AuthOptions
  readonly #metrics: AuthMetrics
  readonly #callers: Callers
  readonly #issuer: Issuer | undefined
  readonly #passthrough: Passthrough | undefined
  /** Browsing where no credentials are looked at. */
  readonly #anyGuest: Session
  readonly #keyedHash = createKeyedHash()
  #login: Login | undefined
  /** What the issuer said when that was made. */
  #loginSource: Issuer['metadata']

  constructor(options: AuthOptions) {
    const { mode, oidc, cluster, log, metrics, clock = Date.now, random = Math.random } = options
    this.#options = options
    this.#anyGuest = { caller: unnamed(mode, 'guest') }
    this.#metrics = new AuthMetrics(metrics, mode)
    if (cluster !== undefined) this.#passthrough = new Passthrough({ ...cluster, metrics, clock })
    if (mode === 'oidc') {
      if (oidc === undefined) throw new TypeError('mode oidc needs an issuer')
      const shared = { ...oidc, log: log.child({ component: 'auth' }), metrics, clock, random }
      const issuer = new Issuer(shared)
      const clientIds = [oidc.clientId, oidc.uiClientId].filter((id) => id !== undefined)
      const keyedHash = this.#keyedHash
      const callers = new IssuerCallers(issuer, { ...oidc, clientIds, keyedHash, clock })
      issuer.start(() => callers.forget())
      this.#issuer = issuer
      this.#callers = callers
    } else {
      this.#callers = mode === 'anonymous' ? anonymous : clusterCallers(mode)
    }
  }

  get mode(): AuthMode {
    return this.#options.mode
  }

  /** Resolves when callers can be recognized. @throws IssuerMismatch */
  get started(): Promise<void> {
    return this.#issuer?.started ?? Promise.resolve()
  }

  /**
   * What does not work for now, in words, with its last error: some callers get 503. The others need not wait for it, so a
   * server is ready all the same.
   */
  impaired(): readonly string[] {
    const issuer = this.#issuer
    if (issuer === undefined) return []
    const { keys, lastError } = issuer
    if (keys !== undefined && lastError === undefined) return []
    const what =
      keys === undefined
        ? 'tokens of the OIDC issuer cannot be checked, because its keys are being fetched'
        : 'tokens of the OIDC issuer are checked with the keys of before, because they cannot be fetched again'
    return [lastError === undefined ? what : `${what}: ${lastError}`]
  }

  /** Where to log in, as soon as that is known; always the same object for the same answer. */
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
   * Whether the caller may use a module or provider. False where there is none for this caller, whether it exists or not:
   * the answer must then be the one for what does not exist.
   *
   * @throws RegistryError Unauthenticated, Forbidden, or Unavailable where the cluster has to decide and is away
   */
  mayRead(
    request: AuthRequest,
    kind: 'Module' | 'Provider',
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
   * What browsing shows the caller.
   *
   * @throws RegistryError Unauthenticated, Forbidden, or Unavailable where the cluster has to decide and is away
   */
  viewOf(request: AuthRequest): View | Promise<View> {
    if (this.#asksCluster()) {
      // What these callers may read is up to the cluster, which is not asked for every page.
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
      note(request, nameOfView(view))
      return view
    })
  }

  /**
   * As `mayRead`, where that is known without waiting and without an error: then the caller is counted. False: ask
   * `mayRead`.
   */
  mayReadNow(
    request: AuthRequest,
    kind: 'Module' | 'Provider',
    namespace: string,
    name: string,
  ): boolean {
    const session = this.#known(request)
    if (session === undefined) return false
    const { caller, presented } = session
    if (presented === undefined) {
      const view = this.#knownViewOf(session)
      if (view === undefined || !this.#shows(view, kind, namespace, name)) return false
      this.#note(request, caller, nameOfView(view))
    } else {
      if (!this.#cluster().allowedNow(presented, kind, namespace, name)) return false
      this.#note(request, caller, 'cluster')
    }
    this.#metrics.allowed(caller.kind)
    return true
  }

  /** As `viewOf`, where that is known without waiting and without an error. The caller is not counted yet. */
  viewNow(request: AuthRequest): { readonly view: View; readonly count: () => void } | undefined {
    const session = this.#asksCluster() ? this.#anyGuest : this.#known(request)
    if (session === undefined || session.presented !== undefined) return undefined
    const view = this.#knownViewOf(session)
    if (view === undefined) return undefined
    const { caller } = session
    this.#note(request, caller, nameOfView(view))
    return { view, count: () => this.#metrics.allowed(caller.kind) }
  }

  /**
   * How the caller was understood.
   *
   * @throws RegistryError Unauthenticated, Forbidden, or Unavailable where the cluster has to decide and is away
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
      const decision = known ? decisionFor(session, this.#options.bindings) : undefined
      return describe(caller, decision)
    })
  }

  async close(): Promise<void> {
    await Promise.all([this.#issuer?.close(), this.#passthrough?.close()])
  }

  /** Identifies the caller, has the question answered, and counts how it ended; waits only where either has to. */
  #answer<T>(request: AuthRequest, answer: (session: Session) => T | Promise<T>): T | Promise<T> {
    const { authorization, facts } = request
    const answered = (session: Session): T | Promise<T> => {
      const { caller } = session
      if (facts !== undefined && caller.hash !== undefined) facts.callerHash = caller.hash
      if (facts !== undefined && caller.subject !== undefined) facts.subject = caller.subject
      const result = answer(session)
      if (result instanceof Promise) return result.then((value) => this.#allow(caller, value))
      return this.#allow(caller, result)
    }
    if (facts !== undefined) facts.mode = this.#options.mode
    try {
      const isLookedAt = authorization !== undefined && this.#options.mode !== 'anonymous'
      const token = isLookedAt ? presentedIn(authorization) : undefined
      if (isLookedAt && token === undefined) throw refusedHeader(authorization)
      const hash = token === undefined ? '' : this.#keyedHash(token)
      // Of the token, until it is known whose it is.
      if (facts !== undefined && hash !== '') facts.callerHash = callerHashOf(hash)
      const session = this.#callers.identify(token, hash)
      const result = session instanceof Promise ? session.then(answered) : answered(session)
      return result instanceof Promise
        ? result.catch((thrown: unknown) => Promise.reject(this.#refuse(thrown, facts)))
        : result
    } catch (thrown) {
      throw this.#refuse(thrown, facts)
    }
  }

  /** The caller, where that is known without waiting and without an error. */
  #known({ authorization }: AuthRequest): Session | undefined {
    if (authorization === undefined || this.#options.mode === 'anonymous') {
      return this.#callers.known(undefined, '')
    }
    const token = presentedIn(authorization)
    return token === undefined ? undefined : this.#callers.known(token, this.#keyedHash(token))
  }

  #allow<T>(caller: Caller, value: T): T {
    this.#metrics.allowed(caller.kind)
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
    this.#note(request, caller, 'public')
    this.#metrics.allowed('guest')
    return describe(caller, undefined)
  }

  #cluster(): Passthrough {
    if (this.#passthrough !== undefined) return this.#passthrough
    throw new TypeError('a caller is left to the cluster, and there is none')
  }

  #sees(
    session: Session,
    request: AuthRequest,
    kind: 'Module' | 'Provider',
    namespace: string,
    name: string,
  ): boolean {
    const view = this.#viewOf(session)
    note(request, nameOfView(view))
    if (this.#shows(view, kind, namespace, name)) return true
    if (view !== 'public') return false
    throw new Refusal(
      'unbound',
      session.caller.kind === 'guest'
        ? 'only what is public can be had without a token: log in with terraform login'
        : 'no GroupBinding is for your groups: ask the administrators of this registry for access',
    )
  }

  #shows(view: View, kind: 'Module' | 'Provider', namespace: string, name: string): boolean {
    if (view === 'all') return true
    if (view !== 'public' && allows(view, kind, name)) return true
    return this.#options.isPublic(kind, namespace, name)
  }

  /** @throws Refusal where a GroupBinding cannot be evaluated */
  #viewOf(session: Session): View {
    const view = this.#knownViewOf(session)
    if (view !== undefined) return view
    const decision = decisionFor(session, this.#options.bindings)
    throw new Refusal(
      'binding',
      `the GroupBinding ${decision.kind === 'failed' ? decision.name : ''} could not be evaluated for your groups: ask the administrators of this registry to fix it`,
    )
  }

  /** Undefined where a GroupBinding cannot be evaluated. */
  #knownViewOf(session: Session): View | undefined {
    const { kind } = session.caller
    if (kind === 'anonymous') return 'all'
    if (kind === 'guest') return 'public'
    const decision = decisionFor(session, this.#options.bindings)
    if (decision.kind === 'failed') return undefined
    return decision.kind === 'matched' ? decision.binding : 'public'
  }

  /** Tells the access log about the caller. */
  #note({ facts }: AuthRequest, { hash, subject }: Caller, view: string): void {
    if (facts === undefined) return
    facts.mode = this.#options.mode
    if (hash !== undefined) facts.callerHash = hash
    if (subject !== undefined) facts.subject = subject
    facts.view = view
  }
}

function unnamed(mode: AuthMode, kind: CallerKind): Caller {
  return { mode, kind, subject: undefined, groups: [], hash: undefined }
}

const anonymousSession: Session = { caller: unnamed('anonymous', 'anonymous') }
const anonymous: Callers = {
  identify: () => anonymousSession,
  known: () => anonymousSession,
}

/** Tells the access log by what the caller is measured. */
function note({ facts }: AuthRequest, view: string): void {
  if (facts !== undefined) facts.view = view
}
