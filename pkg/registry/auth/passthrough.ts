import type { JWTPayload } from 'jose'
import type { PublishRight } from '../../api/browse/browse.ts'
import {
  apiVersion,
  type Kind,
  kinds,
  type ParentKind,
  type PublishedBy,
} from '../../api/v1alpha1/v1alpha1.ts'
import { printable } from '../../base/errors/errors.ts'
import { Bounded } from '../../base/memory/memory.ts'
import { type Clock, SingleFlight } from '../../base/pacing/pacing.ts'
import { histogram, type Metrics } from '../../base/telemetry/telemetry.ts'
import { type ClusterCredentials, credentialsOfKubeconfig } from './caller-kubeconfig.ts'
import {
  CallerReads,
  type ClusterAddress,
  type ClusterAnswer,
  type ClusterQuestion,
  type ReviewedAction,
  unreachable,
  whoAmI,
} from './caller-reads.ts'
import { Refusal } from './refusal.ts'
import { checkToken, type Presented, type ResourceKey, unverifiedClaims } from './session.ts'

export interface PassthroughOptions {
  readonly apiGroup: string
  /** The address of the server's own cluster. */
  readonly address: () => Promise<ClusterAddress>
  /** How long a decision is remembered, in milliseconds; 0: not at all. */
  readonly ttlMs: number
  /** Limit of concurrent requests. Default 128. */
  readonly connections?: number | undefined
  readonly metrics: Metrics
  readonly clock: Clock
}

/** The cluster's decision about one caller and one resource. A refusal is a decision; an unreachable cluster is not. */
type Verdict = 'allowed' | 'absent' | Refusal

const maxRemembered = 10_000
const maxRunning = 500
/** Longest name of a publisher; the schema of statuses takes twice as much. */
export const maxUserBytes = 500
const durationBuckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5]
/** Every authenticated caller may read it. If an administrator revoked that, the answer is 403. */
const anyPath = '/api'
const versionsQuery = '?limit=1'

const overload = () =>
  new Refusal('Busy', 'too many callers wait for the cluster: try again in a moment')

/** Lets the cluster decide by reading the requested resource with the caller's own credentials. */
export class Passthrough {
  readonly #options: PassthroughOptions
  readonly #reads: CallerReads
  readonly #verdicts: Bounded<Verdict>
  readonly #running = new SingleFlight<Verdict>({ max: maxRunning, overload })
  /** By the hash of the credentials, which belong to one user as long as they are valid. */
  readonly #identities: Bounded<PublishedBy>
  readonly #naming = new SingleFlight<PublishedBy | undefined>({ max: maxRunning, overload })
  readonly #duration

