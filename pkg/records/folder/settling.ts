/** Differences from the accepted state that have settled. */
export interface Difference {
  /** New and changed files with their signatures, in order. */
  readonly changed: ReadonlyMap<string, string>
  readonly removed: readonly string[]
  /** Something else differs, but has not settled yet. */
  readonly waiting: boolean
}

/** A file that never rests is taken as it is after this time, in milliseconds. */
const patienceMs = 10_000
/** How long files that still change can hold others, in milliseconds. */
export const maxHeldMs = 2_000

/** A difference from what was accepted. Walks are numbered. */
interface Sighting {
  readonly signature: string | undefined
  readonly first: Moment
  /** When the file was first seen as it is now. */
  readonly since: Moment
}

interface Moment {
  readonly atMs: number
  readonly walk: number
}

/**
 * Tells files that have changed from files that are changing. An editor may empty a file before it writes it, and a
 * walk may meet a moved file twice or not at all; so a difference counts once two walks have seen it alike.
 *
 * Nor does it count before what was written earlier: a program that writes a second file and then changes the first one
 * may rely on it that nobody sees that change alone. In a folder where something is always written, this ends after two seconds,
 * for all that is older than one.
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

  /** Whether some of these files are neither as they were accepted nor as the last walk saw them. */
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
 * Finds the walk from which on nothing counts yet. Files that still change hold what was written with or after them, which
 * holds others in turn.
 *
 * @returns Infinity if nothing is held
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
