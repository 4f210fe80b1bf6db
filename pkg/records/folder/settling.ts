/** Differences from the accepted state that have settled. */
export interface Difference {
  /** New and changed files with their signatures, in order. */
  readonly changed: ReadonlyMap<string, string>
  readonly removed: readonly string[]
  /** Something else differs, but has not settled yet. */
  readonly waiting: boolean
}

/** A file that never rests is taken as it is after this time. */
const patienceMs = 10_000

interface Sighting {
  readonly signature: string | undefined
  readonly firstAt: number
  readonly sinceAt: number
}

/**
 * Tells files that have changed from files that are changing. An editor may empty a file before it writes it, and a
 * walk may meet a moved file twice or not at all; so a difference counts once two walks have seen it alike.
 */
export class Settling {
  readonly #settleMs: number
  readonly #accepted = new Map<string, string>()
  #sightings = new Map<string, Sighting>()

  /** @param settleMs how long a file must look the same */
  constructor(settleMs: number) {
    this.#settleMs = settleMs
  }

  accept(path: string, signature: string): void {
    this.#accepted.set(path, signature)
  }

  forget(path: string): void {
    this.#accepted.delete(path)
  }

  /** The signature that was accepted last. */
  signatureOf(path: string): string | undefined {
    return this.#accepted.get(path)
  }

  /**
   * @param nowMs of a clock that never goes back
   * @param isUnknown whether nothing is known about a path, so that its absence means nothing
   * @param settleMs 0 for a first look, which takes everything as it is
   */
  compare(
    files: ReadonlyMap<string, string>,
    nowMs: number,
    isUnknown: (path: string) => boolean,
    settleMs: number = this.#settleMs,
  ): Difference {
    const sightings = new Map<string, Sighting>()
    const changed = new Map<string, string>()
    const removed: string[] = []
    const hasSettled = (path: string, signature: string | undefined): boolean => {
      const last = this.#sightings.get(path)
      const sinceAt = last?.signature === signature ? (last?.sinceAt ?? nowMs) : nowMs
      const sighting = { signature, firstAt: last?.firstAt ?? nowMs, sinceAt }
      sightings.set(path, sighting)
      return nowMs - sinceAt >= settleMs || nowMs - sighting.firstAt >= patienceMs
    }
    let waiting = false
    for (const [path, signature] of files) {
      if (this.#accepted.get(path) === signature) continue
      if (hasSettled(path, signature)) changed.set(path, signature)
      else waiting = true
    }
    for (const path of this.#accepted.keys()) {
      if (files.has(path) || isUnknown(path)) continue
      if (hasSettled(path, undefined)) removed.push(path)
      else waiting = true
    }
    this.#sightings = sightings
    return { changed, removed, waiting }
  }
}
