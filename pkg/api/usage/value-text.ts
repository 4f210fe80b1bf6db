import type { InputDocs } from '../docs/docs.ts'

/** Text in which nothing is a template. */
const withoutTemplates = (text: string): string => text.replaceAll(/([$%])\{/g, '$1$1{')

/** Controls, and marks that hide or reverse text. */
const unseen = /[\p{C}\p{Zl}\p{Zp}]/gu
const shortEscapes: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' }

function escapeOf(character: string): string {
  const code = (character.codePointAt(0) ?? 0).toString(16)
  const long = code.length > 4 ? `\\U${code.padStart(8, '0')}` : `\\u${code.padStart(4, '0')}`
  return shortEscapes[character] ?? long
}

/** A quoted HCL string: nothing in it is a template, ends it, or is hidden. */
export function quoted(text: string): string {
  const escaped = text.toWellFormed().replaceAll(/["\\]/g, '\\$&').replaceAll(unseen, escapeOf)
  return `"${withoutTemplates(escaped)}"`
}

type Value = NonNullable<InputDocs['default']> | null

const key = /^(?!(?:for|null|true|false)$)[\p{L}_][\p{L}\p{N}_-]*$/u
/** Lists of simple values that are not longer stay in one line. */
const longestLine = 40

/** A value as people write it in a configuration. Text that ends with a line keeps its lines. */
export function valueText(value: Value): string {
  if (typeof value !== 'string' || !isHeredoc(value)) return nestedText(value, '')
  return `<<EOT\n${withoutTemplates(value)}EOT`
}

const isHeredoc = (text: string): boolean =>
  text.endsWith('\n') &&
  text.replaceAll(/[\n\t]/g, '').search(unseen) === -1 &&
  !/^[^\S\n]*EOT[^\S\n]*$/m.test(text)

function nestedText(value: Value, indent: string): string {
  if (typeof value === 'string') return quoted(value)
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const inner = `${indent}  `
  if (Array.isArray(value)) {
    const items = value.map((item) => nestedText(item, inner))
    const line = `[${items.join(', ')}]`
    if (line.length <= longestLine && !line.includes('\n')) return line
    return `[\n${items.map((item) => `${inner}${item},\n`).join('')}${indent}]`
  }
  const lines = Object.entries(value).map(
    ([name, item]) =>
      `${inner}${key.test(name) ? name : quoted(name)} = ${nestedText(item, inner)}\n`,
  )
  return lines.length === 0 ? '{}' : `{\n${lines.join('')}${indent}}`
}
