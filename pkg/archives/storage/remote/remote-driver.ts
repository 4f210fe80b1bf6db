import type { Readable } from 'node:stream'
import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises'
import type { RegistryError } from '../../../base/errors/errors.ts'
import { discard } from '../../../base/http/http.ts'
import { withDeadline } from '../../../base/pacing/pacing.ts'
import { type ByteSource, noAnswer } from '../../spool/spool.ts'
import {
  type ByteRange,
  checkObjectName,
  createVerifying,
  type Driver,
  isRange,
  notSatisfiable,
  type ObjectInfo,
  type OpenObject,
  type WritableDriver,
} from '../driver.ts'
import { badGateway, connectionError, refusalError } from './remote-error.ts'
import type { RemoteStore } from './remote-store.ts'
import { RemoteWriting } from './remote-writing.ts'
import { type RemoteOptions, readRetries, StoreClient } from './store-client.ts'
import type { StoreAnswer } from './transport.ts'

/** The objects of a bucket or container, over HTTP. */
export function createRemoteDriver(options: RemoteOptions): WritableDriver {
  const client = new StoreClient(options)
  const reading = new RemoteReading(options, client)
  const writing = new RemoteWriting(options, client, reading)
  return {
    stat: (object) => reading.stat(object),
    open: (object, range) => reading.open(object, range),
    presign: (object, ttlSeconds) => reading.presign(object, ttlSeconds),
    put: (object, file, how) => writing.put(object, file, how),
    remove: (object) => writing.remove(object),
    list: (prefix) => writing.list(prefix),
    ...createVerifying(reading, (object) => reportedBy(options.store, client, object)),
  }
}

/** Reads the digest that a store reports. A store without checksums may fail here, so errors are not reported. */
async function reportedBy({ checksum }: RemoteStore, client: StoreClient, object: string) {
  if (checksum === undefined) return undefined
  try {
    const sign = () => checksum.request(checkObjectName(object))
    const answer = await client.send({ method: 'HEAD', sign }, { ...readRetries, attempts: 1 })
    discardHead(answer)
    const sha256 = answer.status === 200 ? checksum.sha256(answer.header) : undefined
    if (sha256 === undefined) return undefined
    return { sizeBytes: Number(answer.header('content-length')), sha256 }
  } catch {
    return undefined
  }
}

class RemoteReading implements Driver {
  readonly #options: RemoteOptions
  readonly #client: StoreClient

  constructor(options: RemoteOptions, client: StoreClient) {
    this.#options = options
    this.#client = client
  }

  async stat(object: string): Promise<ObjectInfo> {
    const answer = await this.#ask('HEAD', checkObjectName(object))
    if (answer.status !== 200) throw await this.#refusalOf(object, answer)
    discardHead(answer)
    return infoOf(this.#options.store, object, answer, Number(answer.header('content-length')))
  }

  async open(object: string, range?: ByteRange): Promise<OpenObject> {
    checkObjectName(object)
    const { store } = this.#options
    if (range !== undefined && !isRange(range)) throw await this.#outOfRange(object)
    const answer = await this.#part(object, range)
    if (answer.status === 416) {
      discard(answer.body)
      throw await this.#outOfRange(object)
    }
    if (answer.status !== 200 && answer.status !== 206) throw await refusalError(store, answer)
    const given = givenPart(answer)
    if (given === undefined || (range && !begins(range, given))) {
      discard(answer.body)
      // Azurite answers 206 even if the range is beyond the end.
      const { sizeBytes } = await this.stat(object)
      if (range && range.start >= sizeBytes) throw notSatisfiable(sizeBytes)
      throw badGateway('the answer of the archive storage cannot be understood')
    }
    const { sizeBytes, start, end } = given
    const last = Math.min(end, range?.end ?? end)
    const body = await RemoteSource.open(answer, {
      range: { start, end: last },
      excess: end > last,
      idleMs: this.#options.timings.idleMs,
      pauseMs: (failures) => this.#client.pauseMs(failures),
      resume: (from) => this.#resume(object, from, { etag: answer.header('etag'), sizeBytes }),
      errorOf: (error) => connectionError(store, error),
    })
    return { info: infoOf(store, object, answer, sizeBytes), body }
  }

  async presign(object: string, ttlSeconds: number): Promise<string> {
    const { store } = this.#options
    return this.#client.signed(store.presign(checkObjectName(object), ttlSeconds))
  }

  #ask(method: 'GET' | 'HEAD', object: string, headers: Record<string, string> = {}) {
    const sign = () => this.#options.store.request(method, object)
    return this.#client.send({ method, sign, headers }, readRetries)
  }

