import { Slots } from '../pacing/pacing.ts'

export interface SharesOptions {
  /** Exchanges at a time, of all clients. */
  readonly max: number
  /** Exchanges at a time of one client. */
  readonly perClient: number
  /** Limits of the queue for a place: how many requests of a client wait, how many clients, and how long, in milliseconds. */
  readonly waiting: { readonly max: number; readonly ms: number }
  /** A client that reads nothing for this many milliseconds loses its place if another one needs it. */
  readonly stalledMs: number
}

/** The place of one exchange. */
export interface ClientPlace {
  /** Frees the place; calling it twice does no harm. */
  readonly leave: () => void
  /**
   * The client has to read what it was sent before anything else happens.
   *
   * @param cut ends the exchange
   */
  readonly unread: (cut: () => void) => void
  /** The client has read everything so far. */
  readonly read: () => void
}

interface Unread {
  readonly client: string
  readonly since: number
  readonly cut: () => void
}

/**
 * Shares the connections to a server between its clients: none gets more than its share, and whoever does not read its
 * answer makes way.
 */
export class ClientShares {
  readonly #options: SharesOptions
  readonly #slots: Slots
  /** The longest unread ones come first. */
  readonly #unread = new Map<ClientPlace, Unread>()

  constructor(options: SharesOptions) {
    this.#options = options
    const { max, perClient: perKey, waiting } = options
    const [maxWaiting, waitMs] = [waiting.max, waiting.ms]
    this.#slots = new Slots({ max, perKey, maxWaiting, maxWaitingKeys: maxWaiting, waitMs })
  }

  /** @throws RegistryError Unavailable if the client has too many exchanges; the reason of the signal if that ends the wait */
  async enter(client: string, signal?: AbortSignal): Promise<ClientPlace> {
    const { max, perClient, stalledMs } = this.#options
    const slot = this.#slots.acquire(signal, client)
    const makeWay = () => {
      if (this.#slots.usersOf(client) > perClient) this.#cutStalled(client)
      else if (this.#slots.users > max) this.#cutStalled()
    }
    makeWay()
    const again = setInterval(makeWay, stalledMs)
    try {
      return this.#place(client, await slot)
    } finally {
      clearInterval(again)
    }
  }

  #place(client: string, leave: () => void): ClientPlace {
    let left = false
    const place: ClientPlace = {
      leave: () => {
        left = true
        this.#unread.delete(place)
        leave()
      },
      unread: (cut) => {
        if (!left) this.#unread.set(place, { client, cut, since: performance.now() })
      },
      read: () => void this.#unread.delete(place),
    }
    return place
  }

  /** Ends the exchange that has been unread for the longest, if it has been for long enough. @param client default: any */
  #cutStalled(client?: string): void {
    const stalled = performance.now() - this.#options.stalledMs
    for (const [place, unread] of this.#unread) {
      if (unread.since > stalled) return
      if (client !== undefined && unread.client !== client) continue
      this.#unread.delete(place)
      unread.cut()
      return
    }
  }
}
