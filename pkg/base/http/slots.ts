import { RegistryError } from '../errors/errors.ts'

export interface SlotsOptions {
  /** How many may be taken at once. */
  readonly max: number
  /** How many may wait for one. */
  readonly maxWaiting: number
  /** How long each waits, in milliseconds. */
  readonly waitMs: number
}

interface Waiter {
  readonly take: () => void
  readonly timer: NodeJS.Timeout
}

/** Places for what runs at the same time. Those who find none wait in a line of their own, not within a deadline of their work. */
export class Slots {
  readonly #options: SlotsOptions
  readonly #waiting = new Set<Waiter>()
  #taken = 0

  constructor(options: SlotsOptions) {
    this.#options = options
  }

  /**
   * @returns what gives the place back; to call it twice does no harm
   * @throws RegistryError Unavailable where there is none in time; the reason of the signal where that ends the waiting
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

  /** The place goes from hand to hand, so that later requests do not overtake those that wait. */
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
