interface Host {
  /** Who works with it, and who may begin next. */
  readonly taken: Set<string>
  readonly waiting: Set<string>
}

/**
 * How many Versions ask one host at a time. One that finds no slot is not worked on meanwhile, and is woken for the first
 * that is free, so that many Versions of a slow host take nothing from those of another.
 */
export class HostSlots {
  readonly #perHost: number
  readonly #wake: (key: string) => void
  readonly #hosts = new Map<string, Host>()
  /** The host that a key has a slot of. */
  readonly #hostOf = new Map<string, string>()

  constructor(perHost: number, wake: (key: string) => void) {
    this.#perHost = perHost
    this.#wake = wake
  }

  /** @returns false where the key has to wait: it is woken then */
  take(name: string, key: string): boolean {
    if (this.#hostOf.get(key) === name) return true
    // It was woken for another host than it wants now.
    this.free(key)
    const host = this.#hosts.get(name) ?? { taken: new Set(), waiting: new Set() }
    this.#hosts.set(name, host)
    const isFree = host.taken.size < this.#perHost
    if (isFree) this.#hostOf.set(key, name)
    ;(isFree ? host.taken : host.waiting).add(key)
    return isFree
  }

  /** Gives back the slot that a key has, if it has one. */
  free(key: string): void {
    const name = this.#hostOf.get(key)
    const host = name === undefined ? undefined : this.#hosts.get(name)
    if (name === undefined || host === undefined) return
    this.#hostOf.delete(key)
    host.taken.delete(key)
    const [next] = host.waiting
    if (next !== undefined) {
      host.waiting.delete(next)
      host.taken.add(next)
      this.#hostOf.set(next, name)
      this.#wake(next)
    } else if (host.taken.size === 0) this.#hosts.delete(name)
  }
}
