import { Fault } from './expression-error.ts'
import type { Value } from './value.ts'

/** Of list elements, map entries and repeated bytes that one evaluation makes: the language's own bound. */
const maxMemory = 1_000_000
/** Of steps in one evaluation, which take well below a second. */
const maxSteps = 1_000_000
/** How many characters or elements are handled in one step where no closure is called for each. */
const bulk = 16

/** One round of a closure. */
export interface LoopScope {
  readonly item: Value
  readonly index: bigint
  readonly acc: Value
}

/** One evaluation of an expression: its input, its variables, and how much of its bounds is used up. */
export class Run {
  readonly groups: readonly Value[]
  readonly variables: Value[] = []
  scope: LoopScope = { item: null, index: 0n, acc: null }
  /** Whether bytes were taken out of a string: they have a type of their own in Go, and are ints here. */
  hasBytes = false
  #memory = 0
  #steps = 0

  constructor(groups: readonly Value[]) {
    this.groups = groups
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

  /** Counts characters and elements that are looked at in bulk. */
  work(size: number, at: number): void {
    this.step(Math.ceil(size / bulk), at)
  }

  /** Counts what is made, before it is made. It is never given back. */
  grow(size: number, at: number): void {
    this.#memory += size
    if (this.#memory >= maxMemory) {
      throw new Fault('WorkExceeded', at, `this needs memory for ${maxMemory} values or more`)
    }
  }
}

/** A builtin without a closure. The number of arguments, and their types as far as known, were checked before. */
export type BuiltinFunction = (args: readonly Value[], run: Run, at: number) => Value
