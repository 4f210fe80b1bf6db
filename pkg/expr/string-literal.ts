import { Fault } from './expression-error.ts'

interface Literal {
  readonly value: string
  /** With its quotes, in code units. */
  readonly length: number
}

const simpleEscapes: Readonly<Record<string, string>> = {
  a: '\x07',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
  '\\': '\\',
}

const numericEscape =
  /\\(?:(?<octal>[0-3][0-7]{2})|x(?<byte>[\da-fA-F]{2})|u(?<short>[\da-fA-F]{4})|U(?<long>[\da-fA-F]{8})|u\{(?<braced>[\da-fA-F]{1,6})\})/y

/** Reads a string in single or double quotes. Raw line feeds are not allowed, and carriage returns become line feeds. */
export function readQuoted(source: string, start: number): Literal {
  const quote = source.charAt(start)
  let value = ''
  let at = start + 1
  while (source.charAt(at) !== quote) {
    const character = source.charAt(at)
    if (character === '' || character === '\n') {
      throw new Fault('InvalidSyntax', start, 'this string is not terminated')
    }
    if (character === '\\') {
      const escaped = readEscape(source, at, quote)
      value += escaped.value
      at += escaped.length
    } else {
      value += character === '\r' ? '\n' : character
      at += 1
    }
  }
  return { value, length: at + 1 - start }
}

/** Reads a string in backticks: no escapes, and a doubled backtick is a backtick. */
export function readRaw(source: string, start: number): Literal {
  let at = start + 1
  for (;;) {
    at = source.indexOf('`', at)
    if (at < 0) throw new Fault('InvalidSyntax', start, 'this string is not terminated')
    if (source.charAt(at + 1) !== '`') break
    at += 2
  }
  const value = source.slice(start + 1, at).replaceAll('``', () => '`')
  return { value, length: at + 1 - start }
}

function readEscape(source: string, at: number, quote: string): Literal {
  const letter = source.charAt(at + 1)
  if (letter === quote) return { value: quote, length: 2 }
  const simple = Object.hasOwn(simpleEscapes, letter) ? simpleEscapes[letter] : undefined
  if (simple !== undefined) return { value: simple, length: 2 }

  numericEscape.lastIndex = at
  const match = numericEscape.exec(source)
  const { octal, ...hexadecimal } = match?.groups ?? {}
  const digits = octal ?? Object.values(hexadecimal).find((group) => group !== undefined)
  const codePoint = Number.parseInt(digits ?? '', octal === undefined ? 16 : 8)
  if (match === null || codePoint > 0x10ffff) {
    throw new Fault('InvalidSyntax', at, 'invalid escape; write a backslash as \\\\ or use `…`')
  }
  // Two escaped surrogates do not make a pair.
  return { value: String.fromCodePoint(codePoint).toWellFormed(), length: match[0].length }
}
