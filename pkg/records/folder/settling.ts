/** Settled differences from the accepted state. */
export interface Difference {
  /** New and changed files with their signatures, in order. */
  readonly changed: ReadonlyMap<string, string>
  readonly removed: readonly string[]
  /** Something else differs, but has not settled yet. */
  readonly waiting: boolean
}

/** A file that never settles is accepted after this time, in milliseconds. */
const patienceMs = 10_000
/** How long changing files can delay others, in milliseconds. */
export const maxHeldMs = 2_000

/** A difference from the accepted state. Walks are numbered. */
interface Sighting {
  readonly signature: string | undefined
  readonly first: Moment
  /** When the file was first seen in its current state. */
  readonly since: Moment
}

interface Moment {
  readonly atMs: number
  readonly walk: number
}

/**
 * Tells changed files from files that are still changing. An editor may empty a file before it writes it, and a walk may meet
 * a moved file twice or not at all. So a difference counts once two walks have seen it alike.
 *
 * A difference also waits for earlier ones: a program may write a second file and then change the first one, and rely on both
 * changes being seen together. In a folder with constant writes, this wait ends after two seconds for everything that
 * is older than one second.
 */
export class Settling {
  readonly #settleMs: number
  #walks = 0
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

  /** Whether some of these files differ from both the accepted state and the last walk. */
  hasNews(files: ReadonlyMap<string, string>): boolean {
    for (const [path, signature] of files) {
      const isKnown = this.#accepted.get(path) === signature
      if (!isKnown && this.#sightings.get(path)?.signature !== signature) return true
    }
    return false
  }

  /** The signature that was accepted last. */
  signatureOf(path: string): string | undefined {
    return this.#accepted.get(path)
  }

  /**
   * @param files the changed ones, and everything that was written before them
   * @param nowMs of a monotonic clock
   * @param isUnknown whether nothing is known about a path, so that its absence has no meaning
   * @param settleMs 0 for a first look, which accepts everything
   */
  compare(
    files: ReadonlyMap<string, string>,
    nowMs: number,
    isUnknown: (path: string) => boolean,
    settleMs: number = this.#settleMs,
  ): Difference {
    this.#walks += 1
    const now = { atMs: nowMs, walk: this.#walks }
    const sightings = new Map<string, Sighting>()
    const see = (path: string, signature: string | undefined): void => {
      const last = this.#sightings.get(path)
      const { first, since } = last ?? { first: now, since: now }
      sightings.set(path, { signature, first, since: last?.signature === signature ? since : now })
    }
    for (const [path, signature] of files) {
      if (this.#accepted.get(path) !== signature) see(path, signature)
    }
    for (const path of this.#accepted.keys()) {
      if (!files.has(path) && !isUnknown(path)) see(path, undefined)
    }
    this.#sightings = sightings
    const waitedMs = ({ first }: Sighting) => nowMs - first.atMs
    const hasSettled = (sighting: Sighting) =>
      nowMs - sighting.since.atMs >= settleMs || waitedMs(sighting) >= patienceMs
    const all = [...sightings.values()]
    const isHeldLong = all.some((one) => hasSettled(one) && waitedMs(one) >= maxHeldMs)
    const holding = isHeldLong ? all.filter((one) => waitedMs(one) < maxHeldMs / 2) : all
    const heldFrom = firstHeld(holding, hasSettled)
    const changed = new Map<string, string>()
    const removed: string[] = []
    for (const [path, sighting] of sightings) {
      if (!hasSettled(sighting) || sighting.since.walk >= heldFrom) continue
      if (sighting.signature === undefined) removed.push(path)
      else changed.set(path, sighting.signature)
    }
    return { changed, removed, waiting: changed.size + removed.length < sightings.size }
  }
}

/**
 * Finds the first walk whose differences must wait. Files that still change delay what was written with or after them, which
 * delays others in turn.
 *
 * @returns Infinity if nothing waits
 */
function firstHeld(
  sightings: readonly Sighting[],
  hasSettled: (sighting: Sighting) => boolean,
): number {
  let walk = Infinity
  for (const sighting of sightings) {
    if (!hasSettled(sighting)) walk = Math.min(walk, sighting.first.walk)
  }
  for (const { first, since } of sightings.toSorted((a, b) => b.since.walk - a.since.walk)) {
    if (since.walk < walk) break
    walk = Math.min(walk, first.walk)
  }
  return walk
}
