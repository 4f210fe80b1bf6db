import { lookup } from 'node:dns/promises'
import { isIP } from 'node:net'
import { Readable } from 'node:stream'
import { codeOf, hasReason, messageOf, printable, RegistryError } from '../../base/errors/errors.ts'
import {
  type Answer,
  discard,
  isTimeout,
  type ProxyRules,
  proxyRules,
  type ResolvedAddress,
  readBounded,
  saidBy,
} from '../../base/http/http.ts'
import { Bounded } from '../../base/memory/memory.ts'
import type { Clock } from '../../base/pacing/pacing.ts'
import { counter, gauge, type Logger, type Metrics } from '../../base/telemetry/telemetry.ts'
import {
  type Credential,
  type DownloadedFile,
  type DownloadRequest,
  type EgressAnswer,
  EgressError,
  type EgressOptions,
  type EgressRequest,
  type EgressRoute,
} from './client.ts'
import {
  type AddressRules,
  addressRules,
  type HostAccess,
  type HostRules,
  hostRules,
  literalOf,
  refusalText,
  refused,
  shownUrl,
} from './hosts.ts'
import { Pools } from './pools.ts'
import { Allowance } from './rate-limits.ts'
import { tooLarge, writeBody } from './write-body.ts'

const maxRedirects = 5
const defaultDeadlineMs = 60_000
const defaultStallMs = 60_000
const defaultMaxBytes = 16 * 1024 * 1024

/** Sends requests to allowed hosts and addresses. */
export class Egress {
  readonly #hosts: HostRules
  readonly #addresses: AddressRules
  readonly #proxies: ProxyRules
  readonly #resolve: (hostname: string) => Promise<readonly string[]>
  readonly #clock: Clock
  /** By host and credential. */
  readonly #allowances = new Bounded<Allowance>({ maxEntries: 2000 })
  readonly #metrics: EgressMetrics
  readonly #log: Logger
  readonly #pools: Pools
  readonly #ca: string | undefined

