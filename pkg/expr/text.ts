import { failAt } from './expression-error.ts'

/** Compares by code points, which is the order of the bytes of UTF-8. `<` in JavaScript sorts U+FFFF after an emoji. */
export function compareCodePoints(left: string, right: string): number {
  const end = Math.min(left.length, right.length)
  for (let index = 0; index < end; index += 1) {
    const a = left.charCodeAt(index)
    const b = right.charCodeAt(index)
    if (a !== b) return rank(a) - rank(b)
  }
  return left.length - right.length
}

/** Surrogates represent code points above all others. */
function rank(unit: number): number {
  return unit >= 0xd800 && unit < 0xe000 ? unit + 0x10000 : unit
}

/** In code points. */
export function lengthOf(text: string): number {
  let surrogates = 0
  for (let index = 0; index < text.length; index += 1) {
    if ((text.charCodeAt(index) & 0xfc00) === 0xdc00) surrogates += 1
  }
  return text.length - surrogates
}

const leadingBlanks = /^[\t\n\v\f\r \u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+/
const blank = new RegExp(leadingBlanks.source.slice(1, -1))

/** @param cutset the characters to drop from both ends; default: white space as in Go, which differs from trim() */
export function trimText(text: string, cutset?: string): string {
  const characters = Array.from(text)
  const dropped = cutset === undefined ? undefined : new Set(cutset)
  const keeps = (character: string) =>
    dropped === undefined ? !blank.test(character) : !dropped.has(character)
  const first = characters.findIndex(keeps)
  return first < 0 ? '' : characters.slice(first, characters.findLastIndex(keeps) + 1).join('')
}

/** @param limit most parts, the last of which keeps the rest; negative: no limit */
export function splitText(text: string, separator: string, limit: number): string[] {
  const parts = separator === '' ? Array.from(text) : text.split(separator)
  if (limit < 0 || parts.length <= limit) return parts
  if (limit === 0) return []
  return [...parts.slice(0, limit - 1), parts.slice(limit - 1).join(separator)]
}

/** @param limit most replacements; negative: no limit. An empty `old` is found before each character and at the end. */
export function replaceText(text: string, old: string, by: string, limit: number): string {
  if (old !== '') return splitText(text, old, limit < 0 ? -1 : limit + 1).join(by)
  const characters = Array.from(text)
  const places = limit < 0 ? characters.length + 1 : Math.min(limit, characters.length + 1)
  const head = characters.slice(0, places).map((character) => by + character)
  return head.join('') + (places > characters.length ? by : characters.slice(places).join(''))
}

/** Offsets are those of bytes of UTF-8; both lie within the text. */
export function sliceBytes(text: string, from: number, to: number, at: number): string {
  const bytes = Buffer.from(text)
  const splits = (offset: number) => ((bytes[offset] ?? 0) & 0xc0) === 0x80
  if (from < to && (splits(from) || splits(to))) {
    failAt(at, 'this slice splits a character; offsets are those of bytes')
  }
  return bytes.toString('utf8', from, to)
}

// JavaScript has no simple case mapping of letters whose full mapping has several characters: the dotted I, and Greek
// vowels with an iota, whose simple upper case is their title case.
const titles = 'ᾈᾉᾊᾋᾌᾍᾎᾏᾘᾙᾚᾛᾜᾝᾞᾟᾨᾩᾪᾫᾬᾭᾮᾯᾼῌῼ'
const simpleMappings = new Map([
  ['\u0130', 'i'],
  ...Array.from(titles, (title) => [title.toLowerCase(), title] as const),
])

/** Maps character by character as Go does: without context, and one character to one. */
export function mapCharacters(text: string, change: (character: string) => string): string {
  let changed = ''
  for (const character of text) {
    const other = change(character)
    const single = lengthOf(other) === 1 ? other : simpleMappings.get(character)
    changed += single ?? character
  }
  return changed
}
