import { laneOf } from './waiting.ts'

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
