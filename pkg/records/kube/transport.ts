import { X509Certificate } from 'node:crypto'
import { Readable } from 'node:stream'
import { jsonOf } from '../../base/errors/errors.ts'
import {
  type Answer,
  createPool,
  discard,
  readBounded,
  retryAfterMs,
} from '../../base/http/http.ts'
import { type Clock, untilAborted } from '../../base/pacing/pacing.ts'
import type { Connection, Credentials } from './connection.ts'
import { Outcome, outcomeOfStatus, outcomeOfThrown } from './outcome.ts'
import type { Timings } from './timings.ts'

const maxStatusBytes = 64 * 1024

export interface Exchange {
  /** Path and query under the address of the API server. */
  readonly path: string
  /** Default: JSON of the whole. */
  readonly accept?: string | undefined
  readonly signal: AbortSignal
  /** Limit from the first byte of the body to the last, in milliseconds. */
  readonly deadlineMs: number
  /** Limit between two chunks of the body, in milliseconds. */
  readonly idleMs: number
  /** The write. Default: a GET. */
  readonly write?: Write | undefined
  /** Decides right before the first byte whether the write is still allowed. Default: it is. */
  readonly mayBegin?: (() => boolean) | undefined
}

export interface Write {
  readonly method: 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  readonly contentType: string
  readonly body: string
}

/** Requests to one API server over one pool of connections, with current credentials each time. */
export class Transport {
  readonly #connection: Connection
  readonly #timings: Timings
  readonly #waiting = new Set<() => void>()
  /** The deadlines are those of an exchange, below. A watch ends on the connection that it began on. */
  readonly #pool = createPool({ connectMs: 10_000, headersMs: 0, idleMs: 0 })
  #identity = 'unknown'
  readonly #clock: ServerClock

  /** @param clock of the machine */
  constructor(connection: Connection, timings: Timings, clock: Clock = Date.now) {
    this.#clock = new ServerClock(clock)
    this.#connection = connection
    this.#timings = timings
  }

  /** Identity of the last request, for log lines. */
  get identity(): string {
    return this.#identity
  }

  /** The clock of the API server, as far as its answers have the time. */
  get serverClock(): Clock {
    return this.#clock.now
  }

  /** Reads credentials again before the next request, because the API server refused these. */
  reload(): void {
    this.#connection.reload()
  }

  /** Reads changed files again, because the API server cannot be reached with their previous content. */
  recheck(): void {
    this.#connection.recheck()
  }

  /**
   * Calls back when a request gets an answer, to end waits for an unreachable API server.
   *
   * @returns a function that removes the callback
   */
  readonly onReached = (callback: () => void): (() => void) => {
    this.#waiting.add(callback)
    return () => this.#waiting.delete(callback)
  }

  close(): Promise<void> {
    return this.#pool.close()
  }

  /** Sends a request and passes the body of a good answer to `consume`. Every failure is an Outcome, never a throw. */
  async read<T>(
    { path, accept, signal, deadlineMs, idleMs, write, mayBegin }: Exchange,
    consume: (body: Answer['body']) => Promise<T>,
  ): Promise<T | Outcome> {
    const abort = new AbortController()
    const stop = () => abort.abort(signal.reason)
    let late = false
    const expire = () => {
      late = true
      abort.abort(new Error('the deadline has passed'))
    }
    signal.addEventListener('abort', stop, { once: true })
    let timer = setTimeout(expire, this.#timings.headersMs)
    let body: Answer['body'] | undefined
    try {
      signal.throwIfAborted()
      const reply = await this.#send({
        path,
        accept,
        signal: abort.signal,
        idleMs,
        write,
        mayBegin,
      })
      body = reply.body
      clearTimeout(timer)
      timer = setTimeout(expire, deadlineMs)
      if (reply.status >= 200 && reply.status < 300) {
        this.#clock.learn(reply.header)
        for (const callback of this.#waiting) callback()
        return await consume(body)
      }
      const status = await readStatus(body)
      const waitMs = retryAfterMs(reply.header('retry-after'), Date.now())
      return outcomeOfStatus(status, reply.status, waitMs)
    } catch (thrown) {
      return late ? new Outcome('Timeout', 'the answer took too long') : outcomeOfThrown(thrown)
    } finally {
      clearTimeout(timer)
      signal.removeEventListener('abort', stop)
      if (body !== undefined) discard(body)
    }
  }

  async #send({
    path,
    accept = 'application/json',
    signal,
    idleMs,
    write,
    mayBegin,
  }: Omit<Exchange, 'deadlineMs'>): Promise<Answer> {
    const credentials = await untilAborted(this.#connection.credentials(), signal)
    this.#identity = identityOf(credentials)
    const { server, tls: trust, proxyUrl, headers } = credentials
    const { origin, pathname } = new URL(server)
    const isAsked = write !== undefined && mayBegin !== undefined
    return this.#pool.send(
      { origin, trust, proxyUrl },
      {
        method: write?.method ?? 'GET',
        path: `${pathname === '/' ? '' : pathname}${path}`,
        headers: {
          ...headers,
          accept,
          'user-agent': 'depot',
          ...(write && { 'content-type': write.contentType }),
          ...(isAsked && { 'content-length': String(Buffer.byteLength(write.body)) }),
        },
        ...(write && { body: isAsked ? bodyOnce(write.body, mayBegin) : write.body }),
        signal,
        idleMs,
      },
    )
  }
}

/** A body that is read when the request is written. If the write is no longer allowed then, no byte is sent. */
function bodyOnce(body: string, mayBegin: () => boolean): Readable {
  const chunks = function* () {
    if (!mayBegin()) throw new Error('it may not be written any more')
    yield Buffer.from(body)
  }
  return Readable.from(chunks(), { objectMode: false })
}

async function readStatus(body: Answer['body']): Promise<unknown> {
  const text = String(await readBounded(body, maxStatusBytes))
  return jsonOf(text) ?? { message: text.slice(0, 200) }
}

/** Identity of a caller as far as its credentials tell, for log lines. */
export function identityOf({ headers, tls }: Credentials): string {
  const claims = headers['Authorization']?.split('.')[1]
  try {
    if (claims !== undefined) {
      const { sub } = JSON.parse(Buffer.from(claims, 'base64url').toString()) as { sub?: unknown }
      if (typeof sub === 'string') return sub
    }
    if (headers['Authorization'] === undefined && tls.cert !== undefined) {
      const { subject } = new X509Certificate(tls.cert as Buffer)
      return /CN=(.*)/.exec(subject)?.[1] ?? subject
    }
  } catch {
    // Neither a JWT nor a readable certificate, so the API server's message must do.
  }
  return headers['Authorization'] === undefined ? 'anonymous' : 'the bearer of the token'
}

/** Answers have whole seconds, and take a moment to arrive. Smaller differences are ignored. */
const precisionMs = 5000

/** The clock of an API server, as far as its answers tell. Several machines that work on one cluster agree on it. */
export class ServerClock {
  readonly #own: Clock
  #aheadMs = 0

  /** @param own the clock of this machine, which counts until the first answer */
  constructor(own: Clock) {
    this.#own = own
  }

  readonly now: Clock = () => this.#own() + this.#aheadMs

  /** @param header of an answer that arrived now */
  learn(header: (name: string) => string | undefined): void {
    // An answer from a cache has an old time.
    if (header('age') !== undefined) return
    const aheadMs = Date.parse(header('date') ?? '') - this.#own()
    // Steps of a second would let time run backwards.
    if (Math.abs(aheadMs - this.#aheadMs) > precisionMs) this.#aheadMs = aheadMs
  }
}
