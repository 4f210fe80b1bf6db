import { Readable } from 'node:stream'
import type { ReadableStream as NodeReadableStream } from 'node:stream/web'
import { Agent } from 'undici'
import { RegistryError } from '../errors/errors.ts'

export interface UpstreamRequest {
  readonly method: string
  /** With the query. */
  readonly path: string
  readonly headers: readonly [name: string, value: string][]
  readonly body: ReadableStream<Uint8Array> | null
  /** Of the client, which may go away. */
  readonly signal: AbortSignal
}

export interface UpstreamAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[]>>
  /** Null where there is none. */
  readonly body: ReadableStream<Uint8Array> | null
}

const connections = 64
const connectTimeoutMs = 5000
const maxRunning = 256
const withoutBody: ReadonlySet<number> = new Set([204, 205, 304])

/** The broker at the other end. Redirects are handed back, and bodies are not decoded. */
export class Upstream {
  readonly #agent: Agent
  readonly #origin: string
  readonly #timeoutMs: number
  #running = 0

  constructor(origin: string, timeoutMs: number) {
    this.#origin = origin
    this.#timeoutMs = timeoutMs
    this.#agent = new Agent({
      allowH2: false,
      connections,
      headersTimeout: timeoutMs,
      bodyTimeout: timeoutMs,
      connect: { timeout: Math.min(connectTimeoutMs, timeoutMs) },
    })
  }

  /** @throws Error where the broker cannot be reached or is too slow */
  async send({ method, path, headers, body, signal }: UpstreamRequest): Promise<UpstreamAnswer> {
    if (this.#running >= maxRunning) {
      throw new RegistryError('Unavailable', 'too many logins at once: try again in a moment')
    }
    this.#running += 1
    let failure: unknown
    const source = body && Readable.fromWeb(body as NodeReadableStream)
    source?.once('error', (error) => {
      failure = error
    })
    try {
      const answer = await this.#agent.request({
        origin: this.#origin,
        method,
        path,
        headers: headers.flat(),
        body: source,
        signal: AbortSignal.any([signal, AbortSignal.timeout(this.#timeoutMs)]),
      })
      const { statusCode: status } = answer
      const empty = method === 'HEAD' || withoutBody.has(status)
      if (empty) await answer.body.dump()
      return {
        status,
        headers: answer.headers as Record<string, string | string[]>,
        body: empty ? null : Readable.toWeb(answer.body),
      }
    } catch (error) {
      throw failure ?? error
    } finally {
      this.#running -= 1
    }
  }

  close(): Promise<void> {
    return this.#agent.destroy()
  }
}
