import { apiVersion, type Kind, kinds } from '../apis/v1alpha1/v1alpha1.ts'
import { Bounded } from '../memory/memory.ts'
import { SingleFlight } from '../pacing/pacing.ts'
import { histogram, type Metrics } from '../telemetry/telemetry.ts'
import { bearerTokenOf } from './bearer.ts'
import { CallerReads, type ClusterAddress, type Reading } from './caller-reads.ts'
import { type ClusterCredentials, credentialsOfKubeconfig } from './kubeconfig.ts'
import { Refusal } from './refusal.ts'

export interface PassthroughOptions {
  readonly apiGroup: string
  /** Where the server's own cluster is. */
  readonly address: () => Promise<ClusterAddress>
  /** How long a decision holds, in milliseconds; 0: it is asked for every time. */
  readonly ttlMs: number
  readonly metrics: Metrics
  /** Milliseconds since 1970. */
  readonly clock: () => number
}

/** Credentials as they came, and what to call them. */
export interface Presented {
  readonly format: 'token' | 'kubeconfig'
  /** The header. */
  readonly authorization: string
  /** Of the header, keyed; stands for the credentials in every key. */
  readonly hash: string
}

/** What the cluster said about one caller and one thing. A refusal is a verdict too; that nobody answered is not. */
type Verdict = 'allowed' | 'absent' | Refusal

const maxRemembered = 10_000
const maxRunning = 500
const durationBuckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5]
/** Everybody who is authenticated may read it, unless an administrator took that away: then the answer is 403. */
const anyPath = '/api'

/** Lets the cluster decide, by reading with the caller's own credentials what the caller asks us for. */
export class Passthrough {
  readonly #options: PassthroughOptions
  readonly #reads: CallerReads
  readonly #verdicts: Bounded<Verdict>
  readonly #running = new SingleFlight<Verdict>({
    max: maxRunning,
    overload: () =>
      new Refusal('cluster_away', 'too many callers wait for the cluster: try again in a moment'),
  })
  readonly #duration

  constructor(options: PassthroughOptions) {
    this.#options = options
    this.#reads = new CallerReads(() => this.#address())
    this.#verdicts = new Bounded({ maxEntries: maxRemembered, clock: options.clock })
    this.#duration = histogram(
      options.metrics,
      {
        name: 'auth_passthrough_duration_seconds',
        help: 'Time that the cluster took to decide about a caller.',
        labels: ['result'],
      },
      durationBuckets,
    )
  }

  /**
   * Whether the caller may read a module or provider and the Versions of its namespace; false where there is no such
   * resource. At once where the cluster has decided that a moment ago.
   *
   * @throws Refusal
   */
  mayRead(
    presented: Presented,
    kind: 'Module' | 'Provider',
    namespace: string,
    name: string,
  ): boolean | Promise<boolean> {
    if (!isName(namespace) || !isName(name)) {
      // No object can be called so, and a path with it would lead elsewhere. Strangers still learn only that.
      return this.authenticate(presented).then(() => false)
    }
    const key = `${kind} ${namespace}/${name}`
    const known = this.#verdicts.get(`${presented.hash} ${key}`)
    if (known !== undefined) return outcomeOf(known)
    return this.#decide(presented, key, [
      this.#path(kind, namespace, `/${name}`),
      this.#path('Version', namespace, '?limit=1'),
    ])
  }

  /** Whether the cluster has allowed that a moment ago. */
  allowedNow(
    { hash }: Presented,
    kind: 'Module' | 'Provider',
    namespace: string,
    name: string,
  ): boolean {
    return this.#verdicts.get(`${hash} ${kind} ${namespace}/${name}`) === 'allowed'
  }

  /** Makes sure that the cluster knows the caller at all. @throws Refusal */
  async authenticate(presented: Presented): Promise<void> {
    const known = this.#verdicts.get(`${presented.hash} `)
    if (known === undefined) await this.#decide(presented, '', [anyPath])
    else outcomeOf(known)
  }

  close(): Promise<void> {
    return this.#reads.close()
  }

  #path(kind: Kind, namespace: string, rest: string): string {
    const root = `/apis/${this.#options.apiGroup}/${apiVersion}`
    return `${root}/namespaces/${namespace}/${kinds[kind].plural}${rest}`
  }

  async #decide(presented: Presented, key: string, paths: readonly string[]): Promise<boolean> {
    const { ttlMs, clock } = this.#options
    const fullKey = `${presented.hash} ${key}`
    const verdict = await this.#running.run(fullKey, async () => {
      const credentials = await this.#credentialsOf(presented)
      const found = verdictOf(await this.#timed(credentials, paths), key === '')
      if (ttlMs > 0) this.#verdicts.set(fullKey, found, clock() + ttlMs)
      return found
    })
    return outcomeOf(verdict)
  }

  /** @throws Refusal where the server itself does not get that far: that is not the caller's fault */
  async #address(): Promise<ClusterAddress> {
    try {
      return await this.#options.address()
    } catch (cause) {
      throw new Refusal(
        'cluster_away',
        'the cluster that has to decide about this cannot be reached: try again in a moment',
        { cause },
      )
    }
  }

  /** @throws Refusal */
  async #credentialsOf({ format, authorization }: Presented): Promise<ClusterCredentials> {
    const token = bearerTokenOf(authorization) ?? ''
    return format === 'token' ? { token } : credentialsOfKubeconfig(token, await this.#address())
  }

  async #timed(
    credentials: ClusterCredentials,
    paths: readonly string[],
  ): Promise<readonly Reading[]> {
    const start = performance.now()
    let result = 'unreachable'
    try {
      const readings = await this.#reads.read(credentials, paths)
      result = readings.every(({ status }) => status < 400) ? 'allowed' : 'refused'
      return readings
    } finally {
      this.#duration.observe({ result }, (performance.now() - start) / 1000)
    }
  }
}

/** Names of namespaces and custom resources, generously: what may stand in a path without a second thought. */
function isName(text: string): boolean {
  return text.length <= 253 && /^[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?$/.test(text)
}

/** @param anything whether only matters that the caller is known */
function verdictOf(readings: readonly Reading[], anything: boolean): Verdict {
  const worst = (status: number) => readings.find((reading) => reading.status === status)
  const unauthenticated = worst(401)
  if (unauthenticated !== undefined) {
    return new Refusal(
      'cluster_unauthenticated',
      `the cluster does not accept these credentials: ${unauthenticated.message || 'Unauthorized'}`,
    )
  }
  const forbidden = worst(403)
  if (forbidden !== undefined && !anything) {
    return new Refusal('cluster_forbidden', forbidden.message || 'the cluster forbids this')
  }
  const odd = readings.find(
    ({ status }) => status !== 200 && status !== 404 && !(anything && status === 403),
  )
  if (odd !== undefined) {
    throw new Refusal(
      'cluster_away',
      `the cluster that has to decide about this answered ${odd.status}: try again in a moment`,
    )
  }
  return worst(404) === undefined ? 'allowed' : 'absent'
}

/** @throws Refusal */
function outcomeOf(verdict: Verdict): boolean {
  if (verdict instanceof Refusal) throw verdict
  return verdict === 'allowed'
}
