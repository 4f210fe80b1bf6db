import type { Priority } from './queue.ts'

const order = ['user', 'listing', 'poll'] as const satisfies readonly Priority[]

/** The one of two priorities that comes first. */
export function firstOf(one: Priority, other: Priority): Priority {
  return order.indexOf(one) <= order.indexOf(other) ? one : other
}

/** Keys in line: by priority, then in the order they came. */
export class Waiting {
  /** Since when each key waits, on the clock of `performance.now()`. */
  readonly #lines: Readonly<Record<Priority, Map<string, number>>> = {
    user: new Map(),
    listing: new Map(),
    poll: new Map(),
  }
  readonly #priorities = new Map<string, Priority>()

  get size(): number {
    return this.#priorities.size
  }

  count(priority: Priority): number {
    return this.#lines[priority].size
  }

  /** Since when the oldest one waits; undefined where none does. */
  oldestMs(): number | undefined {
    const firsts = order.map((priority) => this.#lines[priority].values().next().value)
    const known = firsts.filter((ms) => ms !== undefined)
    return known.length === 0 ? undefined : Math.min(...known)
  }

  add(key: string, priority: Priority): void {
    const known = this.#priorities.get(key)
    if (known !== undefined && firstOf(known, priority) === known) return
    const sinceMs = known === undefined ? performance.now() : this.#lines[known].get(key)
    if (known !== undefined) this.#lines[known].delete(key)
    this.#lines[priority].set(key, sinceMs ?? performance.now())
    this.#priorities.set(key, priority)
  }

  /** Takes out the key whose turn it is. */
  next(): string | undefined {
    for (const priority of order) {
      const [key] = this.#lines[priority].keys()
      if (key === undefined) continue
      this.#lines[priority].delete(key)
      this.#priorities.delete(key)
      return key
    }
    return undefined
  }
}
