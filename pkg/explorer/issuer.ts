import {
  allowInsecureRequests,
  ClientSecretBasic,
  ClientSecretPost,
  Configuration,
  type CustomFetch,
  clockTolerance,
  customFetch,
  discovery,
  enableNonRepudiationChecks,
  None,
  type ServerMetadata,
} from 'openid-client'
import { readBounded } from '../base/http/http.ts'
import { Backoff, type Random } from '../base/pacing/pacing.ts'
import type { Logger } from '../base/telemetry/telemetry.ts'
import { externalFrom } from './request.ts'
import type { Upstream } from './upstream.ts'

export interface OidcOptions {
  readonly issuerUrl: string
  /** Authorization endpoint for browsers. Default: from discovery. */
  readonly authzUrl?: string | undefined
  readonly clientId: string
  /** Without it, the client is public. */
  readonly clientSecret?: string | undefined
  /** Separated by spaces. */
  readonly scopes: string
  /** Path that the issuer redirects browsers to. */
  readonly callbackPath: string
}

export interface IssuerOptions {
  readonly oidc: OidcOptions
  /** Sends requests to the issuer. */
  readonly fetch: CustomFetch
  readonly log: Logger
  /** Default: Math.random. */
  readonly random?: Random
}

const timeoutSeconds = 10
const clockSkewSeconds = 30
/** A login reads the metadata again if it is older than this. */
const freshMs = 3_600_000
/** Waits after failures. */
const firstMs = 500
const capMs = 30_000

/** Metadata of the issuer. While the issuer is unreachable, this process serves pages without logins and keeps retrying. */
export class Issuer {
  readonly oidc: OidcOptions
  readonly #fetch: CustomFetch
  readonly #log: Logger
  readonly #backoff: Backoff
  #known: { readonly configuration: Configuration; readonly since: number } | undefined
  #asking: Promise<Configuration> | undefined
  #retry: NodeJS.Timeout | undefined

  constructor({ oidc, fetch, log, random = Math.random }: IssuerOptions) {
    this.oidc = oidc
    this.#fetch = fetch
    this.#log = log
    this.#backoff = new Backoff({ firstMs, capMs, jitter: 'equal', random })
  }

  /** Reads the metadata in advance, so that the first login need not wait. */
  start(): void {
    void this.configuration().catch(() => undefined)
  }

  stop(): void {
    clearTimeout(this.#retry)
  }

  /** @throws Error while the issuer is unreachable and was never read */
  async configuration(): Promise<Configuration> {
    const known = this.#known
    if (known !== undefined && performance.now() - known.since < freshMs) return known.configuration
    this.#asking ??= this.#ask().finally(() => {
      this.#asking = undefined
    })
    return known === undefined ? this.#asking : this.#asking.catch(() => known.configuration)
  }

  async #ask(): Promise<Configuration> {
    clearTimeout(this.#retry)
    try {
      const configuration = await this.#discover()
      this.#known = { configuration, since: performance.now() }
      this.#backoff.reset()
      return configuration
    } catch (err) {
      const { issuerUrl } = this.oidc
      const retryMs = this.#backoff.nextMs()
      this.#log.warn({ err, issuerUrl, retryMs }, 'the issuer cannot be read')
      this.#retry = setTimeout(() => this.start(), retryMs).unref()
      throw err
    }
  }

  async #discover(): Promise<Configuration> {
    const { issuerUrl, authzUrl, clientId, clientSecret } = this.oidc
    const setUp = [
      enableNonRepudiationChecks,
      ...(issuerUrl.startsWith('http:') ? [allowInsecureRequests] : []),
    ]
    const found = await discovery(new URL(issuerUrl), clientId, undefined, None(), {
      execute: setUp,
      timeout: timeoutSeconds,
      [customFetch]: this.#fetch,
    })
    const metadata: ServerMetadata = {
      // A plain copy without methods.
      ...(JSON.parse(JSON.stringify(found.serverMetadata())) as ServerMetadata),
      ...(authzUrl !== undefined && { authorization_endpoint: authzUrl }),
    }
    const methods = metadata.token_endpoint_auth_methods_supported ?? ['client_secret_basic']
    const authenticate =
      clientSecret === undefined
        ? None()
        : methods.includes('client_secret_basic')
          ? ClientSecretBasic(clientSecret)
          : ClientSecretPost(clientSecret)
    const configuration = new Configuration(
      metadata,
      clientId,
      { [clockTolerance]: clockSkewSeconds },
      authenticate,
    )
    for (const set of setUp) set(configuration)
    configuration.timeout = timeoutSeconds
    configuration[customFetch] = this.#fetch
    return configuration
  }
}

interface IssuerFetchOptions {
  readonly issuerUrl: string
  /** Origin of the explorer; undefined if it is not configured. */
  readonly baseUrl: string | undefined
  /** The server, which forwards `/broker/*`. */
  readonly server: Upstream
  /** The broker itself, if it can be reached inside the cluster. */
  readonly broker: Upstream | undefined
}

/** Much larger than discovery documents, keys and tokens. */
const largestBytes = 1024 * 1024
const withoutBody: ReadonlySet<number> = new Set([204, 205, 304])

/**
 * Sends requests to the issuer. An issuer at the explorer's own address is reached inside the cluster instead of through the
 * ingress, but with its external host name.
 */
export function issuerFetch(options: IssuerFetchOptions): CustomFetch {
  const { issuerUrl, baseUrl, server, broker } = options
  const { origin } = new URL(issuerUrl)
  const inside = broker ?? (origin === baseUrl ? server : undefined)
  return (url, init) => {
    const target = new URL(url)
    if (inside === undefined || target.origin !== origin) return fetch(url, init as RequestInit)
    return fetchInside(inside, target, init)
  }
}

type Init = Parameters<CustomFetch>[1]

async function fetchInside(inside: Upstream, target: URL, init: Init): Promise<Response> {
  const { method, headers, body, signal } = init
  const answer = await inside.ask(externalFrom(target), {
    method: method === 'POST' ? 'POST' : 'GET',
    path: target.pathname + target.search,
    headers,
    body: typeof body === 'string' || body instanceof URLSearchParams ? body.toString() : undefined,
    signal,
  })
  const text = String(await readBounded(answer.body, largestBytes))
  return new Response(withoutBody.has(answer.status) ? null : text, {
    status: answer.status,
    headers: { 'Content-Type': answer.header('content-type') ?? 'application/octet-stream' },
  })
}
