import { failAt } from './expression-error.ts'
import { format } from './format.ts'
import type { BuiltinFunction } from './run.ts'
import { mapCharacters, replaceText, splitText, trimText } from './text.ts'
import {
  elementTypeOf,
  noStrings,
  toInt,
  toList,
  toText,
  typedList,
  type Value,
  wrongType,
} from './value.ts'

/** The builtins on strings. */
export const strings: readonly (readonly [string, BuiltinFunction])[] = [
  ['upper', ofTexts((text = '') => mapCharacters(text, (one) => one.toUpperCase()))],
  ['lower', ofTexts((text = '') => mapCharacters(text, (one) => one.toLowerCase()))],
  ['trim', ofTexts((text = '', cutset) => trimText(text, cutset))],
  ['trimPrefix', ofTexts((text = '', prefix = ' ') => withoutPrefix(text, prefix))],
  ['trimSuffix', ofTexts((text = '', suffix = ' ') => withoutSuffix(text, suffix))],
  ['hasPrefix', ofTexts((text = '', prefix = '') => text.startsWith(prefix))],
  ['hasSuffix', ofTexts((text = '', suffix = '') => text.endsWith(suffix))],
  ['indexOf', ofTexts((text = '', part = '') => byteOffset(text, text.indexOf(part)))],
  ['lastIndexOf', ofTexts((text = '', part = '') => byteOffset(text, text.lastIndexOf(part)))],
  [
    'split',
    ([text = null, separator = null, limit = -1n], run, at) => {
      const whole = toText(text, at)
      const by = toText(separator, at)
      run.work(whole.length * (by === '' ? byCharacter : 1), at)
      const parts = toLimit(limit, at)
      return parts === 0 ? noStrings : typedList('string', splitText(whole, by, parts))
    },
  ],
  [
    'replace',
    ([value = null, old = null, by = null, limit = -1n], run, at) => {
      const [text, from, to] = [toText(value, at), toText(old, at), toText(by, at)]
      run.work(text.length * (from === '' ? byCharacter : 1), at)
      const places = from === '' ? text.length + 1 : text.split(from).length - 1
      run.work(places * to.length, at)
      return replaceText(text, from, to, toLimit(limit, at))
    },
  ],
  [
    'repeat',
    ([value = null, times = null], run, at) => {
      const text = toText(value, at)
      const count = toInt(times, at)
      if (count < 0n) return failAt(at, 'repeat needs a count of 0 or more')
      const size = BigInt(Buffer.byteLength(text)) * count
      run.grow(Number(count > 1_000_000n ? count : size), at)
      return text.repeat(Number(count))
    },
  ],
  [
    'join',
    ([value = null, separator = ''], run, at) => {
      const glue = toText(separator, at)
      const list = toList(value, at)
      if (elementTypeOf(list) === 'int') return failAt(at, 'join does not take a list of ints')
      const texts = list.map((item) => toText(item, at))
      const size = texts.reduce((sum, text) => sum + text.length + glue.length, 0)
      run.work(size, at)
      return texts.join(glue)
    },
  ],
  ['string', ([value = null], run, at) => format(value, run, at)],
]

/** Work factor of processing a text character by character instead of in one piece. */
const byCharacter = 4

function ofTexts(apply: (...texts: string[]) => Value): BuiltinFunction {
  return (args, run, at) => {
    const texts = args.map((arg) => toText(arg, at))
    for (const text of texts) run.work(text.length * byCharacter, at)
    return apply(...texts)
  }
}

function withoutPrefix(text: string, prefix: string): string {
  return text.startsWith(prefix) ? text.slice(prefix.length) : text
}

function withoutSuffix(text: string, suffix: string): string {
  return text.endsWith(suffix) ? text.slice(0, text.length - suffix.length) : text
}

function byteOffset(text: string, offset: number): bigint {
  return offset < 0 ? -1n : BigInt(Buffer.byteLength(text.slice(0, offset)))
}

function toLimit(value: Value, at: number): number {
  if (value === null) return wrongType(value, 'an int', at)
  const limit = toInt(value, at)
  return limit < 0n ? -1 : Math.min(Number(limit), Number.MAX_SAFE_INTEGER)
}