  /** @throws Error if the policy is not valid */
  constructor(options: EgressOptions) {
    this.#hosts = hostRules(options.policy)
    this.#addresses = addressRules(options.policy.privateNetworks)
    this.#proxies = proxyRules(options.environment ?? {})
    this.#resolve = options.resolve ?? addressesOf
    this.#clock = options.clock ?? Date.now
    this.#metrics = createEgressMetrics(options.metrics)
    this.#log = options.log.child({ component: 'egress' })
    this.#ca = options.ca
    this.#pools = new Pools(options.ca, this.#proxies, (hostname, access) =>
      this.#approved(hostname, access),
    )
  }

  /** Returns answers of any status. @throws EgressError; RateLimited for 429 and statuses that mean the same */
  async request(url: string, request: EgressRequest): Promise<EgressAnswer> {
    const { maxBytes = defaultMaxBytes } = request
    return this.#exchange(url, request, defaultStallMs, async (answer, at) => {
      const { status, header } = answer
      return { status, header, url: at, body: await readBounded(answer.body, maxBytes) }
    })
  }

  /** Writes a body to a file. @throws EgressError; BadStatus for any status except 200 */
  async download(url: string, request: DownloadRequest): Promise<DownloadedFile> {
    const { into, maxBytes, stallMs = defaultStallMs } = request
    return this.#exchange(url, request, stallMs, async (answer, at) => {
      const { status, header } = answer
      if (status !== 200) {
        const message = refusalText(at, status, await beginningOf(answer.body))
        throw new EgressError('BadStatus', message, { status })
      }
      const length = header('content-length')
      const announced = length !== undefined && /^\d+$/.test(length) ? Number(length) : undefined
      if (announced !== undefined && announced > maxBytes) {
        discard(answer.body)
        throw tooLarge(maxBytes)
      }
      const path = await into(announced).catch((error: unknown) => {
        discard(answer.body)
        throw error
      })
      const limit = Math.min(maxBytes, announced ?? maxBytes)
      return { header, url: at, ...(await writeBody(answer.body, path, limit, stallMs)) }
    })
  }

  /** For programs that open their own connections, such as git. @throws EgressError */
  async routeTo(text: string, { namedByUpstream = false } = {}): Promise<EgressRoute> {
    const url = parse(text)
    const access = this.#check(url, { namedByUpstream })
    const proxyUrl = this.#proxies.proxyFor(url.href)
    if (proxyUrl !== undefined) return { ca: this.#ca, proxyUrl }
    const addresses = await this.#approved(url.hostname.replace(/^\[|\]$/g, ''), access)
    return { ca: this.#ca, addresses: addresses.map(({ address }) => address) }
  }

  async close(): Promise<void> {
    await this.#pools.close()
  }

  /** Sends a request, follows redirects, and reads the answer within the deadline. */
  async #exchange<T>(
    text: string,
    request: EgressRequest,
    stallMs: number,
    read: (answer: Answer, at: URL) => Promise<T>,
  ): Promise<T> {
    const { deadlineMs = defaultDeadlineMs } = request
    const signal = AbortSignal.any([request.signal, AbortSignal.timeout(deadlineMs)])
    let url = parse(text)
    let { credential } = request
    try {
      for (let redirects = 0; ; redirects += 1) {
        const answer = await this.#send(url, { ...request, credential, signal }, stallMs)
        const target = redirectOf(answer, request)
        if (target === undefined) return await read(answer, url)
        discard(answer.body)
        if (redirects === maxRedirects) {
          const message = `${shownUrl(text)} redirects more than ${maxRedirects} times`
          throw new EgressError('BadRedirect', message)
        }
        const next = URL.parse(target, url.href)
        if (next === null) {
          throw new EgressError('BadRedirect', `${shownUrl(url)} redirects to an invalid URL`)
        }
        if (next.host !== url.host) credential = undefined
        url = next
      }
    } catch (thrown) {
      throw egressError(thrown, url, request.signal)
    }
  }

  async #send(url: URL, request: EgressRequest, stallMs: number): Promise<Answer> {
    const { credential, urgent = false, leaves, signal } = request
    const access = this.#check(url, request)
    const allowance = this.#allowances.getOrMake(
      JSON.stringify([url.host, credential?.id]),
      () => new Allowance(url.host, this.#clock),
    )
    await allowance.take({ urgent, leaves }, signal)
    const host = this.#hosts.labelOf(url)
    const { pool, trust } = this.#pools.for(access, request.ca)
    const answer = await pool
      .send(
        { origin: url.origin, trust },
        {
          method: request.method ?? 'GET',
          path: `${url.pathname}${url.search}`,
          headers: headersOf(request, credential),
          ...(request.body !== undefined && { body: request.body }),
          idleMs: stallMs,
          ...(request.headersMs !== undefined && { headersMs: request.headersMs }),
          signal,
        },
      )
      .catch((error: unknown) => {
        this.#metrics.requests.inc({ host, code: 'error' })
        if (isUnreachable(error)) allowance.lost()
        throw error
      })
    this.#metrics.requests.inc({ host, code: answer.status })
    try {
      if (!limiting.has(answer.status)) {
        allowance.learn(answer)
        return answer
      }
      // Some hosts only say in the text of a refusal that it is about a limit.
      const body = await beginningOf(answer.body)
      allowance.learn(answer, body)
      return { ...answer, body: Readable.from([body]) }
    } catch (error) {
      discard(answer.body)
      throw error
    } finally {
      const { remaining } = allowance
      if (remaining !== undefined) this.#metrics.remaining.set({ host }, remaining)
    }
  }

  #check(url: URL, named: Pick<EgressRequest, 'namedByUpstream' | 'namedByOperator'>): HostAccess {
    try {
      const access = this.#hosts.accessTo(url, named)
      const literal = literalOf(url)
      const why = literal && this.#addresses.refusal(literal, access === 'named')
      if (literal !== undefined && why !== undefined) {
        throw refused(url, `its address ${why}; ${this.#remedyFor(literal, access)}`)
      }
      return access
    } catch (error) {
      this.#refused(url.host)
      throw error
    }
  }

  #remedyFor(address: string, access: HostAccess): string {
    const isInNetworks = this.#addresses.refusal(address, true) === undefined
    const options = [
      ...(access === 'named' ? [] : ['--egress-allow']),
      ...(isInNetworks
        ? []
        : [`--egress-private-cidrs=${address}/${isIP(address) === 6 ? 128 : 32}`]),
    ]
    return `an operator can allow it with ${options.join(' and ')}`
  }

  #refused(host: string): void {
    this.#metrics.refused.inc()
    this.#log.warn({ host: printable(host) }, 'request to an upstream refused')
  }

  /** Resolves a host, and requires that all its addresses are allowed. */
  async #approved(hostname: string, access: HostAccess): Promise<readonly ResolvedAddress[]> {
    const found = isIP(hostname) === 0 ? await this.#resolve(hostname) : [hostname]
    if (found.length === 0) {
      throw new EgressError('Unreachable', `${printable(hostname)} has no address`)
    }
    for (const address of found) {
      const why = this.#addresses.refusal(address, access === 'named')
      if (why === undefined) continue
      this.#refused(hostname)
      throw new EgressError(
        'EgressRefused',
        `${printable(hostname)} is refused: its address ${address} ${why}; ${this.#remedyFor(address, access)}`,
      )
    }
    return found.map((address) => ({ address, family: isIP(address) === 6 ? 6 : 4 }))
  }
}

