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
  /** A number of beats. */
  readonly since: number
  readonly cut: () => void
}

/** Beats in the time after which a client has stalled. */
const beatsUntilStalled = 4

/**
 * Shares the connections to a server between its clients: none gets more than its share, and whoever does not read its
 * answer makes way.
 */
export class ClientShares {
  readonly #options: SharesOptions
  readonly #slots: Slots
  /** The longest unread ones come first. */
  readonly #unread = new Map<ClientPlace, Unread>()
  /** Counts time while clients have something to read. If this process is paused, which is not their fault, that is one beat. */
  #beats = 0
  #beating: NodeJS.Timeout | undefined

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
        if (left) return
        this.#unread.set(place, { client, cut, since: this.#beats })
        this.#beating ??= setInterval(() => this.#beat(), this.#beatMs).unref()
      },
      read: () => void this.#unread.delete(place),
    }
    return place
  }

  get #beatMs(): number {
    return this.#options.stalledMs / beatsUntilStalled
  }

  #beat(): void {
    this.#beats += 1
    if (this.#unread.size > 0) return
    clearInterval(this.#beating)
    this.#beating = undefined
  }

  /** Ends the exchange that has been unread for the longest, if it has been for long enough. @param client default: any */
  #cutStalled(client?: string): void {
    for (const [place, unread] of this.#unread) {
      // The first beat may come at once.
      if (this.#beats - unread.since <= beatsUntilStalled) return
      if (client !== undefined && unread.client !== client) continue
      this.#unread.delete(place)
      unread.cut()
      return
    }
  }
}
