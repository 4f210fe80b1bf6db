import { lowerBound } from '../catalog/catalog.ts'
import { termOf, termsOf, withOneError } from './terms.ts'

/** Terms that match a word of a query. */
export interface Expanded {
  readonly word: string
  /** Terms that differ from the word by one typing error. */
  readonly typos: readonly string[]
}

/** A term, and the sorted ids of the texts that contain it. */
interface Posting {
  readonly term: string
  readonly ids: number[]
}

/**
 * An inverted index: for each term, the sorted ids of the texts that contain it. Terms are sorted below their first character,
 * so that terms with a common prefix are neighbours.
 */
export class TermIndex {
  readonly #ids = new Map<string, number[]>()
  readonly #sorted = new Map<string, Posting[]>()

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
    const known = {
      has: (term: string) => this.#ids.has(term),
      lettersAfter: (prefix: string) => this.#lettersAfter(prefix),
    }
    return { word, typos: withOneError(word, known) }
  }

  /** The ids of all texts with the word, a word that begins with it, or one with a typing error. */
  *idsOf({ word, typos }: Expanded): Generator<readonly [ids: readonly number[], isTypo: boolean]> {
    const terms = this.#sorted.get(word.charAt(0)) ?? []
    const start = termOf(word)
    for (const { ids } of terms.slice(placeOf(terms, start), endOf(terms, start)))
      yield [ids, false]
    for (const typo of typos) yield [this.#ids.get(typo) ?? [], true]
  }

  *#lettersAfter(prefix: string): Generator<string> {
    if (prefix === '') yield* this.#sorted.keys()
    const terms = this.#sorted.get(prefix.charAt(0)) ?? []
    const end = endOf(terms, prefix)
    for (let at = placeOf(terms, prefix); at < end; ) {
      const letter = terms[at]?.term.charAt(prefix.length) ?? ''
      if (letter !== '') yield letter
      at = letter === '' ? at + 1 : endOf(terms, prefix + letter)
    }
  }

  #add(term: string, id: number): void {
    const ids = this.#ids.get(term)
    if (ids !== undefined) {
      insert(ids, id)
      return
    }
    const posting = { term, ids: [id] }
    this.#ids.set(term, posting.ids)
    const terms = this.#sorted.get(term.charAt(0)) ?? []
    if (terms.length === 0) this.#sorted.set(term.charAt(0), terms)
    terms.splice(placeOf(terms, term), 0, posting)
  }

  #remove(term: string, id: number): void {
    const ids = this.#ids.get(term)
    if (ids === undefined) return
    remove(ids, id)
    if (ids.length > 0) return
    this.#ids.delete(term)
    const terms = this.#sorted.get(term.charAt(0)) ?? []
    terms.splice(placeOf(terms, term), 1)
    if (terms.length === 0) this.#sorted.delete(term.charAt(0))
  }
}

/** The position after all terms with a prefix. */
const endOf = (sorted: readonly Posting[], prefix: string): number =>
  lowerBound(sorted, ({ term }) => term < prefix || term.startsWith(prefix))

const placeOf = (sorted: readonly Posting[], wanted: string): number =>
  lowerBound(sorted, ({ term }) => term < wanted)

function insert(sorted: number[], value: number): void {
  sorted.splice(
    lowerBound(sorted, (one) => one < value),
    0,
    value,
  )
}

function remove(sorted: number[], value: number): void {
  const at = lowerBound(sorted, (one) => one < value)
  if (sorted[at] === value) sorted.splice(at, 1)
}
