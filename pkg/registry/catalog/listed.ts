import type { Parent } from './parent.ts'
import type { Summary } from './summary.ts'

/** A module or provider that exists, under the number by which sets know it. */
export class Listed {
  readonly number: number
  readonly parent: Parent
  #summary: Summary
  #isPublic = false
  /** Revision of the read model at which it changed last. */
  revision = 0
  #memo: Map<string, string> | undefined

  constructor(number: number, parent: Parent, summary: Summary) {
    this.number = number
    this.parent = parent
    this.#summary = summary
  }

  get summary(): Summary {
    return this.#summary
  }

  set summary(summary: Summary) {
    this.#summary = summary
    this.#memo = undefined
  }

  /** True if guests may see it: it and its namespace have the public label. */
  get isPublic(): boolean {
    return this.#isPublic
  }

  set isPublic(isPublic: boolean) {
    this.#isPublic = isPublic
    this.#memo = undefined
  }

  /** Remembers a piece of text until the entry changes, so that it is put together once a change. */
  memo(key: string, compose: (entry: Listed) => string): string {
    this.#memo ??= new Map()
    const known = this.#memo.get(key)
    if (known !== undefined) return known
    const text = compose(this)
    this.#memo.set(key, text)
    return text
  }
}
