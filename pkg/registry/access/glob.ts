import { ReasonError } from '../../base/errors/errors.ts'

/** Limit of a pattern, in characters. Names are shorter. */
const maxLength = 1024

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
  const reader = new Reader(pattern)
  /** Sources of what is between stars. */
  const chunks = ['']
  while (!reader.done) {
    const character = reader.next()
    if (character === '*') chunks.push('')
    else chunks.push(chunks.pop() + sourceOf(reader, character))
  }
  const [first, ...others] = chunks
  const last = others.pop()
  // The first position where a chunk fits is as good as any later one, so a look ahead keeps it from being tried again.
  const middle = others.map((chunk, index) => `(?=([^/]*?${chunk}))\\${index + 1}`)
  const end = last === undefined ? '' : `[^/]*${last}`
  const expression = new RegExp(`^${first}${middle.join('')}${end}$`, 'su')
  return (name) => expression.test(name)
}

function sourceOf(reader: Reader, character: string): string {
  if (character === '[') return classOf(reader)
  if (character === '?') return '[^/]'
  return literalOf(character === '\\' ? reader.next() : character)
}

/** The rest of a class after its opening bracket. At least one range is needed, and `]` and `-` need a backslash. */
function classOf(reader: Reader): string {
  const negation = reader.skip('^') ? '^' : ''
  let ranges = ''
  do {
    const from = reader.inClass()
    const to = reader.skip('-') ? reader.inClass() : from
    // The other way round a range has nothing in it.
    if (from <= to) ranges += `${from}-${to}`
  } while (!reader.skip(']'))
  return `[${negation}${ranges}]`
}

/** All of one length, so that their order is that of the characters. */
const literalOf = (character: string): string =>
  `\\u{${character.codePointAt(0)?.toString(16).padStart(6, '0')}}`

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

  /** The source of a character of a class. */
  inClass(): string {
    const character = this.next()
    if (character === '-' || character === ']') {
      throw new ReasonError('InvalidPattern', `'${character}' in a class needs a backslash`)
    }
    return literalOf(character === '\\' ? this.next() : character)
  }
}
