/** Paths that mean the same to everybody: no escapes, no query, nothing empty, no dots that lead elsewhere. */
const plainPath = /^(?:\/[\w~+-][\w.~+-]*)+$/

/** A path takes its characters twice, so this bounds them to some megabytes. */
const maxPaths = 4096
const maxCharacters = 512

/** Takes plain paths apart, and remembers those that had an answer: taking one apart costs more than finding that. */
export class PlainPaths {
  readonly #known = new Map<string, readonly string[]>()

  /** Segments of a path, the first empty; undefined where the path is for the router to judge. */
  segmentsOf(url: string): readonly string[] | undefined {
    return this.#known.get(url) ?? (plainPath.test(url) ? url.split('/') : undefined)
  }

  remember(url: string, segments: readonly string[]): void {
    if (this.#known.has(url) || url.length > maxCharacters) return
    if (this.#known.size >= maxPaths) this.#known.clear()
    this.#known.set(url, segments)
  }
}
