import type { Readable } from 'node:stream'
import { type Reason, ReasonError } from '../../base/errors/errors.ts'
import type { Clock } from '../../base/pacing/pacing.ts'
import type { Logger, Metrics } from '../../base/telemetry/telemetry.ts'

/** The destinations that requests may have. A host is `name` for port 443, or `name:port`. */
export interface EgressPolicy {
  readonly hosts: readonly string[]
  /** Private networks in CIDR notation that hosts above may have addresses in. */
  readonly privateNetworks: readonly string[]
  /** Whether downloads that an upstream names may come from any public host. */
  readonly publicDownloads: boolean
  /** Origins that may be asked without TLS, such as `http://127.0.0.1:8080`. Default: none. */
  readonly plainOrigins?: readonly string[]
}

/** A credential for an upstream. It is sent to its own host only. */
export interface Credential {
  /** Identifies the credential without showing it: its requests share a rate limit. */
  readonly id: string
  /** The header Authorization. */
  readonly authorization: string
}

export interface EgressRequest {
  readonly method?: 'GET' | 'HEAD' | 'POST' | 'PUT'
  /** Names in lower case. */
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Readable
  readonly credential?: Credential | undefined
  /** Additional trusted authorities, PEM. */
  readonly ca?: string | undefined
  /** Maximum size of the body. Default: 16 MiB. */
  readonly maxBytes?: number
  /** Deadline from the first sent to the last received byte, including redirects. Default: 60 s. */
  readonly deadlineMs?: number
  /** Deadline of the headers of the answer, once the request is sent. Default: 60 s. */
  readonly headersMs?: number
  /** Whether an upstream named the URL: then any public host is allowed if the policy allows public downloads. */
  readonly namedByUpstream?: boolean
  /** Whether an option of the operator is the URL: then its host is allowed. */
  readonly namedByOperator?: boolean
  /** Whether to follow redirects. Default: true. */
  readonly follows?: boolean
  /** Whether a person waits: such requests continue when little of a rate limit is left. */
  readonly urgent?: boolean | undefined
  /** Part of a rate limit that the request leaves for others. Default: a tenth. */
  readonly leaves?: number | undefined
  readonly signal: AbortSignal
}

export interface EgressAnswer {
  readonly status: number
  /** The first header of that name, in lower case. */
  readonly header: (name: string) => string | undefined
  readonly body: Buffer
  /** The URL after redirects. */
  readonly url: URL
}

export interface DownloadRequest extends EgressRequest {
  /**
   * Called before the first byte, with the announced length if there is one.
   *
   * @returns the path of a file that does not exist yet
   */
  readonly into: (announcedBytes: number | undefined) => Promise<string>
  readonly maxBytes: number
  /** How long the body may pause, or bring less than 8 kB a second. Default: 60 s. */
  readonly stallMs?: number
}

export interface DownloadedFile {
  readonly header: (name: string) => string | undefined
  readonly url: URL
  readonly sizeBytes: number
  /** Hexadecimal. */
  readonly sha256: string
}

/** The way for another program to reach a host. */
export type EgressRoute = {
  /** Trusted authorities in addition to those of this machine, PEM. */
  readonly ca: string | undefined
} & ({ readonly addresses: readonly string[] } | { readonly proxyUrl: string })

export interface EgressOptions {
  readonly policy: EgressPolicy
  readonly metrics: Metrics
  readonly log: Logger
  /** Trusted authorities in addition to those of this machine, PEM. */
  readonly ca?: string | undefined
  /** Environment variables that name proxies. Default: none. */
  readonly environment?: Readonly<Record<string, string | undefined>>
  /** Default: the resolver of the machine. */
  readonly resolve?: (hostname: string) => Promise<readonly string[]>
  readonly clock?: Clock
}

interface EgressErrorOptions {
  readonly cause?: unknown
  readonly retryAfterMs?: number
  readonly status?: number
}

/** A request without a usable answer. Its message is printable and has neither query nor credentials. */
export class EgressError extends ReasonError {
  override readonly name = 'EgressError'
  /** BadStatus only: the status of the answer. */
  readonly status: number | undefined

  constructor(reason: Reason, message: string, options: EgressErrorOptions = {}) {
    super(reason, message, options)
    this.status = options.status
  }
}
