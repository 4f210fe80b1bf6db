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

/** Where a key is in line. */
export interface Waiter {
  readonly key: string
  readonly priority: Priority
  /** On the clock of `performance.now()`. */
  readonly sinceMs: number
  /** What has to be free beside a worker. Default: nothing. */
  readonly waitsFor?: string | undefined
}

/** What a key may be taken by. */
export interface Turn {
  /** Whether a key of a lane may be taken. */
  isOpen(lane: string): boolean
  /** Takes what a key waits for, where it is free: the key is taken then. */
  acquire(waitsFor: string, key: string): boolean
}

/** Keys that wait for the same, in the order they came. */
type Line = Map<string, Waiter>
/** Lines of a namespace by what they wait for; the one whose turn it is comes first. */
type Lane = Map<string | undefined, Line>

/** Keys in line: by priority, then one of each lane in turn, and of a lane in the order they came. */
export class Waiting {
  /** The lane whose turn it is comes first. */
  readonly #lanes: Readonly<Record<Priority, Map<string, Lane>>> = {
    user: new Map(),
    listing: new Map(),
    poll: new Map(),
  }
  readonly #waiters = new Map<string, Waiter>()
  readonly #counts: Record<Priority, number> = { user: 0, listing: 0, poll: 0 }

  get size(): number {
    return this.#waiters.size
  }

  count(priority: Priority): number {
    return this.#counts[priority]
  }

  /** Since when the oldest one waits for a worker; undefined where none does. */
  oldestMs(): number | undefined {
    let oldest: number | undefined
    for (const priority of order) {
      for (const lane of this.#lanes[priority].values()) {
        const [first] = lane.get(undefined)?.values() ?? []
        if (first !== undefined && first.sinceMs < (oldest ?? Number.POSITIVE_INFINITY)) {
          oldest = first.sinceMs
        }
      }
    }
    return oldest
  }

  /** Puts a key in line for a worker. One that is in line keeps its place, or gets a better one. */
  add(key: string, priority: Priority): void {
    const known = this.#waiters.get(key)
    if (known === undefined) return this.put({ key, priority, sinceMs: performance.now() })
    const first = firstOf(known.priority, priority)
    // What it waits for may be something else by now: only its work can tell.
    if (known.priority === first && known.waitsFor === undefined) return
    this.#take(known)
    this.put({ key, priority: first, sinceMs: known.sinceMs })
  }

  /** Puts a key that is not in line where its priority says. */
  put(waiter: Waiter): void {
    const { key, priority, waitsFor } = waiter
    const lane = made(this.#lanes[priority], laneOf(key), (): Lane => new Map())
    made(lane, waitsFor, (): Line => new Map()).set(key, waiter)
    this.#waiters.set(key, waiter)
    this.#counts[priority] += 1
  }

  /** Takes out the key whose turn it is. */
  next(turn: Turn): Waiter | undefined {
    for (const priority of order) {
      const lanes = this.#lanes[priority]
      for (const [name, lane] of lanes) {
        const waiter = turn.isOpen(name) ? firstIn(lane, turn) : undefined
        if (waiter === undefined) continue
        this.#take(waiter)
        toEnd(lane, waiter.waitsFor)
        toEnd(lanes, name)
        return waiter
      }
    }
    return undefined
  }

  #take({ key, priority, waitsFor }: Waiter): void {
    const lanes = this.#lanes[priority]
    const name = laneOf(key)
    const lane = lanes.get(name)
    const line = lane?.get(waitsFor)
    line?.delete(key)
    if (line?.size === 0) lane?.delete(waitsFor)
    if (lane?.size === 0) lanes.delete(name)
    this.#waiters.delete(key)
    this.#counts[priority] -= 1
  }
}

function firstIn(lane: Lane, turn: Turn): Waiter | undefined {
  for (const [waitsFor, line] of lane) {
    const [waiter] = line.values()
    if (waiter === undefined) continue
    if (waitsFor === undefined || turn.acquire(waitsFor, waiter.key)) return waiter
  }
  return undefined
}

function made<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  const value = map.get(key) ?? make()
  map.set(key, value)
  return value
}

function toEnd<K, V>(map: Map<K, V>, key: K): void {
  const value = map.get(key)
  if (value === undefined) return
  map.delete(key)
  map.set(key, value)
}
