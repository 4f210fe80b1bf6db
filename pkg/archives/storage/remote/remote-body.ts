import type { Readable } from 'node:stream'
import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises'
import { discard } from '../../../base/http/http.ts'
import { withDeadline } from '../../../base/pacing/pacing.ts'
import { type ByteSource, noAnswer } from '../../spool/spool.ts'
import type { ByteRange } from '../driver.ts'
import type { StoreAnswer } from './transport.ts'

/** After this many bytes, other work gets a turn, because a fast store fills kernel buffers faster than they are read. */
const turnBytes = 64 * 1024
/** Maximum number of consecutive failures without a single byte. */
const maxFailures = 4
/** Maximum number of failures in total: one every few MB is tolerable, one every chunk is not. */
const maxBreaks = 50

export interface Resuming {
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
export class RemoteSource implements ByteSource {
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