  #part(object: string, range: ByteRange | undefined, etag?: string): Promise<StoreAnswer> {
    return this.#ask('GET', object, {
      ...(range && { range: `bytes=${range.start}-${range.end}` }),
      ...(etag !== undefined && { 'if-match': etag }),
    })
  }

  /** Requests the rest of an object after its connection failed, if it is still the same object. */
  async #resume(
    object: string,
    from: ByteRange,
    { etag, sizeBytes }: { readonly etag: string | undefined; readonly sizeBytes: number },
  ): Promise<StoreAnswer> {
    const next = await this.#part(object, from, etag)
    const rest = next.status === 206 ? givenPart(next) : undefined
    if (rest?.start === from.start && rest.sizeBytes === sizeBytes) return next
    throw await refusalError(this.#options.store, next)
  }

  /** An answer to HEAD has no body, so the store cannot explain a refusal there. */
  async #refusalOf(object: string, head: StoreAnswer): Promise<RegistryError> {
    const { store } = this.#options
    if (head.status < 400 || head.status === 404) return refusalError(store, head)
    discardHead(head)
    const sign = () => store.request('GET', object)
    const sending = { method: 'GET', sign, headers: { range: 'bytes=0-0' } } as const
    const answer = await this.#client.send(sending, { ...readRetries, attempts: 1 })
    if (answer.status >= 400) return refusalError(store, answer)
    discard(answer.body)
    return refusalError(store, head)
  }

  async #outOfRange(object: string): Promise<RegistryError> {
    return notSatisfiable((await this.stat(object)).sizeBytes)
  }
}

/** The bytes in an answer, and the size of the whole object. */
function givenPart({ status, header }: StoreAnswer) {
  if (status === 206) {
    const [, start, end, size] =
      /^bytes (\d+)-(\d+)\/(\d+)$/.exec(header('content-range') ?? '') ?? []
    return size === undefined
      ? undefined
      : { start: Number(start), end: Number(end), sizeBytes: Number(size) }
  }
  const length = header('content-length')
  const sizeBytes = Number(length)
  if (length === undefined || !Number.isSafeInteger(sizeBytes)) return undefined
  return { start: 0, end: sizeBytes - 1, sizeBytes }
}

/** Some stores send the whole object for a range. That is accepted if it begins at the same byte. */
function begins(range: ByteRange, given: { start: number; end: number }): boolean {
  return given.start === range.start && given.end >= given.start
}

function infoOf(
  { backend, name }: RemoteStore,
  object: string,
  answer: StoreAnswer,
  sizeBytes: number,
): ObjectInfo {
  const etag = answer.header('etag')
  if (etag === undefined || etag.startsWith('W/')) return { sizeBytes }
  return { sizeBytes, fingerprint: JSON.stringify([backend, name, object, etag, sizeBytes]) }
}

/** The empty body of the answer to HEAD must be read before its connection can be reused. */
function discardHead({ body }: StoreAnswer): void {
  body.resume()
}

/** After this many bytes, other work gets a turn, because a fast store fills kernel buffers faster than they are read. */
const turnBytes = 64 * 1024
/** Maximum number of consecutive failures without a single byte. */
const maxFailures = 4
/** Maximum number of failures in total: one every few MB is tolerable, one every chunk is not. */
const maxBreaks = 50

