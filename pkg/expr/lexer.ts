import { Fault } from './expression-error.ts'
import { readQuoted, readRaw } from './string-literal.ts'

export interface SyntaxToken {
  readonly kind: 'name' | 'operator' | 'bracket' | 'number' | 'string' | 'end'
  /** As written; for a string its value. */
  readonly text: string
  /** Offset in the source. */
  readonly at: number
}

// The characters of Go's unicode.IsSpace, which differ from those of \s and trim() in JavaScript.
const blank = /[\t\n\v\f\r \u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+/y
const comment = /\/\/[^\n]*|\/\*[\s\S]*?\*\//y
const word = /[\p{L}\p{Nd}_$]+/uy
const pointer = /##?/y
const operator = /\|\|?|::?|\?[.?]?|\.\.?|\/|[,;%+\-^]|[&!=*<>][&=*]?/y
const bracket = /[()[\]{}]/y

const keywords = new Set(
  'not in or and matches contains startsWith endsWith let if else'.split(' '),
)

/** Cuts an expression into tokens, the last of which is `end`. */
export function tokenize(source: string): SyntaxToken[] {
  const tokens: SyntaxToken[] = []
  let at = 0
  const take = (pattern: RegExp): string | undefined => {
    pattern.lastIndex = at
    return pattern.exec(source)?.[0]
  }
  const push = (kind: SyntaxToken['kind'], text: string, length = text.length) => {
    tokens.push({ kind, text, at })
    at += length
  }

  while (at < source.length) {
    const skipped = take(blank) ?? take(comment)
    if (skipped !== undefined) {
      at += skipped.length
      continue
    }
    const first = source.charAt(at)
    const second = source.charAt(at + 1)
    if (first === '/' && second === '*') {
      throw new Fault('InvalidSyntax', at, 'this comment is not closed')
    }
    if (first === '"' || first === "'") {
      const literal = readQuoted(source, at)
      push('string', literal.value, literal.length)
    } else if (first === '`') {
      const literal = readRaw(source, at)
      push('string', literal.value, literal.length)
    } else if (/[bB]/.test(first) && /["']/.test(second)) {
      throw new Fault('Unsupported', at, 'bytes literals are not supported in group rules')
    } else if (/\d/.test(first) || (first === '.' && /\d/.test(second))) {
      push('number', readNumber(source, at))
    } else if (first === '#') {
      push('operator', take(pointer) ?? first)
      // A name directly after it is the pointer's name, even if it is a keyword.
      const name = take(word)
      if (name !== undefined) push('name', name)
    } else {
      const name = take(word)
      const mark = take(operator)
      if (name !== undefined) push(keywords.has(name) ? 'operator' : 'name', name)
      else if (mark !== undefined) push('operator', mark)
      else if (take(bracket) !== undefined) push('bracket', first)
      else throw unrecognized(source, at)
    }
  }
  push('end', 'end of the expression', 0)
  return tokens
}

const radixes = [
  { prefix: /0[xX]/y, digits: /[\da-fA-F_]*/y },
  { prefix: /0[oO]/y, digits: /[0-7_]*/y },
  { prefix: /0[bB]/y, digits: /[01_]*/y },
  { prefix: /(?:)/y, digits: /[\d_]*/y },
]

function readNumber(source: string, start: number): string {
  let at = start
  const skip = (pattern: RegExp): boolean => {
    pattern.lastIndex = at
    const length = pattern.exec(source)?.[0].length
    at += length ?? 0
    return length !== undefined
  }
  const digits = radixes.find(({ prefix }) => skip(prefix))?.digits ?? /\d*/y
  skip(digits)
  // In 1..3 the dots are an operator.
  if (source.startsWith('..', at)) return source.slice(start, at)
  if (skip(/\./y)) skip(digits)
  if (skip(/[eE][+-]?/y)) skip(digits)
  if (skip(word)) throw new Fault('InvalidSyntax', at - 1, 'a number ends where a letter follows')
  return source.slice(start, at)
}

function unrecognized(source: string, at: number): Fault {
  const codePoint = source.codePointAt(at) ?? 0
  const code = codePoint.toString(16).toUpperCase().padStart(4, '0')
  const message = `unrecognized character U+${code} '${String.fromCodePoint(codePoint)}'`
  return new Fault('InvalidSyntax', at, message)
}
