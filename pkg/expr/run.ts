import { Fault } from './expression-error.ts'
import type { Value } from './value.ts'

/** Limit of list elements, map entries and repeated bytes that one evaluation creates: the language's own limit. */
const maxMemory = 1_000_000
/** Limit of steps in one evaluation, which take well below a second. */
const maxSteps = 1_000_000
/** Characters or elements that count as one step where no closure is called for each. */
const bulk = 16

/** One round of a closure. */
export interface LoopScope {
  readonly item: Value
  readonly index: bigint
  readonly acc: Value
}

/** One evaluation of an expression: its input, its variables, and the work so far. */
export class Run {
  readonly input: Value
  readonly variables: Value[] = []
  scope: LoopScope = { item: null, index: 0n, acc: null }
  /** Whether bytes were read from a string. Go has a type for them; here they are ints. */
  hasBytes = false
  #memory = 0
  #steps = 0

  constructor(input: Value) {
    this.input = input
  }

  get steps(): number {
    return this.#steps
  }

  /** Counts rounds of closures and the like. @throws Fault WorkExceeded */
  step(count: number, at: number): void {
    this.#steps += count
    if (this.#steps > maxSteps) {
      throw new Fault('WorkExceeded', at, `this takes more than ${maxSteps} steps`)
    }
  }

  /** Counts characters and elements that are processed in bulk. */
  work(size: number, at: number): void {
    this.step(Math.ceil(size / bulk), at)
  }

  /** Counts values before they are created. They are never subtracted. */
  grow(size: number, at: number): void {
    this.#memory += size
    if (this.#memory >= maxMemory) {
      throw new Fault('WorkExceeded', at, `this needs memory for ${maxMemory} values or more`)
    }
  }
}

/** A builtin without a closure. The number of arguments, and their types as far as known, were checked before. */
export type BuiltinFunction = (args: readonly Value[], run: Run, at: number) => Value
