import { Bits } from './bits.ts'
import type { Listed } from './listed.ts'
import { compareAddress } from './orders.ts'
import { compareText } from './semver-order.ts'

const noEntries = new Bits()

/**
 * Finds the entries whose addresses contain every word of a text, in any case. An intersection finds the addresses that have
 * all pairs of neighbouring characters of a word; only these few are compared.
 */
export class NameSearch {
  /** By one character, and by two. */
  readonly #grams = new Map<string, Bits>()
  /** Addresses in lower case, by number. */
  readonly #texts: string[] = []

  /** Adds an entry, or follows a change of its address. */
  put(entry: Listed): void {
    const text = addressesOf(entry).join(' ')
    if (this.#texts[entry.number] === text) return
    this.delete(entry)
    this.#texts[entry.number] = text
    for (const gram of gramsOf(text)) {
      const set = this.#grams.get(gram) ?? new Bits()
      set.add(entry.number)
      this.#grams.set(gram, set)
    }
  }

  delete({ number }: Listed): void {
    for (const gram of gramsOf(this.#texts[number] ?? '')) {
      const set = this.#grams.get(gram)
      set?.delete(number)
      if (set?.empty) this.#grams.delete(gram)
    }
    this.#texts[number] = ''
  }

  /** Removes entries from a set that lack a word of the text. */
  narrow(set: Bits, text: string): void {
    for (const word of wordsOf(text)) {
      const size = Math.min(2, word.length)
      for (let end = size; end <= word.length; end += 1) {
        set.keep(this.#grams.get(word.slice(end - size, end)) ?? noEntries)
      }
      if (word.length > 2) set.filter((number) => this.#texts[number]?.includes(word) === true)
    }
  }
}

/** The words of a text in lower case. Addresses lose their host, and paths of the explorer their kind. */
export function wordsOf(text: string): string[] {
  return text
    .toLowerCase()
    .split(/[\s"']+/)
    .map((word) =>
      word
        .replace(/^\w+:\/\//, '')
        .replace(/(?:\/\/|[?#]).*$/s, '')
        .replace(/^[^/.:]*[.:][^/]*\/(?=[^/]+\/[^/])/, '')
        .replace(/^\/(?:-\/r\/)?/, '')
        .replace(/^([^/]+)\/(?:module|provider)\/([^/]+)\/?$/, '$1/$2'),
    )
    .filter((word) => word !== '')
}

/** Namespace, name and system; twice if configurations use another name than the object has. */
function addressesOf({ summary: { namespace, name, address } }: Listed): string[] {
  const all = [`${namespace}/${address}`]
  if (address !== name && !address.startsWith(`${name}/`)) all.push(`${namespace}/${name}`)
  return all.map((one) => one.toLowerCase())
}

/** Sorts entries by relevance, then by downloads and name. */
export function sortByRelevance(entries: readonly Listed[], text: string): Listed[] {
  const words = wordsOf(text)
  const ranks = new Map(entries.map((entry) => [entry, rankOf(entry, words)]))
  return entries.toSorted(
    (a, b) =>
      (ranks.get(a) ?? 0) - (ranks.get(b) ?? 0) ||
      b.summary.downloads - a.summary.downloads ||
      compareText(a.summary.name, b.summary.name) ||
      compareAddress(a.summary, b.summary),
  )
}

/** Rank of the best match. 0: equals the name, 1: begins the name, 2: begins a word of the address, 3: is within one. */
function rankOf(entry: Listed, words: readonly string[]): number {
  const addresses = addressesOf(entry)
  const name = entry.summary.name.toLowerCase()
  const ranks = words.map((word) => {
    const targets = word.includes('/') ? addresses : [name]
    if (targets.some((target) => `${target}/`.startsWith(`${word}/`))) return 0
    if (targets.some((target) => target.startsWith(word))) return 1
    return addresses.some((address) => beginsWord(address, word)) ? 2 : 3
  })
  return Math.min(3, ...ranks)
}

function beginsWord(text: string, word: string): boolean {
  for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + 1)) {
    if (at === 0 || !/[\p{L}\p{N}]/u.test(text.charAt(at - 1))) return true
  }
  return false
}

function gramsOf(text: string): Set<string> {
  const grams = new Set(text.split(''))
  for (let index = 1; index < text.length; index += 1) grams.add(text.slice(index - 1, index + 1))
  return grams
}
