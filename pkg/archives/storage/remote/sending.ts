import { setTimeout as sleep } from 'node:timers/promises'
import { RegistryError } from '../../../base/errors/errors.ts'
import { discard } from '../../../base/http/http.ts'
import { backoff } from './backoff.ts'
import type { RemoteOptions } from './remote-driver.ts'
import { connectionError } from './remote-error.ts'
import type { StoreAnswer } from './transport.ts'

const maxAttempts = 4

/** Sends until there is an answer that sending again would not better. */
export type Send = (once: () => Promise<StoreAnswer>, signal?: AbortSignal) => Promise<StoreAnswer>

export function createSend({ store, timings }: Pick<RemoteOptions, 'store' | 'timings'>): Send {
  return async (once, signal) => {
    for (let attempt = 1; ; attempt += 1) {
      signal?.throwIfAborted()
      const outcome = await once().catch((thrown: unknown) => {
        signal?.throwIfAborted()
        return connectionError(store, thrown)
      })
      const passing = outcome instanceof RegistryError ? outcome.retry : isPassing(outcome.status)
      if (!passing || attempt === maxAttempts) {
        if (outcome instanceof RegistryError) throw outcome
        return outcome
      }
      if (!(outcome instanceof RegistryError)) discard(outcome.body)
      await sleep(backoff(timings.backoffMs, attempt), undefined, { signal })
    }
  }
}

const isPassing = (status: number): boolean => [429, 500, 502, 503, 504].includes(status)
