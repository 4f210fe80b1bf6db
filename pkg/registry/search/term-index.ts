import { lowerBound } from '../catalog/catalog.ts'
import { termsOf, withOneError } from './terms.ts'

/** Terms that a word of a query stands for. */
export interface Expanded {
  readonly word: string
  /** Terms that differ from the word by one typing error. */
  readonly typos: readonly string[]
}

/**
 * An inverted index: for each term, the sorted ids of the texts that have it. Terms are sorted below their first character,
 * so that those with a prefix are neighbours.
 */
export class TermIndex {
  readonly #ids = new Map<string, number[]>()
  readonly #sorted = new Map<string, string[]>()

  /** Number of different terms. */
  get size(): number {
    return this.#ids.size
  }

  /** Replaces the text with an id. */
  replace(id: number, before: string, now: string): void {
    const [old, added] = [termsOf(before), termsOf(now)]
    for (const term of old) if (!added.has(term)) this.#remove(term, id)
    for (const term of added) if (!old.has(term)) this.#add(term, id)
  }

  expand(word: string): Expanded {
    return { word, typos: withOneError(word, (term) => this.#ids.has(term)) }
  }

  /** The ids of all texts with the word, a word that begins with it, or one with a typing error. */
  *idsOf({ word, typos }: Expanded): Generator<readonly [ids: readonly number[], isTypo: boolean]> {
    const terms = this.#sorted.get(word.charAt(0)) ?? []
    for (let at = lowerBound(terms, (term) => term < word); at < terms.length; at += 1) {
      const term = terms[at]
      if (term?.startsWith(word) !== true) break
      yield [this.#ids.get(term) ?? [], false]
    }
    for (const typo of typos) yield [this.#ids.get(typo) ?? [], true]
  }

  #add(term: string, id: number): void {
    const ids = this.#ids.get(term)
    if (ids !== undefined) {
      insert(ids, id)
      return
    }
    this.#ids.set(term, [id])
    const terms = this.#sorted.get(term.charAt(0))
    if (terms === undefined) this.#sorted.set(term.charAt(0), [term])
    else insert(terms, term)
  }

  #remove(term: string, id: number): void {
    const ids = this.#ids.get(term)
    if (ids === undefined) return
    remove(ids, id)
    if (ids.length > 0) return
    this.#ids.delete(term)
    const terms = this.#sorted.get(term.charAt(0)) ?? []
    remove(terms, term)
    if (terms.length === 0) this.#sorted.delete(term.charAt(0))
  }
}

function insert<T extends number | string>(sorted: T[], value: T): void {
  sorted.splice(
    lowerBound(sorted, (one) => one < value),
    0,
    value,
  )
}

function remove<T extends number | string>(sorted: T[], value: T): void {
  const at = lowerBound(sorted, (one) => one < value)
  if (sorted[at] === value) sorted.splice(at, 1)
}