interface Resuming {
  /** The bytes of the answer that the reader wants, both ends included. */
  readonly range: ByteRange
  /** Whether the store sends more than that. */
  readonly excess: boolean
  readonly idleMs: number
  /** How long to wait before the next attempt, in ms. */
  readonly pauseMs: (failures: number) => number
  /** Requests the rest of the same object. @throws RegistryError if the object has changed or there is no answer */
  readonly resume: (range: ByteRange) => Promise<StoreAnswer>
  readonly errorOf: (error: unknown) => Error
}

/** The body of an answer. If the connection fails, it resumes at the byte where it stopped. */
class RemoteSource implements ByteSource {
  readonly #options: Resuming
  readonly #end: number
  #body: Readable
  #position: number
  #first: Uint8Array | undefined
  #bytesThisTurn = 0
  #failures = 0
  #breaks = 0
  #closed = false

  private constructor(body: Readable, options: Resuming) {
    this.#body = body
    this.#options = options
    this.#position = options.range.start
    this.#end = options.range.end
  }

  static async open({ body }: StoreAnswer, options: Resuming): Promise<RemoteSource> {
    const source = new RemoteSource(body, options)
    source.#first = await source.#next()
    return source
  }

  async read(): Promise<Uint8Array | undefined> {
    const chunk = this.#first ?? (await this.#next())
    this.#first = undefined
    return chunk
  }

  close(): void {
    if (this.#closed) return
    this.#closed = true
    discard(this.#body)
  }

  async #next(): Promise<Uint8Array | undefined> {
    while (!this.#closed) {
      if (this.#position > this.#end) {
        this.#finish()
        return undefined
      }
      const chunk = await this.#attempt()
      if (chunk !== undefined) return chunk
    }
    return undefined
  }

  /** Reads a chunk; undefined if the connection failed and may be retried. */
  async #attempt(): Promise<Uint8Array | undefined> {
    let failure: unknown = new Error('the body ended too early')
    try {
      if (this.#bytesThisTurn >= turnBytes) {
        await turn()
        this.#bytesThisTurn = 0
      }
      const chunk = await nextChunk(this.#body, this.#options.idleMs)
      if (chunk !== undefined) {
        this.#failures = 0
        this.#bytesThisTurn += chunk.length
        return this.#counted(chunk)
      }
    } catch (error) {
      failure = error
    }
    discard(this.#body)
    if (this.#closed) return undefined
    this.#failures += 1
    this.#breaks += 1
    if (this.#failures > maxFailures || this.#breaks > maxBreaks) {
      throw this.#options.errorOf(failure)
    }
    await sleep(this.#options.pauseMs(this.#failures))
    if (this.#closed) return undefined
    const { body } = await this.#options.resume({ start: this.#position, end: this.#end })
    this.#body = body
    if (this.#closed) discard(body)
    return undefined
  }

  /** Never more than was requested. */
  #counted(chunk: Uint8Array): Uint8Array {
    const wanted = chunk.subarray(0, this.#end + 1 - this.#position)
    this.#position += wanted.length
    return wanted
  }

  /** Waits for the end of the answer, so that its connection can be reused. */
  #finish(): void {
    if (this.#options.excess) discard(this.#body)
    else this.#body.resume()
  }
}

/** The next bytes of a stream, undefined at its end. */
async function nextChunk(body: Readable, idleMs: number): Promise<Uint8Array | undefined> {
  for (;;) {
    // Reads only buffered bytes: a read without a size requests more first, and copies both into one.
    const chunk = body.read(body.readableLength || undefined) as Buffer | null
    if (chunk !== null) return chunk
    if (body.readableEnded) return undefined
    if (body.destroyed) throw body.errored ?? new Error('the connection was closed')
    await withDeadline(readable(body), idleMs, noAnswer)
  }
}

/** Resolves when there is something to read, or at the end; rejects when the stream fails. */
function readable(body: Readable): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const onClose = () => resolve()
  body.on('readable', resolve).on('end', onClose).on('error', reject).on('close', onClose)
  return promise.finally(() => {
    body.off('readable', resolve).off('end', onClose).off('error', reject).off('close', onClose)
  })
}
