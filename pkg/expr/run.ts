import { Fault } from './expression-error.ts'
import type { Value } from './value.ts'

/**
 * Limit of steps in one evaluation, and of list elements, map entries and repeated bytes that it creates: the language's own
 * limit. So many steps take well below a second.
 */
const languageLimit = 1_000_000
/** Characters or elements that count as one step where no closure is called for each. */
const bulk = 16

/** One round of a closure. */
export interface LoopScope {
  readonly item: Value
  readonly index: bigint
  readonly acc: Value
}

/** A compiled part of an expression. */
export type Evaluate = (run: Run) => Value

/** One evaluation of an expression: its input, its variables, and the work so far. */
export class Run {
  readonly input: Value
  readonly variables: Value[] = []
  scope: LoopScope = { item: null, index: 0n, acc: null }
  /** Whether bytes were read from a string. Go has a type for them; here they are ints. */
  hasBytes = false
  readonly #limit: number
  #memory = 0
  #steps = 0

  /** @param limit of steps, and of values in memory */
  constructor(input: Value, limit = languageLimit) {
    this.input = input
    this.#limit = limit
  }

  get steps(): number {
    return this.#steps
  }

  /** Counts rounds of closures and the like. @throws Fault WorkExceeded */
  step(count: number, at: number): void {
    this.#steps += count
    if (this.#steps > this.#limit) {
      throw new Fault('WorkExceeded', at, `this takes more than ${this.#limit} steps`)
    }
  }

  /** Counts characters and elements that are processed in bulk. */
  work(size: number, at: number): void {
    this.step(Math.ceil(size / bulk), at)
  }

  /** Counts values before they are created. They are never subtracted. */
  grow(size: number, at: number): void {
    this.#memory += size
    if (this.#memory >= this.#limit) {
      throw new Fault('WorkExceeded', at, `this needs memory for ${this.#limit} values or more`)
    }
  }
}

/** A builtin without a closure. The number of arguments, and their types as far as known, were checked before. */
export type BuiltinFunction = (args: readonly Value[], run: Run, at: number) => Value
