import type { Clock } from '../../base/pacing/pacing.ts'
import type { Logger, Metrics } from '../../base/telemetry/telemetry.ts'

/** Where requests may go. A host is `name` for port 443, or `name:port`. */
export interface EgressPolicy {
  readonly hosts: readonly string[]
  /** Networks in CIDR notation that named hosts may have addresses in. */
  readonly privateNetworks: readonly string[]
  /** Whether a download that an upstream names may come from any public host. */
  readonly publicDownloads: boolean
}

/** What opens an upstream. It is sent to the host that it is for and to no other. */
export interface Credential {
  /** Tells credentials apart without showing them: requests of one share a limit. */
  readonly id: string
  /** The header Authorization. */
  readonly authorization: string
}

export interface EgressRequest {
  readonly method?: 'GET' | 'HEAD' | 'POST'
  /** Names in lower case. */
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
  readonly credential?: Credential | undefined
  /** Authorities to believe besides the usual ones, PEM. */
  readonly ca?: string | undefined
  /** Of the body. Default: 16 MiB. */
  readonly maxBytes?: number
  /** From the first byte sent to the last one received, redirects included. Default: 60 s. */
  readonly deadlineMs?: number
  /** Whether an upstream named the URL, so that any public host will do where the policy says so. */
  readonly namedByUpstream?: boolean
  /** Whether a person waits: such requests go on when little of a limit is left. */
  readonly urgent?: boolean | undefined
  readonly signal: AbortSignal
}

export interface EgressAnswer {
  readonly status: number
  /** The first header of that name, in lower case. */
  readonly header: (name: string) => string | undefined
  readonly body: Buffer
  /** Where the answer came from in the end. */
  readonly url: URL
}

export interface DownloadRequest extends EgressRequest {
  /**
   * Called with the length that was announced, if any, before the first byte.
   *
   * @returns the path of a file that does not exist yet
   */
  readonly into: (announcedBytes: number | undefined) => Promise<string>
  readonly maxBytes: number
  /** How long the body may be silent, or bring less than 8 kB a second. Default: 60 s. */
  readonly stallMs?: number
}

export interface DownloadedFile {
  readonly header: (name: string) => string | undefined
  readonly url: URL
  readonly sizeBytes: number
  /** Hexadecimal. */
  readonly sha256: string
}

/** How another program reaches a host. */
export type EgressRoute = {
  /** Authorities to believe besides those of this machine, PEM. */
  readonly ca: string | undefined
} & ({ readonly addresses: readonly string[] } | { readonly proxyUrl: string })

export interface Egress {
  /** @throws EgressError; any status is an answer but 429 and what means the same */
  request(url: string, request: EgressRequest): Promise<EgressAnswer>
  /** Writes a body to a file. @throws EgressError; StatusError for any status but 200 */
  download(url: string, request: DownloadRequest): Promise<DownloadedFile>
  /** For programs that make connections of their own, such as git. @throws EgressError */
  routeTo(url: string, options?: { readonly namedByUpstream?: boolean }): Promise<EgressRoute>
  close(): Promise<void>
}

export interface EgressOptions {
  readonly policy: EgressPolicy
  readonly metrics: Metrics
  readonly log: Logger
  /** Authorities to believe besides those of this machine, PEM. */
  readonly ca?: string | undefined
  /** Where proxies are named. Default: none. */
  readonly environment?: Readonly<Record<string, string | undefined>>
  /** Default: that of the machine. */
  readonly resolve?: (hostname: string) => Promise<readonly string[]>
  readonly clock?: Clock
}
