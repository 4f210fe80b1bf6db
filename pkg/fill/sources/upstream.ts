import { open } from 'node:fs/promises'
import * as z from 'zod'
import type { Spool, SpoolFile } from '../../archives/spool/spool.ts'
import type { Clock } from '../../base/pacing/pacing.ts'
import {
  type Download,
  type Egress,
  type EgressAnswer,
  type EgressRequest,
  printable,
  shownUrl,
} from '../egress/egress.ts'
import { SourceError } from './errors.ts'
import type { FetchSourceMetrics } from './metrics.ts'
import type { FetchOptions, ModuleSource } from './module-source.ts'
import { sourceError, statusError } from './upstream-errors.ts'

const listMs = 60_000
const fetchMs = 30 * 60_000

type Request = Pick<
  EgressRequest,
  'headers' | 'credential' | 'ca' | 'urgent' | 'namedByUpstream'
> & {
  readonly method?: 'GET' | 'HEAD' | 'POST'
  readonly body?: string
  readonly maxBytes?: number
  readonly signal: AbortSignal
}

export interface Fetched {
  readonly file: SpoolFile
  readonly download: Download
}

/** Requests of sources, whose failures are those of sources. */
export class Upstream {
  readonly egress: Egress
  readonly #spool: Spool
  readonly #metrics: FetchSourceMetrics
  readonly #clock: Clock

  constructor(egress: Egress, spool: Spool, metrics: FetchSourceMetrics, clock: Clock) {
    this.egress = egress
    this.#spool = spool
    this.#metrics = metrics
    this.#clock = clock
  }

  /** @throws SourceError; an answer that is too large is FetchFailed */
  async ask(url: string, request: Request): Promise<EgressAnswer> {
    return this.explained(this.egress.request(url, { deadlineMs: listMs, ...request }))
  }

  /** @throws SourceError where the status is not 200 or the answer is not what the schema says */
  async json<T>(url: string, schema: z.ZodType<T>, request: Request): Promise<T> {
    const answer = await this.ask(url, {
      ...request,
      headers: { accept: 'application/json', ...request.headers },
    })
    if (answer.status !== 200) throw unexpected(answer)
    return parseJson(answer, schema)
  }

  /**
   * Downloads into the spool.
   *
   * @param kind `bytes` for anything, `archive` for what begins like a zip or a (packed) tar
   * @throws SourceError
   */
  async fetch(
    url: string,
    type: ModuleSource['type'],
    request: Request,
    { onWaiting, maxBytes, signal }: FetchOptions,
  ): Promise<Fetched> {
    let file: SpoolFile | undefined
    const into = async (announced: number | undefined): Promise<string> => {
      file = await this.#spool.reserve(announced ?? Math.min(maxBytes, this.#spool.sizeBytes), {
        signal,
        ...(onWaiting !== undefined && { onWaiting }),
      })
      return file.path
    }
    try {
      const limit = Math.min(maxBytes, this.#spool.sizeBytes)
      const options = { deadlineMs: fetchMs, ...request, into, maxBytes: limit, signal }
      const work = this.egress.download(url, options)
      const download = await this.explained(work, 'ArchiveTooLarge')
      if (file === undefined) throw new SourceError('FetchFailed', `${shownUrl(url)} gave no bytes`)
      await checkBeginning(file.path, download)
      this.#metrics.bytes.inc({ source: type }, download.sizeBytes)
      file.shrink(download.sizeBytes)
      return { file, download }
    } catch (error) {
      await file?.remove()
      throw error
    }
  }

  /** @param tooLarge what it means that there is more than was allowed */
  async explained<T>(
    work: Promise<T>,
    tooLarge: 'FetchFailed' | 'ArchiveTooLarge' = 'FetchFailed',
  ): Promise<T> {
    try {
      return await work
    } catch (error) {
      throw sourceError(error, this.#clock(), tooLarge)
    }
  }
}

/** The mark to ask with the next time, where it can be sent back as it is. */
export function etagOf({ header }: EgressAnswer): { readonly etag?: string } {
  const etag = header('etag')
  return etag !== undefined && /^[!-~]{1,255}$/.test(etag) ? { etag } : {}
}

const maxMessageBytes = 64 * 1024

/** What an answer with an unexpected status means. */
export function unexpected({ status, url, header, body }: EgressAnswer): SourceError {
  const type = header('content-type') ?? ''
  const isShort = body.length <= maxMessageBytes
  const said =
    isShort && /json|text\/plain/.test(type) ? printable(messageIn(body.toString()), 100) : ''
  const what = `${shownUrl(url)} answered with status ${status}${said === '' ? '' : ` ("${said}")`}`
  return statusError(status, what)
}

const Message = z.object({ message: z.string().optional(), errors: z.array(z.string()).optional() })

/** The words of an error that was sent as JSON, else the text. */
function messageIn(text: string): string {
  if (!text.startsWith('{')) return text
  const parsed = safeJson(text)
  const { data } = Message.safeParse(parsed)
  return data?.message ?? data?.errors?.join(', ') ?? ''
}

function safeJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Each value costs many times its bytes, and again where it is not what was expected. Lists of providers have 30,000. */
const maxValues = 200_000
const separators: ReadonlySet<number> = new Set([0x2c, 0x5b, 0x7b])

/** At least as many as there are: some of the separators may be in texts. */
function valuesIn(json: Buffer): number {
  let count = 1
  for (const byte of json) if (separators.has(byte)) count += 1
  return count
}

/** @throws SourceError FetchFailed */
export function parseJson<T>({ body, url, header }: EgressAnswer, schema: z.ZodType<T>): T {
  const at = shownUrl(url)
  if (valuesIn(body) > maxValues) {
    const message = `${at} answered with JSON of more than ${maxValues} values`
    throw new SourceError('FetchFailed', message)
  }
  const value = safeJson(body.toString())
  if (value === undefined) {
    const type = printable(header('content-type') ?? 'unknown', 60)
    throw new SourceError(
      'FetchFailed',
      `${at} answered with status 200 and no JSON (content type ${type})`,
    )
  }
  const { data, error } = schema.safeParse(value)
  if (error === undefined) return data
  const where = error.issues[0]?.path.join('.') ?? ''
  throw new SourceError(
    'FetchFailed',
    `${at} answered with JSON of another form, at "${printable(where, 60)}"`,
  )
}

/** Servers answer with a page of HTML and status 200 where they mean an error. */
async function checkBeginning(path: string, { header, url }: Download): Promise<void> {
  const file = await open(path)
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(265), 0, 265, 0)
    const bytes = buffer.subarray(0, bytesRead)
    const isArchive =
      bytes.subarray(0, 2).equals(gzip) ||
      bytes.subarray(0, 2).equals(zip) ||
      bytes.subarray(257, 262).toString('latin1') === 'ustar'
    if (isArchive) return
    const type = printable(header('content-type') ?? 'unknown', 60)
    throw new SourceError(
      'FetchFailed',
      `${shownUrl(url)} gave no archive but ${kindOf(bytes)} (content type ${type})`,
    )
  } finally {
    await file.close()
  }
}

const gzip = Buffer.from([0x1f, 0x8b])
const zip = Buffer.from('PK')

function kindOf(bytes: Buffer): string {
  const text = bytes.toString('latin1').trimStart().toLowerCase()
  if (bytes.length === 0) return 'nothing'
  if (text.startsWith('<')) return 'HTML or XML'
  if (text.startsWith('{') || text.startsWith('[')) return 'JSON'
  return /^[\t\n\r -~]*$/.test(text) ? 'text' : 'bytes of another format'
}
