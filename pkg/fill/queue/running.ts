import { laneOf } from './waiting.ts'

/** How many times its workers may be busy with slow work, in one lane and in all of them. */
const slowInLane = 2
const slowInAll = 64
const defaultSlowMs = 10_000

/**
 * What is worked on. Work that takes long mostly waits for an upstream: it gives its worker to others, but not without end,
 * and one lane cannot take it from the others.
 */
export class Running {
  readonly #workers: number
  readonly #slowMs: number
  readonly #onRoom: () => void
  readonly #work = new Map<string, Promise<void>>()
  readonly #slow = new Set<string>()
  readonly #timers = new Map<string, NodeJS.Timeout>()
  readonly #lanes = new Map<string, number>()

  /** @param onRoom called where work has become slow, so that other work may begin */
  constructor(
    { workers, slowMs = defaultSlowMs }: { readonly workers: number; readonly slowMs?: number },
    onRoom: () => void,
  ) {
    this.#workers = workers
    this.#slowMs = slowMs
    this.#onRoom = onRoom
  }

  get size(): number {
    return this.#work.size
  }

  get hasRoom(): boolean {
    const { size } = this.#work
    return size - this.#slow.size < this.#workers && size < slowInAll * this.#workers
  }

  isOpen(lane: string): boolean {
    return (this.#lanes.get(lane) ?? 0) < slowInLane * this.#workers
  }

  has(key: string): boolean {
    return this.#work.has(key)
  }

  add(key: string, work: Promise<void>): void {
    const lane = laneOf(key)
    this.#work.set(key, work)
    this.#lanes.set(lane, (this.#lanes.get(lane) ?? 0) + 1)
    const timer = setTimeout(() => {
      this.#slow.add(key)
      this.#onRoom()
    }, this.#slowMs)
    this.#timers.set(key, timer)
  }

  delete(key: string): void {
    if (!this.#work.delete(key)) return
    this.#slow.delete(key)
    clearTimeout(this.#timers.get(key))
    this.#timers.delete(key)
    const lane = laneOf(key)
    const left = (this.#lanes.get(lane) ?? 1) - 1
    if (left === 0) this.#lanes.delete(lane)
    else this.#lanes.set(lane, left)
  }

  async ended(): Promise<void> {
    await Promise.all(this.#work.values())
  }
}
