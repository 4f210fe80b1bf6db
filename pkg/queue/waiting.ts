import type { Priority } from './queue.ts'

const order = ['user', 'listing', 'poll'] as const satisfies readonly Priority[]

/** The one of two priorities that comes first. */
export function firstOf(one: Priority, other: Priority): Priority {
  return order.indexOf(one) <= order.indexOf(other) ? one : other
}

/** What keys take turns by: that of `platform/vpc` is `platform`, its namespace. */
export function laneOf(key: string): string {
  return key.slice(0, Math.max(0, key.indexOf('/')))
}

/** Since when each key of a lane waits, on the clock of `performance.now()`, in the order they came. */
type Lane = Map<string, number>

/** Keys in line: by priority, then one of each lane in turn, and of a lane in the order they came. */
export class Waiting {
  /** The lane whose turn it is comes first. */
  readonly #lines: Readonly<Record<Priority, Map<string, Lane>>> = {
    user: new Map(),
    listing: new Map(),
    poll: new Map(),
  }
  readonly #priorities = new Map<string, Priority>()
  readonly #counts: Record<Priority, number> = { user: 0, listing: 0, poll: 0 }

  get size(): number {
    return this.#priorities.size
  }

  count(priority: Priority): number {
    return this.#counts[priority]
  }

  /** Since when the oldest one waits; undefined where none does. */
  oldestMs(): number | undefined {
    let oldest: number | undefined
    for (const priority of order) {
      for (const lane of this.#lines[priority].values()) {
        const [first] = lane.values()
        if (first !== undefined && (oldest === undefined || first < oldest)) oldest = first
      }
    }
    return oldest
  }

  add(key: string, priority: Priority): void {
    const known = this.#priorities.get(key)
    if (known !== undefined && firstOf(known, priority) === known) return
    const sinceMs = known === undefined ? undefined : this.#take(key, known)
    const lanes = this.#lines[priority]
    const name = laneOf(key)
    const lane: Lane = lanes.get(name) ?? new Map()
    lanes.set(name, lane)
    lane.set(key, sinceMs ?? performance.now())
    this.#priorities.set(key, priority)
    this.#counts[priority] += 1
  }

  /**
   * Takes out the key whose turn it is.
   *
   * @param isOpen whether a key of a lane may be taken
   */
  next(isOpen: (lane: string) => boolean): string | undefined {
    for (const priority of order) {
      const lanes = this.#lines[priority]
      for (const [name, lane] of lanes) {
        const [key] = lane.keys()
        if (key === undefined || !isOpen(name)) continue
        this.#take(key, priority)
        if (lanes.delete(name) && lane.size > 0) lanes.set(name, lane)
        return key
      }
    }
    return undefined
  }

  /** @returns since when it waited */
  #take(key: string, priority: Priority): number | undefined {
    const name = laneOf(key)
    const lane = this.#lines[priority].get(name)
    const sinceMs = lane?.get(key)
    if (lane?.delete(key)) this.#counts[priority] -= 1
    if (lane?.size === 0) this.#lines[priority].delete(name)
    this.#priorities.delete(key)
    return sinceMs
  }
}