  constructor(options: PassthroughOptions) {
    this.#options = options
    this.#reads = new CallerReads(() => this.#address(), options.connections)
    this.#identities = new Bounded({ maxEntries: maxRemembered, clock: options.clock })
    this.#verdicts = new Bounded({ maxEntries: maxRemembered, clock: options.clock })
    this.#duration = histogram(options.metrics, {
      name: 'auth_passthrough_duration_seconds',
      help: 'Time that the cluster took to decide about a caller.',
      labels: ['result'],
      buckets: durationBuckets,
    })
  }

  /**
   * Whether the caller may read a module or provider and the Versions of its namespace; false if there is no such resource.
   * Without a wait if the cluster has decided recently.
   *
   * @throws Refusal
   */
  mayRead(
    presented: Presented,
    ...[kind, namespace, name]: ResourceKey
  ): boolean | Promise<boolean> {
    if (!isName(namespace) || !isName(name)) {
      // Such names cannot exist, and would lead to another path. Unauthenticated callers get the same answer.
      return this.authenticate(presented).then(() => false)
    }
    const parent = this.#verdict(presented, this.#path(kind, namespace, `/${name}`))
    // One decision for all modules and providers of a namespace.
    const versions = this.#verdict(presented, this.#path('Version', namespace, versionsQuery))
    if (versions instanceof Promise || parent instanceof Promise) {
      return Promise.all([parent, versions]).then(async (verdicts) => {
        const isAllowed = allowed(verdicts)
        // A download counts for the service account that the cluster names.
        if (isAllowed && claimsAccount(presented)) await this.identityOf(presented)
        return isAllowed
      })
    }
    return allowed([parent, versions])
  }

  /** Whether the cluster has recently allowed it. */
  allowedNow({ hash }: Presented, ...[kind, namespace, name]: ResourceKey): boolean {
    const isAllowed = (path: string) => this.#verdicts.get(`${hash} ${path}`) === 'allowed'
    return (
      isAllowed(this.#path(kind, namespace, `/${name}`)) &&
      isAllowed(this.#path('Version', namespace, versionsQuery))
    )
  }

  /**
   * Whether the caller may create Versions in a namespace.
   *
   * @param more kinds that the caller has to be allowed to create, too
   * @throws Refusal where the cluster does not know the caller
   */
  async mayPublish(
    presented: Presented,
    namespace: string,
    more: readonly ParentKind[] = [],
  ): Promise<boolean> {
    if (!isName(namespace)) return this.authenticate(presented).then(() => false)
    const group = this.#options.apiGroup
    const verdicts = (['Version', ...more] as const).map(async (kind) => {
      const action = { namespace, verb: 'create', group, resource: kinds[kind].plural }
      return this.#verdict(presented, action)
    })
    return allowed(await Promise.all(verdicts))
  }

  /** Those of the namespaces in which the caller may create Versions, of any name. @throws Refusal */
  async publishRights(
    presented: Presented,
    namespaces: readonly string[],
  ): Promise<PublishRight[]> {
    await this.authenticate(presented)
    const may = await Promise.all(namespaces.map((it) => this.mayPublish(presented, it)))
    return namespaces
      .filter((_, at) => may[at])
      .map((namespace) => ({ namespace, modules: ['*'], providers: ['*'] }))
  }

  /**
   * The caller as the cluster names it. Empty if it does not: before Kubernetes 1.28, or while it cannot be reached.
   * Never rejects.
   */
  async identityOf(presented: Presented): Promise<PublishedBy> {
    const known = this.identityNow(presented)
    if (known !== undefined) return known
    try {
      const identity = await this.#naming.run(presented.hash, () => this.#ask(presented))
      if (identity !== undefined) this.#identities.set(presented.hash, identity)
      return identity ?? {}
    } catch {
      return {}
    }
  }

  /** The same, if the cluster was asked before. */
  readonly identityNow = ({ hash }: Presented): PublishedBy | undefined =>
    this.#identities.get(hash)

  /** Checks that the cluster knows the caller. @throws Refusal */
  async authenticate(presented: Presented): Promise<void> {
    allowed([await this.#verdict(presented, anyPath)])
  }

  async #ask(presented: Presented): Promise<PublishedBy | undefined> {
    const { user } = await this.#timed(await this.#credentialsOf(presented), whoAmI)
    if (user === undefined) return undefined
    const claims = claimsAccount(presented)
    // Only tokens of service accounts have this subject and make this user, so the cluster has verified their issuer.
    const issuer = claims?.sub === user ? claims.iss : undefined
    return { by: printable(user, maxUserBytes), ...(issuer && { issuer }) }
  }

  close(): Promise<void> {
    return this.#reads.close()
  }

  #path(kind: Kind, namespace: string, rest: string): string {
    const root = `/apis/${this.#options.apiGroup}/${apiVersion}`
    return `${root}/namespaces/${namespace}/${kinds[kind].plural}${rest}`
  }

  #verdict(presented: Presented, asked: string | ReviewedAction): Verdict | Promise<Verdict> {
    const { ttlMs, clock } = this.#options
    const key = `${presented.hash} ${typeof asked === 'string' ? asked : JSON.stringify(asked)}`
    const known = this.#verdicts.get(key)
    if (known !== undefined) return known
    return this.#running.run(key, async () => {
      const credentials = await this.#credentialsOf(presented)
      const verdict = verdictOf(await this.#timed(credentials, asked), asked === anyPath)
      if (ttlMs > 0) this.#verdicts.set(key, verdict, clock() + ttlMs)
      return verdict
    })
  }

  /** @throws Refusal where the server cannot reach the cluster, which is not the caller's fault */
  async #address(): Promise<ClusterAddress> {
    try {
      return await this.#options.address()
    } catch (cause) {
      throw unreachable(cause)
    }
  }

  /** @throws Refusal */
  async #credentialsOf({ format, token }: Presented): Promise<ClusterCredentials> {
    checkToken(token)
    return format === 'token' ? { token } : credentialsOfKubeconfig(token, await this.#address())
  }

  async #timed(credentials: ClusterCredentials, asked: ClusterQuestion): Promise<ClusterAnswer> {
    const start = performance.now()
    let result = 'unreachable'
    try {
      const reading = await this.#reads.read(credentials, asked)
      result = reading.status < 400 ? 'allowed' : 'refused'
      return reading
    } finally {
      this.#duration.observe({ result }, (performance.now() - start) / 1000)
    }
  }
}

/** The claims of a token that looks like one of a service account. */
function claimsAccount({ format, token }: Presented): JWTPayload | undefined {
  const claims = format === 'token' ? unverifiedClaims(token) : undefined
  return claims?.sub?.startsWith('system:serviceaccount:') ? claims : undefined
}

/** Names of namespaces and custom resources, and others that are safe in a path. */
function isName(text: string): boolean {
  return text.length <= 253 && /^[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?$/.test(text)
}

/** @param anything whether it is enough that the cluster knows the caller @throws Refusal where the answer decides nothing */
function verdictOf({ status, message, isAllowed }: ClusterAnswer, anything: boolean): Verdict {
  if (status === 401) {
    return new Refusal(
      'ClusterUnauthenticated',
      `the cluster does not accept these credentials: ${message || 'Unauthorized'}`,
    )
  }
  if (isAllowed !== undefined) return isAllowed ? 'allowed' : 'absent'
  if (status === 200 || (anything && status === 403)) return 'allowed'
  if (status === 404) return 'absent'
  if (status === 403) {
    return new Refusal('ClusterForbidden', message || 'the cluster forbids this')
  }
  throw new Refusal(
    'ClusterUnavailable',
    `the cluster that has to decide about this answered ${status}: try again in a moment`,
  )
}

/** An unknown caller is reported before a forbidden resource. @throws Refusal */
function allowed(verdicts: readonly Verdict[]): boolean {
  const refusals = verdicts.filter((verdict) => verdict instanceof Refusal)
  const [first] = refusals
  if (first === undefined) return !verdicts.includes('absent')
  throw refusals.find(({ reason }) => reason === 'ClusterUnauthenticated') ?? first
}
