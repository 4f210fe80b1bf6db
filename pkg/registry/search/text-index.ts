import { searchFields } from '../../api/browse/browse.ts'
import type { ModuleDocs } from '../../api/docs/docs.ts'
import { badRequest } from '../../base/errors/errors.ts'
import {
  type Bits,
  type Catalog,
  type Listed,
  type Selection,
  searchedWords,
  type View,
} from '../catalog/catalog.ts'
import { type Expanded, TermIndex } from './term-index.ts'
import { termOf, termsOf, wordsIn } from './terms.ts'
import { type Field, namesOf, rankOfField, type Texts, textsOf } from './texts.ts'

/** The id of a text is the number of the entry and, in the lowest bits, the number of the field. */
const fieldBits = 4
const fieldMask = (1 << fieldBits) - 1
const ranksOfFields = searchFields.map((field) => rankOfField[field])
const nameField = searchFields.indexOf('name')
/** Number of entries that one question brings up to date. A hundred take some milliseconds. */
const sliceEntries = 100
/** Number of matching visible texts that one question reads. */
const maxMatches = 100_000
const maxWords = 8
const maxBytes = 256
const shownMatches = 5
/** Matches with a typing error come after all others. */
const typoRank = 7
/** Larger than the sum of the ranks of all words, and the largest number of a clamped byte: adding to it has no effect. */
const noRank = 255

export interface Match {
  readonly field: Field
  readonly text: string
}

export interface Hits {
  readonly count: number
  /** Numbers of the entries, best first. */
  readonly numbers: Uint32Array
  /** Best first. */
  readonly slice: (start: number, end: number) => readonly Listed[]
  /** Whether there may be more results, because the question matches too much. */
  readonly isTruncated: boolean
  /** The texts of an entry that contain a word of the question. */
  readonly matchesOf: (entry: Listed) => readonly Match[]
}

export interface SearchFilter extends Omit<Selection, 'text'> {
  /** Whether typing errors count only for words without an exact match. */
  readonly exactFirst?: boolean
}

interface Indexed {
  readonly entry: Listed
  readonly revision: number
  /** Digest of the documentation of the latest version. */
  readonly digest: string | undefined
  texts: Texts
}

/** Documentation that the index lacks. */
export interface Wanted {
  readonly entry: Listed
  readonly version: string
  readonly digest: string
}

/**
 * An index of the catalog. Questions and the feed bring it up to date in slices. It compares the revisions of entries, so a
 * change of the catalog costs nothing here until then.
 */
export class Search {
  readonly #model: Catalog['model']
  readonly #terms = new TermIndex()
  readonly #indexed: (Indexed | undefined)[] = []
  readonly #wanted = new Map<Listed, Wanted>()
  #seen = -1
  #next = 0
  #revision = 0
  #isFollowing = false
  /** Called when documentation is wanted. */
  onWanted: () => void = () => {}

  constructor({ model }: Catalog) {
    this.#model = model
  }

  /** Counts changes of answers. */
  get revision(): number {
    return this.#model.revision + this.#revision
  }

