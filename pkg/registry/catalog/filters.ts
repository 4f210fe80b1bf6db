import type { ParentKind } from '../../api/v1alpha1/v1alpha1.ts'
import { Bits, compareText } from './collections.ts'
import { severities } from './findings.ts'
import { compareAddress } from './orders.ts'
import type { Listed, Summary } from './summary.ts'

/** Filters of a list. Undefined ones do not filter. */
export interface Selection {
  /** Any of these. */
  readonly namespaces?: readonly string[] | undefined
  readonly kind?: ParentKind | undefined
  /** Words of the address, or a whole address, in any case. */
  readonly text?: string | undefined
  readonly synced?: boolean | undefined
  /** If both are given, one platform has to match both; in any case. */
  readonly os?: string | undefined
  readonly arch?: string | undefined
  /** Minimum severity, in the latest version. */
  readonly severity?: SeverityLevel | undefined
  readonly publicOnly?: boolean | undefined
}

interface Sets {
  readonly seen: Bits
  readonly isPublic: Bits
  readonly tags: TagSets
  readonly names: NameSearch
}

/** The visible entries of a selection, as a set that must not be changed. */
export function chosen(selection: Selection, sets: Sets): Bits {
  const { namespaces, kind, text, synced, os, arch, severity, publicOnly } = selection
  const { tags } = sets
  const parts: Bits[] = []
  if (publicOnly) parts.push(sets.isPublic)
  if (kind !== undefined) parts.push(tags.get(tag.kind(kind)))
  if (synced !== undefined) parts.push(tags.get(tag.synced(synced)))
  if (os !== undefined || arch !== undefined) parts.push(tags.get(tag.platform(os, arch)))
  if (severity !== undefined) parts.push(tags.get(tag.severity(severity)))
  if (namespaces !== undefined) parts.push(anyOf(namespaces, tags))
  if (parts.length === 0 && text === undefined) return sets.seen
  const set = sets.seen.copy()
  for (const part of parts) set.keep(part)
  if (text !== undefined) sets.names.narrow(set, text)
  return set
}

function anyOf(namespaces: readonly string[], tags: TagSets): Bits {
  const [first = '', ...others] = new Set(namespaces)
  const union = tags.get(tag.namespace(first))
  if (others.length === 0) return union
  return others.reduce((set, name) => set.merge(tags.get(tag.namespace(name))), union.copy())
}

/** The severities to filter by. An entry with one of them also has all milder ones. */
const severityLevels = ['CRITICAL', 'HIGH', 'MEDIUM', 'LOW'] as const
export type SeverityLevel = (typeof severityLevels)[number]

const noEntries = new Bits()

/** The entries for each value of a filter. */
export class TagSets {
  readonly #sets = new Map<string, Bits>()

  get(tag: string): Bits {
    return this.#sets.get(tag) ?? noEntries
  }

  /** Moves an entry from the sets of its old summary to those of its new summary. */
  update(number: number, old: Summary | undefined, summary: Summary | undefined): void {
    const before = new Set(old && tagsOf(old))
    const after = new Set(summary && tagsOf(summary))
    for (const tag of before) if (!after.has(tag)) this.#delete(tag, number)
    for (const tag of after) if (!before.has(tag)) this.#add(tag, number)
  }

  #add(tag: string, number: number): void {
    let set = this.#sets.get(tag)
    if (set === undefined) {
      set = new Bits()
      this.#sets.set(tag, set)
    }
    set.add(number)
  }

  #delete(tag: string, number: number): void {
    const set = this.#sets.get(tag)
    set?.delete(number)
    if (set?.empty) this.#sets.delete(tag)
  }
}

/** Names of the sets. */
export const tag = {
  kind: (kind: ParentKind) => `kind ${kind}`,
  namespace: (namespace: string) => `namespace ${namespace}`,
  synced: (synced: boolean) => `synced ${synced}`,
  /** A platform with both parts, one part or none set. */
  platform: (os = '', arch = '') => `platform ${os.toLowerCase()}/${arch.toLowerCase()}`,
  severity: (level: SeverityLevel) => `severity ${level}`,
}

function tagsOf({ kind, namespace, synced, platforms, scanCounts }: Summary): string[] {
  const tags = [tag.kind(kind), tag.namespace(namespace), tag.synced(synced)]
  for (const platform of platforms) {
    const [os, arch] = platform.split('/')
    if (os) tags.push(tag.platform(os))
    if (arch) tags.push(tag.platform('', arch))
    if (os && arch) tags.push(tag.platform(os, arch))
  }
  if (scanCounts === undefined) return tags
  const worst = severities.findIndex((severity) => scanCounts[severity] > 0)
  if (worst !== -1) tags.push(...severityLevels.slice(worst).map(tag.severity))
  return tags
}

/**
 * Finds entries whose addresses contain every word of a text, in any case. An intersection finds the addresses with all pairs
 * of neighbouring characters of a word. Only these few are compared.
 */
export class NameSearch {
  /** Sets by one character and by two. */
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
    .map((word) => (/[/?#]/.test(word) ? addressIn(word) : word))
    .filter((word) => word !== '')
}

const addressIn = (word: string): string =>
  word
    .replace(/^\w+:\/\//, '')
    .replace(/(?:\/\/|[?#]).*$/s, '')
    .replace(/^[^/.:]*[.:][^/]*\/(?=[^/]+\/[^/])/, '')
    .replace(/^\/(?:-\/r\/)?/, '')
    .replace(/^([^/]+)\/(?:module|provider)\/([^/]+)\/?$/, '$1/$2')

/** Namespace, name and system; twice if configurations use another name than the object. */
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

/**
 * Rank of the best match. 0: equals the name, 1: is a prefix of the name, 2: is a prefix of a word of the address, 3: is
 * within a word.
 */
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

/** The single characters and the pairs of neighbours in a text. Some repeat. */
function gramsOf(text: string): string[] {
  const grams = text.split('')
  for (let index = 1; index < text.length; index += 1) grams.push(text.slice(index - 1, index + 1))
  return grams
}
