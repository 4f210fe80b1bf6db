import type * as z from 'zod'
import { formatOfFile } from '../../archives/archive/archive.ts'
import type { Spool, SpoolFile } from '../../archives/spool/spool.ts'
import { hasReason, messageOf, printable } from '../../base/errors/errors.ts'
import { Bounded } from '../../base/memory/memory.ts'
import type { Clock } from '../../base/pacing/pacing.ts'
import { counter, type Metrics } from '../../base/telemetry/telemetry.ts'
import {
  type DownloadedFile,
  type Egress,
  type EgressAnswer,
  EgressError,
  type EgressRequest,
  shownUrl,
} from '../egress/egress.ts'
import { archiveTooLarge, expectStatus, FillError, parseJson, statusError } from './errors.ts'
import type { FetchedFile, FetchOptions, ModuleUpstream } from './types.ts'

const listMs = 60_000
const fetchMs = 30 * 60_000

/** Requests of sources, with failures as FillErrors. */
export class UpstreamClient {
  readonly egress: Egress
  readonly #spool: Spool
  readonly #bytes: ReturnType<typeof createBytesCounter>
  readonly #clock: Clock
  /** By host, as of its last answer. */
  readonly #skews = new Bounded<number>({ maxEntries: 1000 })

  constructor(egress: Egress, spool: Spool, metrics: Metrics, clock: Clock) {
    this.#clock = clock
    this.egress = egress
    this.#spool = spool
    this.#bytes = createBytesCounter(metrics)
  }

  /** @throws FillError; FetchFailed if the answer is too large */
  async ask(url: string, request: EgressRequest): Promise<EgressAnswer> {
    const answer = await this.translated(
      this.egress.request(url, { deadlineMs: listMs, ...request }),
    )
    this.#skews.set(new URL(url).host, skewOf(answer, this.#clock()))
    return answer
  }

  /** How far the clock of a host is ahead of this one; undefined if nobody knows. */
  skewMs(host: string): number | undefined {
    const skewMs = this.#skews.get(host)
    return Number.isNaN(skewMs) ? undefined : skewMs
  }

  /** @throws FillError if the status is not 200 or the answer does not fit the schema */
  async json<T>(url: string, schema: z.ZodType<T>, request: EgressRequest): Promise<T> {
    const headers = { accept: 'application/json', ...request.headers }
    return parseJson(expectStatus(await this.ask(url, { ...request, headers }), 200), schema)
  }

  /** Downloads an archive into the spool. @throws FillError */
  async fetch(
    url: string,
    type: ModuleUpstream['type'],
    { onWaiting, signal, urgent, ...options }: FetchOptions,
    request: Partial<EgressRequest>,
  ): Promise<FetchedFile> {
    const { limits } = options
    const maxBytes = Math.min(limits.packedBytes, this.#spool.sizeBytes)
    let file: SpoolFile | undefined
    const into = async (announced: number | undefined): Promise<string> => {
      file = await this.#spool.reserve(announced ?? maxBytes, { signal, onWaiting })
      return file.path
    }
    try {
      const download = await this.translated(
        this.egress.download(url, {
          deadlineMs: fetchMs,
          ...request,
          signal,
          urgent,
          into,
          maxBytes,
        }),
        limits,
      )
      if (file === undefined) throw new FillError('FetchFailed', `${shownUrl(url)} sent no bytes`)
      await requireArchive(file.path, download)
      const { sizeBytes, sha256 } = download
      this.countBytes(type, sizeBytes)
      file.shrink(sizeBytes)
      return { file, sizeBytes, sha256 }
    } catch (error) {
      await file?.remove()
      throw error
    }
  }

  countBytes(source: ModuleUpstream['type'], bytes: number): void {
    this.#bytes.inc({ source }, bytes)
  }

  /** @param limits of an archive; more than that is ArchiveTooLarge */
  async translated<T>(work: Promise<T>, limits?: FetchOptions['limits']): Promise<T> {
    try {
      return await work
    } catch (error) {
      throw sourceError(error, limits)
    }
  }
}

/** @returns NaN if the answer does not say the time */
function skewOf({ header }: EgressAnswer, nowMs: number): number {
  // A cache sends an answer with its original date.
  const ageMs = 1000 * Number(header('age') ?? 0)
  return Date.parse(header('date') ?? '') + ageMs - nowMs
}

const createBytesCounter = (metrics: Metrics) =>
  counter(metrics, {
    name: 'fetch_bytes_total',
    help: 'Bytes of fetched archives, by type of source.',
    labels: ['source'],
  })

/** Translates errors of egress and spool; other errors stay as they are. */
function sourceError(thrown: unknown, limits: FetchOptions['limits'] | undefined): unknown {
  if (thrown instanceof EgressError) {
    const { status, message, retryAfterMs, reason } = thrown
    if (reason === 'TooLarge' && limits !== undefined) {
      return archiveTooLarge('the archive of the upstream', limits, thrown)
    }
    if (status !== undefined) return statusError(status, message, thrown)
    return new FillError(reasonOf(thrown), message, { cause: thrown, retryAfterMs })
  }
  if (hasReason(thrown, 'ArchiveTooLarge')) {
    return new FillError('ArchiveTooLarge', messageOf(thrown), { cause: thrown })
  }
  return thrown
}

function reasonOf({ reason }: EgressError) {
  if (reason === 'EgressRefused' || reason === 'RateLimited') return reason
  if (reason === 'Timeout') return 'UpstreamTimeout'
  return reason === 'DiskFailed' ? 'WaitingForSpool' : 'FetchFailed'
}

/** Refuses downloads that are not archives: servers send a page of HTML with status 200 when they mean an error. */
async function requireArchive(path: string, { header, url }: DownloadedFile): Promise<void> {
  try {
    await formatOfFile(path)
  } catch (cause) {
    const type = printable(header('content-type') ?? 'unknown', 60)
    throw new FillError(
      'FetchFailed',
      `${shownUrl(url)} sent no archive (content type ${type}): ${messageOf(cause)}`,
      { cause },
    )
  }
}
