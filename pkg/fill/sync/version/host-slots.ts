/**
 * Limits how many Versions ask one host at a time, so that a slow host does not slow down others. Only a Version in work has
 * slots, and it returns them at its end, or when the rest of its work asks no host. A Version that finds no slot waits in the
 * queue; no slot is reserved for it.
 */
export class HostSlots {
  readonly #perHost: number
  readonly #onFree: () => void
  /** Keys that have a slot, by host. */
  readonly #taken = new Map<string, Set<string>>()

  /** @param onFree called when slots were returned, so that a Version that waits may begin */
  constructor(perHost: number, onFree: () => void = () => undefined) {
    this.#perHost = perHost
    this.#onFree = onFree
  }

  /** @returns whether the key has a slot of the host now */
  take(host: string, key: string): boolean {
    const taken = this.#taken.get(host) ?? new Set()
    if (taken.has(key)) return true
    if (taken.size >= this.#perHost) return false
    this.#taken.set(host, taken.add(key))
    return true
  }

  /**
   * Returns every slot of a key; it may have slots of two hosts if its source moved.
   *
   * @param kept the host whose slot it keeps
   */
  free(key: string, kept?: string): void {
    let isFreed = false
    for (const [host, taken] of this.#taken) {
      if (host === kept || !taken.delete(key)) continue
      isFreed = true
      if (taken.size === 0) this.#taken.delete(host)
    }
    if (isFreed) this.#onFree()
  }
}
