import type { Facts } from './facts.ts'
import type { Parent } from './parent.ts'

/** A module or provider that exists, under the number by which sets know it. */
export class Entry {
  readonly number: number
  readonly parent: Parent
  #facts: Facts
  #isPublic = false
  /** Revision of the read model at which it changed last. */
  revision = 0
  #memo: Map<string, string> | undefined

  constructor(number: number, parent: Parent, facts: Facts) {
    this.number = number
    this.parent = parent
    this.#facts = facts
  }

  get facts(): Facts {
    return this.#facts
  }

  set facts(facts: Facts) {
    this.#facts = facts
    this.#memo = undefined
  }

  /** Whether guests may see it: it and its namespace carry the public label. */
  get isPublic(): boolean {
    return this.#isPublic
  }

  set isPublic(isPublic: boolean) {
    this.#isPublic = isPublic
    this.#memo = undefined
  }

  /** Remembers a piece of text until the entry changes, so that it is put together once a change. */
  memo(key: string, compose: (entry: Entry) => string): string {
    this.#memo ??= new Map()
    const known = this.#memo.get(key)
    if (known !== undefined) return known
    const text = compose(this)
    this.#memo.set(key, text)
    return text
  }
}
