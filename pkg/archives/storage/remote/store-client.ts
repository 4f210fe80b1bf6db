import { setTimeout as sleep } from 'node:timers/promises'
import { RegistryError } from '../../../base/errors/errors.ts'
import { discard } from '../../../base/http/http.ts'
import { backoffMs, withDeadline } from '../../../base/pacing/pacing.ts'
import { noAnswer } from '../../spool/spool.ts'
import { connectionError, credentialsError } from './remote-error.ts'
import type { RemoteStore, StoreRequest } from './remote-store.ts'
import type { RemoteTimings, StoreAnswer, StoreTransport, UploadBody } from './transport.ts'

/** The parts of a driver for one bucket or container. */
export interface RemoteOptions {
  readonly store: RemoteStore
  readonly transport: StoreTransport
  readonly timings: RemoteTimings
}

/** When to send a request again. */
export interface Retries {
  readonly attempts: number
  readonly isTemporary: (outcome: StoreAnswer | RegistryError) => boolean
}

const temporary: ReadonlySet<number> = new Set([500, 502, 503, 504])

/** Readers wait, so they get an answer that says when to come back. */
export const readRetries: Retries = {
  attempts: 3,
  isTemporary: (outcome) =>
    outcome instanceof RegistryError
      ? outcome.reason === 'Unavailable'
      : temporary.has(outcome.status) && outcome.header('retry-after') === undefined,
}

export const writeRetries: Retries = {
  attempts: 4,
  isTemporary: (outcome) =>
    outcome instanceof RegistryError
      ? outcome.retry
      : outcome.status === 429 || temporary.has(outcome.status),
}

export interface Sending {
  readonly method: 'GET' | 'HEAD' | 'DELETE' | 'PUT' | 'POST'
  /** Signs the request. Called for each attempt. */
  readonly sign: () => Promise<StoreRequest>
  readonly headers?: Record<string, string>
  /** Opens the body of an upload. Called for each attempt. */
  readonly open?: () => UploadBody
  readonly signal?: AbortSignal | undefined
}

/** Sends requests to one bucket or container, and repeats them if that may help. */
export class StoreClient {
  readonly #options: RemoteOptions

  constructor(options: RemoteOptions) {
    this.#options = options
  }

  /** Waits for a signature or a token. @throws RegistryError BadGateway */
  async signed<T>(signing: Promise<T>): Promise<T> {
    const { store, timings } = this.#options
    try {
      return await withDeadline(signing, timings.credentialsMs, noAnswer)
    } catch (error) {
      throw credentialsError(store, error)
    }
  }

  /** How long to wait after this many failures in a row. */
  pauseMs(failures: number): number {
    const { backoffMs: firstMs } = this.#options.timings
    return backoffMs({ firstMs, capMs: 5000, jitter: 'equal' }, failures)
  }

  /** @throws RegistryError; the reason of the signal once it is aborted */
  async send(sending: Sending, { attempts, isTemporary }: Retries): Promise<StoreAnswer> {
    const { signal } = sending
    for (let attempt = 1; ; attempt += 1) {
      signal?.throwIfAborted()
      const outcome = await this.#once(sending).catch((thrown: unknown) => {
        signal?.throwIfAborted()
        return connectionError(this.#options.store, thrown)
      })
      const isFinal = attempt === attempts || !isTemporary(outcome)
      if (outcome instanceof RegistryError) {
        if (isFinal) throw outcome
      } else {
        if (isFinal) return outcome
        discard(outcome.body)
      }
      await sleep(this.pauseMs(attempt), undefined, { signal })
    }
  }

  async #once({ method, sign, headers = {}, open }: Sending): Promise<StoreAnswer> {
    const request = await this.signed(sign())
    const upload = open?.()
    try {
      return await this.#options.transport.send(method, request, headers, upload)
    } finally {
      upload?.body.destroy()
    }
  }
}