function egressError(thrown: unknown, url: URL, asked: AbortSignal): unknown {
  if (thrown instanceof EgressError) return thrown
  if (asked.aborted && !isTimeout(asked.reason)) return asked.reason
  const at = shownUrl(url)
  const cause = thrown
  if (hasReason(thrown, 'TooLarge')) {
    return new EgressError('TooLarge', `${at}: ${messageOf(thrown)}`, { cause })
  }
  if (isTimeout(thrown)) return new EgressError('Timeout', `${at} took too long`, { cause })
  // Errors of sockets, TLS and undici have a code.
  const hasCode = thrown instanceof Error && 'code' in thrown && typeof thrown.code === 'string'
  if (!hasCode && !(thrown instanceof RegistryError)) return thrown
  return new EgressError('Unreachable', `${at} cannot be reached: ${whyUnreachable(thrown)}`, {
    cause,
  })
}

/** Codes of OpenSSL for a certificate whose authority is unknown. */
const untrusted: ReadonlySet<string> = new Set([
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
])

function whyUnreachable(thrown: unknown): string {
  const said = saidBy(messageOf(thrown))
  if (said.includes(':wrong version number:')) return 'the port does not speak TLS'
  if (!untrusted.has(codeOf(thrown))) return said
  // Node advises a flag of its own, which people who run Depot cannot set.
  return `${said.split(';')[0]}: an unknown authority signed its certificate. Name the file of the authority in NODE_EXTRA_CA_CERTS, or in --egress-ca-path of commands that fill a registry`
}

function parse(text: string): URL {
  const url = URL.parse(text)
  if (url !== null) return url
  throw new EgressError('EgressRefused', `${printable(JSON.stringify(text), 120)} is not a URL`)
}

const redirects: ReadonlySet<number> = new Set([301, 302, 303, 307, 308])

/** The target of a redirect. */
function redirectOf(
  { status, header }: Answer,
  { method, follows = true }: EgressRequest,
): string | undefined {
  const mayFollow = follows && method !== 'POST' && method !== 'PUT'
  return redirects.has(status) && mayFollow ? header('location') : undefined
}

function headersOf(
  { headers }: EgressRequest,
  credential: Credential | undefined,
): Record<string, string> {
  return {
    'user-agent': 'depot',
    'accept-encoding': 'identity',
    ...headers,
    ...(credential !== undefined && { authorization: credential.authorization }),
  }
}

/** Statuses that may be about a limit. */
const limiting: ReadonlySet<number> = new Set([403, 429, 503])

/** Reads a refusal; a page that is longer than 64 KiB is not the answer of an API. */
function beginningOf(body: Readable): Promise<Buffer> {
  return readBounded(body, 64 * 1024).catch((error: unknown) => {
    if (error instanceof RegistryError) return Buffer.alloc(0)
    throw error
  })
}

async function addressesOf(hostname: string): Promise<readonly string[]> {
  return (await lookup(hostname, { all: true })).map(({ address }) => address)
}

/** Whether the host gave no connection, or no answer in time. */
function isUnreachable(thrown: unknown): boolean {
  if (isTimeout(thrown)) return true
  return thrown instanceof Error && 'code' in thrown && unreachableCodes.has(thrown.code)
}

const unreachableCodes: ReadonlySet<unknown> = new Set([
  'EAI_AGAIN',
  'ECONNREFUSED',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
])

function createEgressMetrics(metrics: Metrics) {
  return {
    requests: counter(metrics, {
      name: 'upstream_requests_total',
      help: 'Requests to upstreams, by host and status; other means a host that no option names.',
      labels: ['host', 'code'],
    }),
    refused: counter(metrics, {
      name: 'egress_refused_total',
      help: 'Requests that were refused because of their host or address.',
    }),
    remaining: gauge(metrics, {
      name: 'ratelimit_remaining',
      help: 'Requests that an upstream still allows, according to its last answer.',
      labels: ['host'],
    }),
  }
}
type EgressMetrics = ReturnType<typeof createEgressMetrics>
