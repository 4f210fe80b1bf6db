import { createSecureContext } from 'node:tls'
import { isDeepStrictEqual } from 'node:util'
import { Agent, type Dispatcher, ProxyAgent } from 'undici'
import type { Connection, Credentials } from './connection.ts'
import { identityOf } from './identity.ts'
import { Outcome, outcomeOfStatus, outcomeOfThrown } from './outcome.ts'
import type { Timings } from './timings.ts'

const maxStatusBytes = 64 * 1024

export interface Exchange {
  /** Path and query under the address of the API server. */
  readonly path: string
  readonly signal: AbortSignal
  /** How long the body may take, from its first byte to its last. */
  readonly deadlineMs: number
  /** How long the body may be silent. */
  readonly idleMs: number
}

/** Requests to one API server over one pool of connections, with fresh credentials each time. */
export class Transport {
  readonly #connection: Connection
  readonly #timings: Timings
  readonly #waiting = new Set<() => void>()
  #agent: { dispatcher: Dispatcher; for: unknown } | undefined
  #identity = 'unknown'

  constructor(connection: Connection, timings: Timings) {
    this.#connection = connection
    this.#timings = timings
  }

  /** Who the last request came from, for log lines. */
  get identity(): string {
    return this.#identity
  }

  /** Reads credentials anew before the next request, because the API server refused these. */
  reload(): void {
    this.#connection.reload()
  }

  /** Reads files again that were rewritten, because the API server cannot be reached with what they said. */
  recheck(): void {
    this.#connection.recheck()
  }

  /**
   * Calls back when some request gets an answer: who waits because the API server was away need wait no longer.
   *
   * @returns what takes it back
   */
  readonly onReached = (callback: () => void): (() => void) => {
    this.#waiting.add(callback)
    return () => this.#waiting.delete(callback)
  }

  close(): Promise<void> {
    return this.#agent?.dispatcher.destroy() ?? Promise.resolve()
  }

  /**
   * Sends a GET and hands the body of a 200 to `consume`. Everything that can go wrong is an Outcome, never a throw.
   */
  async read<T>(
    { path, signal, deadlineMs, idleMs }: Exchange,
    consume: (body: AsyncIterable<Buffer>) => Promise<T>,
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
    let body: Dispatcher.ResponseData['body'] | undefined
    try {
      signal.throwIfAborted()
      const reply = await this.#send(path, abort.signal, idleMs)
      body = reply.body
      clearTimeout(timer)
      timer = setTimeout(expire, deadlineMs)
      if (reply.statusCode === 200) {
        for (const callback of this.#waiting) callback()
        return await consume(body)
      }
      const status = await readStatus(body)
      return outcomeOfStatus(status, reply.statusCode, retryAfterMs(reply.headers['retry-after']))
    } catch (thrown) {
      return late ? new Outcome('deadline', 'the answer took too long') : outcomeOfThrown(thrown)
    } finally {
      clearTimeout(timer)
      signal.removeEventListener('abort', stop)
      body?.on('error', () => undefined).destroy()
    }
  }

  async #send(path: string, signal: AbortSignal, idleMs: number): Promise<Dispatcher.ResponseData> {
    const credentials = await orAborted(this.#connection.credentials(), signal)
    this.#identity = identityOf(credentials)
    const { origin, pathname } = new URL(credentials.server)
    return this.#dispatcher(credentials).request({
      method: 'GET',
      origin,
      path: `${pathname === '/' ? '' : pathname}${path}`,
      headers: { ...credentials.headers, accept: 'application/json', 'user-agent': 'depot' },
      signal,
      headersTimeout: 0,
      bodyTimeout: idleMs,
    })
  }

  /** One pool, made again when a certificate or an authority has changed; running watches end on the old one. */
  #dispatcher({ tls, proxyUrl }: Credentials): Dispatcher {
    if (this.#agent !== undefined && isDeepStrictEqual(this.#agent.for, { tls, proxyUrl })) {
      return this.#agent.dispatcher
    }
    const { servername, rejectUnauthorized, ...rest } = tls
    const options = {
      secureContext: createSecureContext(rest),
      ...(servername !== undefined && { servername }),
      ...(rejectUnauthorized !== undefined && { rejectUnauthorized }),
      allowH2: false,
    }
    const connect = { keepAlive: true, keepAliveInitialDelay: 30_000, timeout: 10_000 }
    const dispatcher =
      proxyUrl === undefined
        ? new Agent({ allowH2: false, connect: { ...connect, ...options } })
        : new ProxyAgent({ uri: proxyUrl, allowH2: false, requestTls: options, connect })
    void this.#agent?.dispatcher.close().catch(() => undefined)
    this.#agent = { dispatcher, for: { tls, proxyUrl } }
    return dispatcher
  }
}

/** @param header seconds, or a date */
function retryAfterMs(header: string | string[] | undefined): number | undefined {
  const text = Array.isArray(header) ? header[0] : header
  if (text === undefined) return undefined
  const ms = /^\d+$/.test(text) ? Number(text) * 1000 : Date.parse(text) - Date.now()
  return Number.isFinite(ms) ? Math.max(0, ms) : undefined
}

async function readStatus(body: AsyncIterable<Buffer>): Promise<unknown> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of body) {
    bytes += chunk.length
    if (bytes > maxStatusBytes) break
    chunks.push(chunk)
  }
  const text = Buffer.concat(chunks).toString()
  try {
    return JSON.parse(text)
  } catch {
    return { message: text.slice(0, 200) }
  }
}

async function orAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const aborted = Promise.withResolvers<never>()
  const onAbort = () => aborted.reject(signal.reason)
  signal.addEventListener('abort', onAbort, { once: true })
  try {
    return await Promise.race([work, aborted.promise])
  } finally {
    signal.removeEventListener('abort', onAbort)
  }
}
