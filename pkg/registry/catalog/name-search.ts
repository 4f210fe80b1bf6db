import { Bits } from './bits.ts'
import type { Listed } from './listed.ts'

const noEntries = new Bits()

/**
 * Finds what has some text in its name, whatever the case. The names that have all pairs of neighbouring characters of
 * the text are found by intersection; only those few are looked at.
 */
export class NameSearch {
  /** By one character, and by two. */
  readonly #grams = new Map<string, Bits>()
  /** In lower case, by number. */
  readonly #names: string[] = []

  add({ number, summary }: Listed): void {
    const name = summary.name.toLowerCase()
    this.#names[number] = name
    for (const gram of gramsOf(name)) {
      const set = this.#grams.get(gram) ?? new Bits()
      set.add(number)
      this.#grams.set(gram, set)
    }
  }

  delete({ number, summary }: Listed): void {
    this.#names[number] = ''
    for (const gram of gramsOf(summary.name.toLowerCase())) {
      const set = this.#grams.get(gram)
      set?.delete(number)
      if (set?.empty) this.#grams.delete(gram)
    }
  }

  /** Drops from a set what does not have the text in its name. */
  narrow(set: Bits, text: string): void {
    const wanted = text.toLowerCase()
    for (const gram of pairsOf(wanted)) set.keep(this.#grams.get(gram) ?? noEntries)
    if (wanted.length > 2) set.filter((number) => this.#names[number]?.includes(wanted) === true)
  }
}

function gramsOf(name: string): Set<string> {
  const grams = new Set(name.split(''))
  for (let index = 1; index < name.length; index += 1) grams.add(name.slice(index - 1, index + 1))
  return grams
}

/** The pairs of a text; of a single character, itself. */
function pairsOf(text: string): Set<string> {
  if (text.length < 2) return new Set([text])
  return new Set(
    Array.from({ length: text.length - 1 }, (_, index) => text.slice(index, index + 2)),
  )
}
