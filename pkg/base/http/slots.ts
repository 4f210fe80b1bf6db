import { RegistryError } from '../errors/errors.ts'

export interface SlotsOptions {
  /** Maximum number that is taken at once. */
  readonly max: number
  /** Maximum number of waiters. */
  readonly maxWaiting: number
  /** Maximum wait, in milliseconds. */
  readonly waitMs: number
}

interface Waiter {
  readonly take: () => void
  readonly timer: NodeJS.Timeout
}

/** Slots for work that runs at the same time. Waiting for one does not count against the deadline of the work. */
export class Slots {
  readonly #options: SlotsOptions
  readonly #waiting = new Set<Waiter>()
  #taken = 0

  constructor(options: SlotsOptions) {
    this.#options = options
  }

  /**
   * @returns releases the slot; calling it twice does no harm
   * @throws RegistryError Unavailable if no slot is free in time; the reason of the signal if that ends the wait
   */
  async acquire(signal?: AbortSignal): Promise<() => void> {
    signal?.throwIfAborted()
    const { max, maxWaiting } = this.#options
    if (this.#taken >= max) {
      if (this.#waiting.size >= maxWaiting) throw busy()
      await this.#wait(signal)
    } else {
      this.#taken += 1
    }
    let held = true
    return () => {
      if (held) this.#release()
      held = false
    }
  }

  /** Hands the slot to the next waiter, so that later requests do not overtake it. */
  #release(): void {
    const [next] = this.#waiting
    if (next === undefined) this.#taken -= 1
    else next.take()
  }

  async #wait(signal: AbortSignal | undefined): Promise<void> {
    const turn = Promise.withResolvers<void>()
    const timer = setTimeout(() => turn.reject(busy()), this.#options.waitMs)
    const waiter: Waiter = {
      timer,
      take: () => {
        this.#waiting.delete(waiter)
        turn.resolve()
      },
    }
    const leave = () => turn.reject(signal?.reason)
    signal?.addEventListener('abort', leave, { once: true })
    this.#waiting.add(waiter)
    try {
      await turn.promise
    } finally {
      this.#waiting.delete(waiter)
      clearTimeout(timer)
      signal?.removeEventListener('abort', leave)
    }
  }
}

function busy(): RegistryError {
  return new RegistryError('Unavailable', 'too many requests are waiting: try again in a moment')
}