  /** Applies some changes of the catalog. @returns whether all are applied */
  advance(): boolean {
    const { revision, entries } = this.#model
    if (revision !== this.#seen) this.#next = 0
    this.#seen = revision
    const length = Math.max(entries.length, this.#indexed.length)
    for (let left = sliceEntries; this.#next < length && left > 0; this.#next += 1) {
      if (this.#refresh(this.#next, entries[this.#next])) left -= 1
    }
    if (this.#wanted.size > 0) this.onWanted()
    return this.#next >= length && this.#model.settled
  }

  /** Applies some changes now, and the rest between other events. @returns whether all are applied */
  follow(): boolean {
    const isDone = this.advance()
    if (isDone || this.#isFollowing) return isDone
    this.#isFollowing = true
    setImmediate(() => {
      this.#isFollowing = false
      this.follow()
    })
    return false
  }

  /** Returns documentation to read and to pass to {@link describe}. */
  take(): Wanted | undefined {
    const [first] = this.#wanted.values()
    if (first !== undefined) this.#wanted.delete(first.entry)
    return first
  }

  /** Requests documentation again, if it is still the current one. */
  want(wanted: Wanted): void {
    if (this.#isCurrent(wanted)) this.#wanted.set(wanted.entry, wanted)
  }

  /** Adds the terms of documentation, if it is still the current one. */
  describe(wanted: Wanted, docs: ModuleDocs): void {
    const { entry } = wanted
    if (this.#isCurrent(wanted)) this.#write(entry.number, { ...namesOf(entry), ...textsOf(docs) })
  }

  /** The description in the documentation of the latest version, if the index has read it. */
  descriptionOf(entry: Listed): string {
    const indexed = this.#indexed[entry.number]
    return (indexed?.entry === entry && indexed.texts.description) || ''
  }

  /** @throws RegistryError BadRequest if the text is too long */
  find(view: View, filter: SearchFilter, text: string): Hits {
    const isCurrent = this.follow()
    const words = queryWords(text)
    const expanded = words.map((word) => this.#terms.expand(word))
    const chosen = this.#model.chosen(view, filter)
    const among = isCurrent ? chosen : chosen.copy()
    if (!isCurrent) among.filter((number) => this.#isOf(number))
    const { ranks, isTruncated } = this.#rank(expanded, among, filter.exactFirst === true)
    const found = byRank(this.#model.popular, ranks)
    return {
      count: found.length,
      numbers: found,
      slice: (start, end) => {
        const entries: Listed[] = []
        for (const number of found.subarray(start, end)) {
          entries.push(this.#indexed[number]?.entry as Listed)
        }
        return entries
      },
      isTruncated,
      matchesOf: (entry) => this.#matchesOf(entry, expanded),
    }
  }

  /** By number: the sum of the ranks of the best matches of each word, or {@link noRank}. */
  #rank(words: readonly Expanded[], among: Bits, exactFirst: boolean) {
    const ranks = new Uint8ClampedArray(this.#indexed.length)
    if (words.length === 0) ranks.fill(noRank)
    let isTruncated = false
    for (const word of words) {
      let left = maxMatches
      let hasExact = false
      const best = new Uint8Array(ranks.length).fill(noRank)
      for (const [ids, isTypo] of this.#terms.idsOf(word)) {
        if (left <= 0 || (isTypo && exactFirst && hasExact)) break
        for (const id of ids) {
          const number = id >>> fieldBits
          if (ranks[number] === noRank || !among.has(number)) continue
          left -= 1
          hasExact ||= !isTypo
          const field = id & fieldMask
          const isName = field === nameField && !isTypo
          const rank = isName
            ? this.#rankOfName(number, word.word)
            : (ranksOfFields[field] ?? 0) + (isTypo ? typoRank : 0)
          if (rank < (best[number] ?? 0)) best[number] = rank
        }
      }
      for (let number = 0; number < ranks.length; number += 1) {
        ranks[number] = (ranks[number] ?? 0) + (best[number] ?? 0)
      }
      isTruncated ||= left <= 0
    }
    return { ranks, isTruncated }
  }

  #rankOfName(number: number, word: string): number {
    const names = `\n${this.#indexed[number]?.texts.name ?? ''}\n`.toLowerCase()
    if (names.includes(`\n${word}\n`)) return 0
    return names.includes(`\n${word}`) ? 1 : rankOfField.name
  }

  #matchesOf({ number }: Listed, words: readonly Expanded[]): Match[] {
    const texts = this.#indexed[number]?.texts ?? {}
    const isMatch = (term: string) =>
      words.some(({ word, typos }) => term.startsWith(termOf(word)) || typos.includes(term))
    const parts = words.flatMap(({ word, typos }) => [word, ...typos])
    const mayMatch = (line: string) => parts.some((part) => line.includes(part))
    return searchFields.flatMap((field) => {
      const text = texts[field] ?? ''
      if (!mayMatch(text.toLowerCase())) return []
      return text
        .split('\n')
        .filter((line) => mayMatch(line.toLowerCase()) && termsOf(line).values().some(isMatch))
        .slice(0, shownMatches)
        .map((line) => ({ field, text: line }))
    })
  }

  /** Updates an entry. @returns false if it has not changed */
  #refresh(number: number, entry: Listed | undefined): boolean {
    const known = this.#indexed[number]
    if (known?.entry === entry && known?.revision === entry?.revision) return false
    if (known !== undefined && known.entry !== entry) this.#drop(number, known)
    if (entry === undefined) return true
    const wanted = wantedOf(entry)
    const isDescribed = known?.entry === entry && known.digest === wanted?.digest
    const indexed = known?.entry === entry ? known : { entry, texts: {} }
    const texts = { ...(isDescribed && indexed.texts), ...namesOf(entry) }
    this.#indexed[number] = { ...indexed, revision: entry.revision, digest: wanted?.digest }
    this.#write(number, texts)
    if (isDescribed) return true
    this.#wanted.delete(entry)
    if (wanted !== undefined) this.#wanted.set(entry, wanted)
    return true
  }

  #drop(number: number, { entry }: Indexed): void {
    this.#write(number, {})
    this.#wanted.delete(entry)
    this.#indexed[number] = undefined
  }

  #write(number: number, texts: Texts): void {
    const indexed = this.#indexed[number]
    if (indexed === undefined) return
    for (const [index, field] of searchFields.entries()) {
      const [before = '', now = ''] = [indexed.texts[field], texts[field]]
      if (before === now) continue
      this.#terms.replace((number << fieldBits) | index, before, now)
      this.#revision += 1
    }
    indexed.texts = texts
  }

  /** Another entry may have got the number since the last slice. */
  #isOf(number: number): boolean {
    return this.#indexed[number]?.entry === this.#model.entries[number]
  }

  #isCurrent({ entry, digest }: Wanted): boolean {
    const indexed = this.#indexed[entry.number]
    return indexed?.entry === entry && indexed.digest === digest
  }
}

/**
 * By rank: how many numbers have it, then the position of the next one. It is kept, because memory outside of the heap is
 * expensive to allocate.
 */
const next = new Uint32Array(noRank + 1)

/** The numbers that have a rank, lowest rank first, and in the given order for equal ranks. */
function byRank(numbers: Uint32Array, ranks: Uint8ClampedArray): Uint32Array {
  next.fill(0)
  for (const number of numbers) {
    const rank = ranks[number] ?? noRank
    next[rank] = (next[rank] ?? 0) + 1
  }
  let count = 0
  for (let rank = 0; rank < noRank; rank += 1) {
    const ofRank = next[rank] ?? 0
    next[rank] = count
    count += ofRank
  }
  const sorted = new Uint32Array(count)
  for (const number of numbers) {
    const rank = ranks[number] ?? noRank
    if (rank === noRank) continue
    const at = next[rank] ?? 0
    sorted[at] = number
    next[rank] = at + 1
  }
  return sorted
}

/** @throws RegistryError BadRequest if there are too many */
function queryWords(text: string): string[] {
  if (Buffer.byteLength(text) > maxBytes) throw tooLong(`${maxBytes} bytes`)
  const words = [...new Set(searchedWords(text).flatMap(wordsIn))]
  if (words.length > maxWords) throw tooLong(`${maxWords} words`)
  return words
}

const tooLong = (limit: string) =>
  badRequest(`q must have at most ${limit}: search for fewer words`)

/** The documentation of the latest version of a module. */
function wantedOf(entry: Listed): Wanted | undefined {
  const { parent, summary } = entry
  const version = summary.latestVersion
  if (version === undefined || parent.kind !== 'Module') return undefined
  const digest = parent.rowsOf(version).find((row) => row.docsDigest !== undefined)?.docsDigest
  return digest === undefined ? undefined : { entry, version, digest }
}
