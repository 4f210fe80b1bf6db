import { Fault } from './expression-error.ts'

export const maxInt = 2n ** 63n - 1n

/** @param text decimal, or with one of the prefixes 0x, 0o and 0b; underscores do not count */
export function readInt(text: string, at: number): bigint {
  const digits = text.replaceAll('_', '').toLowerCase()
  // Leading zeros are decimal.
  if (!/^(?:0x[\da-f]+|0o[0-7]+|0b[01]+|\d+)$/.test(digits)) {
    throw new Fault('InvalidSyntax', at, `${text} is not a number`)
  }
  const value = BigInt(digits)
  if (value > maxInt) throw new Fault('InvalidSyntax', at, `${text} does not fit into 64 bits`)
  return value
}

export function readFloat(text: string, at: number): number {
  const digits = text.replaceAll('_', '')
  const value = parseDecimal(digits)
  if (value === undefined) throw new Fault('InvalidSyntax', at, `${text} is not a number`)
  return value
}

/** A finite decimal number, or undefined. */
export function parseDecimal(text: string): number | undefined {
  if (!/^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?$/i.test(text)) return undefined
  const value = Number(text)
  return Number.isFinite(value) ? value : undefined
}
