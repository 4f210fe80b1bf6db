/** Limits of the work on Versions: of one host, and of stored archives that are read again. */

import type { Clock } from '../../../base/pacing/pacing.ts'

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

const pauseMs = 10 * 60_000

/** Limits how many stored archives are read for their documentation, so that new versions do not wait for long. */
export class DocsAllowance {
  readonly #clock: Clock
  readonly #maxAtOnce: number
  #left: number
  #untilMs = 0

  constructor(clock: Clock, maxAtOnce = 200) {
    this.#clock = clock
    this.#maxAtOnce = maxAtOnce
    this.#left = maxAtOnce
  }

  /** Takes one. @returns how long to wait if there is none */
  take(): number | undefined {
    const nowMs = this.#clock()
    if (this.#untilMs <= nowMs) {
      this.#left = this.#maxAtOnce
      this.#untilMs = nowMs + pauseMs
    }
    if (this.#left === 0) return this.#untilMs - nowMs
    this.#left -= 1
    return undefined
  }
}
