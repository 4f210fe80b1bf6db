/** Delay between a burst of changes and the work on them, in milliseconds. */
const delayMs = 20

export interface Worked {
  /** Cost of the work that was done. */
  readonly units: number
  /** True if no work is left. */
  readonly isDone: boolean
}

export interface BacklogOptions<T> {
  /** Works on one item until it is done, or for about this number of units. */
  readonly work: (item: T, maxUnits: number) => Worked
  /** Units of work before other events get their turn. */
  readonly sliceUnits: number
}

/**
 * Pending work after changes. A reader does a slice of it first; after a few changes, that is all of it. After a burst, it is
 * done in slices between other events, so that neither the burst nor a reader stalls the process.
 *
 * An unfinished item comes first, so that at most one is unfinished. If it changes meanwhile, it moves to the end. Otherwise,
 * an item that never stops changing would delay the others.
 *
 * No work is done before the first reader comes, because each item changes many times while a catalog is being filled.
 */
export class Backlog<T extends object> {
  readonly #items = new Set<T>()
  /** The item in progress, which is not among the items. */
  #unfinished: T | undefined
  readonly #options: BacklogOptions<T>
  #scheduled = false
  #isRead = false
  #waiting: (() => void)[] = []

  constructor(options: BacklogOptions<T>) {
    this.#options = options
  }

  get size(): number {
    return this.#items.size + (this.#unfinished === undefined ? 0 : 1)
  }

  has(item: T): boolean {
    return item === this.#unfinished || this.#items.has(item)
  }

  /** Resolves when no work is left. */
  get empty(): Promise<void> {
    this.#isRead = true
    if (this.size > 0) this.#schedule()
    return new Promise((resolve) => {
      if (this.size === 0) resolve()
      else this.#waiting.push(resolve)
    })
  }

  add(item: T): void {
    if (item === this.#unfinished) this.#unfinished = undefined
    this.#items.add(item)
    if (this.#isRead) this.#schedule()
  }

  /** Does a slice of the work for one item, if there is any. For most items that is all of it. */
  advanceOn(item: T): void {
    if (!this.#take(item)) return
    const { work, sliceUnits } = this.#options
    if (!work(item, sliceUnits).isDone) this.#items.add(item)
    this.#tellEmpty()
  }

  /** Does one slice, for a reader. */
  advance(): void {
    this.#isRead = true
    this.work()
  }

  /** Does one slice of work that may come before the first reader. */
  work(): void {
    if (this.size === 0) return
    const { work, sliceUnits } = this.#options
    let left = sliceUnits
    while (left > 0) {
      const item = this.#unfinished ?? this.#items.values().next().value
      if (item === undefined) break
      this.#take(item)
      const { units, isDone } = work(item, left)
      left -= units
      if (isDone) continue
      this.#unfinished = item
      break
    }
    this.#tellEmpty()
    if (this.#isRead && this.size > 0) this.#schedule()
  }

  #take(item: T): boolean {
    if (item !== this.#unfinished) return this.#items.delete(item)
    this.#unfinished = undefined
    return true
  }

  #tellEmpty(): void {
    if (this.size > 0 || this.#waiting.length === 0) return
    for (const resolve of this.#waiting.splice(0)) resolve()
  }

  #schedule(): void {
    if (this.#scheduled) return
    this.#scheduled = true
    setTimeout(() => this.#continue(), delayMs).unref()
  }

  #continue(): void {
    this.advance()
    this.#scheduled = this.size > 0
    if (this.#scheduled) setImmediate(() => this.#continue())
  }
}
