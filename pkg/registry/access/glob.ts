import { ReasonError } from '../../base/errors/errors.ts'

/** Limit of a pattern, in characters. Names are shorter. */
const maxLength = 1024

type Term = (character: string) => boolean

/** The part between two stars, and whether a star is before it. */
interface Chunk {
  readonly star: boolean
  readonly terms: readonly Term[]
}

/**
 * Compiles a pattern of Go's path.Match: `*` is any run of characters but `/`, `?` one character but `/`, `[a-z]` and
 * `[^a-z]` one character in or not in a class, even `/`, and a backslash escapes the next character. The whole name must
 * match. A match takes at most time proportional to pattern times name.
 *
 * Go reports a malformed pattern when it is matched; this function reports it before.
 *
 * @throws ReasonError InvalidPattern where the pattern is malformed or longer than 1024 characters
 */
export function compileGlob(pattern: string): (name: string) => boolean {
  if (pattern.length > maxLength) {
    throw new ReasonError('InvalidPattern', `the pattern is longer than ${maxLength} characters`)
  }
  if (!/[*?[\\]/.test(pattern)) return (name) => name === pattern
  const chunks = parseChunks(pattern)
  return (name) => matchChunks(chunks, Array.from(name))
}

function parseChunks(pattern: string): Chunk[] {
  const reader = new Reader(pattern)
  const chunks: { star: boolean; terms: Term[] }[] = [{ star: false, terms: [] }]
  while (!reader.done) {
    const character = reader.next()
    if (character === '*') {
      // Several stars in a row are like one.
      if (chunks.at(-1)?.terms.length !== 0 || chunks.length === 1) {
        chunks.push({ star: true, terms: [] })
      }
      continue
    }
    chunks.at(-1)?.terms.push(parseTerm(reader, character))
  }
  return chunks
}

function parseTerm(reader: Reader, character: string): Term {
  if (character === '[') return parseClass(reader)
  if (character === '?') return (other) => other !== '/'
  const literal = character === '\\' ? reader.next() : character
  return (other) => other === literal
}

/** The rest of a class after its opening bracket. At least one range is needed, and `]` and `-` need a backslash. */
function parseClass(reader: Reader): Term {
  const negated = reader.skip('^')
  const ranges: { from: number; to: number }[] = []
  do {
    const from = reader.inClass()
    ranges.push({ from, to: reader.skip('-') ? reader.inClass() : from })
  } while (!reader.skip(']'))
  return (character) => {
    const code = character.codePointAt(0) ?? 0
    return ranges.some(({ from, to }) => from <= code && code <= to) !== negated
  }
}

class Reader {
  readonly #characters: readonly string[]
  #index = 0

  constructor(pattern: string) {
    this.#characters = Array.from(pattern)
  }

  get done(): boolean {
    return this.#index >= this.#characters.length
  }

  next(): string {
    const character = this.#characters[this.#index]
    if (character === undefined)
      throw new ReasonError('InvalidPattern', 'the pattern ends too early')
    this.#index += 1
    return character
  }

  skip(character: string): boolean {
    const found = this.#characters[this.#index] === character
    if (found) this.#index += 1
    return found
  }

  inClass(): number {
    const character = this.next()
    if (character === '-' || character === ']') {
      throw new ReasonError('InvalidPattern', `'${character}' in a class needs a backslash`)
    }
    const literal = character === '\\' ? this.next() : character
    return literal.codePointAt(0) ?? 0
  }
}

/**
 * The first position where a chunk fits is as good as any later one, so nothing is tried twice. Only the last chunk must
 * reach the end.
 */
function matchChunks(chunks: readonly Chunk[], name: readonly string[]): boolean {
  let start = 0
  for (const [index, { star, terms }] of chunks.entries()) {
    const last = index === chunks.length - 1
    let at = start
    while (!fits(terms, name, at, last && (terms.length > 0 || !star))) {
      if (!star || at >= name.length || name[at] === '/') return false
      at += 1
    }
    // A star at the end matches the rest, unless there is a slash.
    if (last && star && terms.length === 0) return !name.slice(start).includes('/')
    start = at + terms.length
  }
  return true
}

function fits(
  terms: readonly Term[],
  name: readonly string[],
  at: number,
  toEnd: boolean,
): boolean {
  const end = at + terms.length
  if (toEnd ? end !== name.length : end > name.length) return false
  return terms.every((term, offset) => term(name[at + offset] ?? ''))
}
