import { Slots } from '../http/http.ts'

export interface SharesOptions {
  /** Exchanges at a time, of all clients. */
  readonly max: number
  /** Exchanges at a time of one client. */
  readonly perClient: number
  /** Limits of the queue for a place: its length, and how long one waits, in milliseconds. */
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

interface Share {
  readonly slots: Slots
  /** Exchanges that run or wait. */
  users: number
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
  readonly #shares = new Map<string, Share>()
  /** The longest unread ones come first. */
  readonly #unread = new Map<ClientPlace, Unread>()
  readonly #all: Share

  constructor(options: SharesOptions) {
    this.#options = options
    this.#all = this.#newShare(options.max)
  }

  /** @throws RegistryError Unavailable if the client has too many exchanges; the reason of the signal if that ends the wait */
  async enter(client: string, signal?: AbortSignal): Promise<ClientPlace> {
    const { max, perClient, stalledMs } = this.#options
    const own = this.#shareOf(client)
    own.users += 1
    this.#all.users += 1
    const makeWay = () => {
      if (own.users > perClient) this.#cutStalled(client)
      else if (this.#all.users > max) this.#cutStalled()
    }
    makeWay()
    const again = setInterval(makeWay, stalledMs)
    const releases: (() => void)[] = []
    const leave = () => {
      for (const release of releases.splice(0)) release()
    }
    releases.push(() => this.#forget(client, own))
    try {
      for (const { slots } of [own, this.#all]) releases.push(await slots.acquire(signal))
      return this.#place(client, leave)
    } catch (thrown) {
      leave()
      throw thrown
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

  #shareOf(client: string): Share {
    const share = this.#shares.get(client) ?? this.#newShare(this.#options.perClient)
    this.#shares.set(client, share)
    return share
  }

  #newShare(max: number): Share {
    const { waiting } = this.#options
    return { slots: new Slots({ max, maxWaiting: waiting.max, waitMs: waiting.ms }), users: 0 }
  }

  #forget(client: string, own: Share): void {
    this.#all.users -= 1
    own.users -= 1
    if (own.users === 0) this.#shares.delete(client)
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
