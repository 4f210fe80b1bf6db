import type { Parent } from './parent.ts'
import type { Summary } from './summary.ts'

/** An existing module or provider, with the number that sets use for it. */
export class Listed {
  readonly number: number
  readonly parent: Parent
  summary: Summary
  /** True if guests may see it: it and its namespace have the public label. */
  isPublic = false
  #revision = 0
  #memo: Map<string, string> | undefined

  constructor(number: number, parent: Parent, summary: Summary) {
    this.number = number
    this.parent = parent
    this.summary = summary
  }

  /** Revision of the read model at which it changed last. */
  get revision(): number {
    return this.#revision
  }

  set revision(revision: number) {
    this.#revision = revision
    this.#memo = undefined
  }

  /** Remembers a text until the entry changes, so that it is formatted once per change. */
  memo(key: string, compose: (entry: Listed) => string): string {
    this.#memo ??= new Map()
    const known = this.#memo.get(key)
    if (known !== undefined) return known
    const text = compose(this)
    this.#memo.set(key, text)
    return text
  }
}
