/** Changes by people come first, then objects listed at the start, then periodic checks. */
export const priorities = ['user', 'listing', 'poll'] as const
export type Priority = (typeof priorities)[number]

/** Picks the priority that comes first. */
export function moreUrgent(one: Priority, other: Priority): Priority {
  return priorities.indexOf(one) <= priorities.indexOf(other) ? one : other
}

/** The lane of a key is its namespace: `platform` for `platform/vpc`. Lanes take turns. */
function laneOf(key: string): string {
  return key.slice(0, Math.max(0, key.indexOf('/')))
}

/** A key in line. */
export interface Waiter {
  readonly key: string
  readonly priority: Priority
  /** On the clock of `performance.now()`. */
  readonly sinceMs: number
  /** A resource that the key needs in addition to a worker. Default: none. */
  readonly waitsFor?: string | undefined
}

/** Conditions for taking a key out of the line. */
export interface Turn {
  /** Whether a lane may begin more work. */
  isOpen(lane: string): boolean
  /** Takes a resource for a key; false if the resource is taken. */
  acquire(waitsFor: string, key: string): boolean
}

/** Keys that wait for one resource, in the order they came. */
type Line = Map<string, Waiter>
/** Lines of a namespace by resource; the line whose turn it is comes first. */
type Lane = Map<string | undefined, Line>

/** Keys in line: by priority, then lanes in turn, then the order in which they came. */
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

  /** When the key that waits longest for a worker came; undefined if none waits. */
  oldestMs(): number | undefined {
    let oldest: number | undefined
    for (const priority of priorities) {
      for (const lane of this.#lanes[priority].values()) {
        const [first] = lane.get(undefined)?.values() ?? []
        if (first !== undefined && first.sinceMs < (oldest ?? Number.POSITIVE_INFINITY)) {
          oldest = first.sinceMs
        }
      }
    }
    return oldest
  }

  /** Puts a key in line for a worker. A key in line keeps its place, or gets a better one. */
  add(key: string, priority: Priority): void {
    const known = this.#waiters.get(key)
    if (known === undefined) return this.put({ key, priority, sinceMs: performance.now() })
    const first = moreUrgent(known.priority, priority)
    // It may need another resource by now, which only its work can tell.
    if (known.priority === first && known.waitsFor === undefined) return
    this.#take(known)
    this.put({ key, priority: first, sinceMs: known.sinceMs })
  }

  /** Puts a key that is not in line at the end of its priority and lane. */
  put(waiter: Waiter): void {
    const { key, priority, waitsFor } = waiter
    const lane = ensure(this.#lanes[priority], laneOf(key), (): Lane => new Map())
    ensure(lane, waitsFor, (): Line => new Map()).set(key, waiter)
    this.#waiters.set(key, waiter)
    this.#counts[priority] += 1
  }

  /** Takes the key whose turn it is out of the line. */
  next(turn: Turn): Waiter | undefined {
    for (const priority of priorities) {
      const lanes = this.#lanes[priority]
      for (const [name, lane] of lanes) {
        const waiter = turn.isOpen(name) ? firstIn(lane, turn) : undefined
        if (waiter === undefined) continue
        this.#take(waiter)
        moveToEnd(lane, waiter.waitsFor)
        moveToEnd(lanes, name)
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

function ensure<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  const value = map.get(key) ?? make()
  map.set(key, value)
  return value
}

function moveToEnd<K, V>(map: Map<K, V>, key: K): void {
  const value = map.get(key)
  if (value === undefined) return
  map.delete(key)
  map.set(key, value)
}

/** Slow work, as multiples of the workers: in one lane, and in all lanes. */
const slowInLane = 2
const slowInAll = 64
/** Time after which work counts as slow. */
const slowMs = 10_000

interface Work {
  readonly ended: Promise<void>
  readonly timer: NodeJS.Timeout
  isSlow: boolean
}

/**
 * Keys in work. Slow work mostly waits for an upstream, so it does not occupy a worker; its amount is limited in total and
 * in each lane.
 */
export class RunningWork {
  readonly #workers: number
  readonly #onRoom: () => void
  readonly #work = new Map<string, Work>()
  readonly #lanes = new Map<string, number>()
  #slow = 0

  /** @param onRoom called when work has become slow, so other work may begin */
  constructor(workers: number, onRoom: () => void) {
    this.#workers = workers
    this.#onRoom = onRoom
  }

  get size(): number {
    return this.#work.size
  }

  get hasRoom(): boolean {
    return this.size - this.#slow < this.#workers && this.size < slowInAll * this.#workers
  }

  isOpen(lane: string): boolean {
    return (this.#lanes.get(lane) ?? 0) < slowInLane * this.#workers
  }

  has(key: string): boolean {
    return this.#work.has(key)
  }

  add(key: string, ended: Promise<void>): void {
    const lane = laneOf(key)
    this.#lanes.set(lane, (this.#lanes.get(lane) ?? 0) + 1)
    const timer = setTimeout(() => {
      work.isSlow = true
      this.#slow += 1
      this.#onRoom()
    }, slowMs)
    const work: Work = { ended, timer, isSlow: false }
    this.#work.set(key, work)
  }

  delete(key: string): void {
    const work = this.#work.get(key)
    if (work === undefined) return
    this.#work.delete(key)
    clearTimeout(work.timer)
    if (work.isSlow) this.#slow -= 1
    const lane = laneOf(key)
    const left = (this.#lanes.get(lane) ?? 1) - 1
    if (left === 0) this.#lanes.delete(lane)
    else this.#lanes.set(lane, left)
  }

  async ended(): Promise<void> {
    await Promise.all(Array.from(this.#work.values(), ({ ended }) => ended))
  }
}
