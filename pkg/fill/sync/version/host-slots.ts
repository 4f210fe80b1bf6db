/**
 * How many Versions ask one host at a time, so that many of a slow host take nothing from those of another. Only a Version
 * that is worked on has slots, and gives all back at its end: one that finds none waits in the queue, where nothing is kept
 * for it.
 */
export class HostSlots {
  readonly #perHost: number
  /** Who has a slot, by host. */
  readonly #taken = new Map<string, Set<string>>()

  constructor(perHost: number) {
    this.#perHost = perHost
  }

  /** @returns whether the key has a slot of the host now */
  take(host: string, key: string): boolean {
    const taken = this.#taken.get(host) ?? new Set()
    if (taken.has(key)) return true
    if (taken.size >= this.#perHost) return false
    this.#taken.set(host, taken.add(key))
    return true
  }

  /** Gives back every slot that a key has: it may have taken those of two hosts, where its source moved. */
  free(key: string): void {
    for (const [host, taken] of this.#taken) {
      if (taken.delete(key) && taken.size === 0) this.#taken.delete(host)
    }
  }
}
