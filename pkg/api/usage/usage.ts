/** Blocks to paste into a configuration to use a module or provider: the pages and coding agents get the same ones. */

import type { InputDocs, OutputDocs } from '../docs/docs.ts'

export interface Used {
  readonly registryHost: string
  readonly namespace: string
  readonly kind: string
  readonly name: string
  /** Target system of a module. */
  readonly provider?: string | undefined
  /** `name/system` of a module, or the type of a provider, if they differ from the object's name. */
  readonly address?: string | undefined
  /** Path of a submodule or example in the module. */
  readonly folder?: string | undefined
}

export type RequiredInput = Pick<InputDocs, 'name' | 'type'>

export type Tool = 'terraform' | 'tofu' | 'terragrunt'

/** System in addresses of modules without a system; the server accepts it. */
const anySystem = 'generic'

/** `namespace/name/system` of a module, `namespace/type` of a provider. */
export function addressOf({ namespace, kind, name, provider, address }: Used): string {
  if (address !== undefined) return `${namespace}/${address}`
  return kind === 'provider'
    ? `${namespace}/${name}`
    : `${namespace}/${name}/${provider ?? anySystem}`
}

/** A name as an HCL label: other characters become `_`, and a leading digit gets a `_` before it. */
export function labelOf(name: string): string {
  const label = name.replaceAll(/[^\p{L}\p{N}_-]/gu, '_')
  return /^[\p{L}_]/u.test(label) ? label : `_${label}`
}

/** The label of a module or provider in configurations. */
export const labelFor = (used: Used): string =>
  labelOf(used.folder?.split('/').at(-1) ?? addressOf(used).split('/')[1] ?? used.name)

/** A type without the indentation of the block that it is in. */
export function dedented(type: string): string {
  const [first = '', ...rest] = type.split(/\r\n?|\n/)
  const indents = rest.filter((line) => line.trim() !== '').map((line) => line.search(/\S/))
  const indent = indents.reduce((least, own) => Math.min(least, own), Number.POSITIVE_INFINITY)
  return [first, ...rest.map((line) => line.slice(indent))].join('\n')
}

/** Comments and quotes without an end go to the end, so that a token is looked for once. */
const typeTokens =
  /"(?:\\[^]|[^"\\])*(?:"|\\?$)|(?:#|\/\/)[^\n]*|\/\*[^]*?(?:\*\/|$)|[\p{L}_][\p{L}\p{N}_-]*|[^\s]/gu
/** Longer types are not written out. */
const longestType = 8_000
/** Names of at most so many letters are aligned. */
const longestAligned = 40
/** A block with more is not read. */
const mostRequired = 100
const deepestType = 32
/** Objects in objects that are written out. */
const shownLevels = 2

const widthOf = (names: readonly string[]): number =>
  names.reduce(
    (width, { length }) => (length > longestAligned ? width : Math.max(width, length)),
    0,
  )

/** A type without the attributes that callers may leave out; undefined for what is not a type. */
function neededOf(type: string): string | undefined {
  if (type.length > longestType) return '…'
  const tokens = (type.match(typeTokens) ?? []).filter((token) => !/^(?:#|\/[/*])/.test(token))
  let at = 0
  const take = (wanted: string): boolean => {
    if (tokens[at] !== wanted) return false
    at += 1
    return true
  }
  /** Skips the arguments of `optional`. */
  const skip = (): boolean => {
    let open = 0
    for (; at < tokens.length; at += 1) {
      const token = tokens[at] ?? ''
      if ('([{'.includes(token)) open += 1
      else if (')]}'.includes(token)) open -= 1
      if (open === 0) return take(')')
    }
    return false
  }
  function read(nesting: number, level: number, indent: string): string | undefined {
    const word = tokens[at] ?? ''
    if (nesting > deepestType || !/^[a-z]+$/.test(word)) return undefined
    at += 1
    if (!take('(')) return word
    const inner = take('{')
      ? attributes(nesting, level, indent)
      : take('[')
        ? elements(nesting, level, indent)
        : read(nesting + 1, level, indent)
    return inner !== undefined && take(')') ? `${word}(${inner})` : undefined
  }
  function elements(nesting: number, level: number, indent: string): string | undefined {
    const all: string[] = []
    while (!take(']')) {
      const own = read(nesting + 1, level, indent)
      if (own === undefined) return undefined
      all.push(own)
      take(',')
    }
    return `[${all.join(', ')}]`
  }
  function attributes(nesting: number, level: number, indent: string): string | undefined {
    const needed: (readonly [name: string, type: string])[] = []
    while (!take('}')) {
      const name = tokens[at] ?? ''
      at += 1
      if (!(take('=') || take(':'))) return undefined
      if (tokens[at] === 'optional') {
        at += 1
        if (!skip()) return undefined
      } else {
        const own = read(nesting + 1, level + 1, `${indent}  `)
        if (own === undefined) return undefined
        needed.push([name, own])
      }
      take(',')
    }
    if (needed.length === 0) return '{}'
    if (level >= shownLevels) return '{ … }'
    const width = widthOf(needed.map(([name]) => name))
    const lines = needed.map(([name, own]) => `${indent}  ${name.padEnd(width)} = ${own}\n`)
    return `{\n${lines.join('')}${indent}}`
  }
  const text = read(0, 0, '')
  return at === tokens.length ? text : undefined
}

/** Inputs with what callers must give, as comments. Control characters are left out, so that no line ends its comment. */
function commented(inputs: readonly RequiredInput[]): string[] {
  const shown = inputs.slice(0, mostRequired)
  const width = widthOf(shown.map(({ name }) => name))
  const lines = shown.map(
    ({ name, type = 'any' }) => `${name.padEnd(width)} = ${neededOf(type) ?? dedented(type)}`,
  )
  if (inputs.length > shown.length)
    lines.push(`and ${(inputs.length - shown.length).toLocaleString('en')} more`)
  return commentLines(lines.join('\n')).map((line) => `  ${line}`)
}

const commentLines = (text: string): string[] =>
  text
    .split(/\r\n?|\n/)
    .map((line) => line.replaceAll('\t', '  ').replaceAll(/[\p{C}\p{Zl}\p{Zp}]/gu, ''))
    .map((line) => `# ${line}`.trimEnd())

/**
 * @param required inputs of a module that have no default
 * @param version undefined if no version can be pinned, while the latest is not synced
 */
export function usageBlock(
  used: Used,
  tool: Tool,
  version: string | undefined,
  required: readonly RequiredInput[] = [],
): string {
  const address = addressOf(used)
  const folder = used.folder === undefined ? '' : `//${used.folder}`
  const source = `${used.registryHost}/${address}${folder}`
  const label = labelFor(used)
  if (used.kind === 'provider') {
    const lines = [`      source  = ${quoted(source)}`]
    if (version !== undefined) lines.push(`      version = ${quoted(version)}`)
    return `terraform {\n  required_providers {\n    ${label} = {\n${lines.join('\n')}\n    }\n  }\n}`
  }
  if (tool === 'terragrunt') {
    const query = version === undefined ? '' : `?version=${encodeURIComponent(version)}`
    const block = `terraform {\n  source = ${quoted(`tfr://${source}${query}`)}\n}`
    if (required.length === 0) return block
    return `${block}\n\ninputs = {\n${commented(required).join('\n')}\n}`
  }
  const lines = [`  source  = ${quoted(source)}`]
  if (version !== undefined) lines.push(`  version = ${quoted(version)}`)
  if (required.length > 0) lines.push('', '  # Required', ...commented(required))
  return `module ${quoted(label)} {\n${lines.join('\n')}\n}`
}

/** Locks the hashes of all platforms at once. @param platforms `os/arch` */
export const lockCommand = (tool: Tool, platforms: readonly string[]): string =>
  [`${tool} providers lock`, ...platforms.map((it) => `  -platform=${it.replace('/', '_')}`)].join(
    ' \\\n',
  )

/** Values that a caller replaces, by the beginning of the type. */
const placeholders: readonly (readonly [type: RegExp, value: string])[] = [
  [/^string/, '""'],
  [/^number/, '0'],
  [/^bool/, 'false'],
  [/^(?:list|set|tuple)\b/, '[]'],
  [/^(?:map|object)\b/, '{}'],
]

/** Arguments for inputs, each with its type as a comment, and with its default or, if it has none, a placeholder. */
export function argumentsBlock(
  inputs: readonly Pick<InputDocs, 'name' | 'type' | 'default' | 'required'>[],
): string {
  const blocks = inputs.map(({ name, type = 'any', required, default: value = null }) => {
    const placeholder = placeholders.find(([pattern]) => pattern.test(type))?.[1] ?? 'null'
    const written = required ? placeholder : valueText(value)
    return `${commentLines(dedented(type)).join('\n')}\n${labelOf(name)} = ${written}`
  })
  return `${blocks.join('\n\n')}\n`
}

/** Outputs of a configuration that pass on those of a module. @param label of the module block */
export const outputsBlock = (
  label: string,
  outputs: readonly Pick<OutputDocs, 'name' | 'sensitive' | 'ephemeral'>[],
): string =>
  outputs
    .map(({ name, sensitive, ephemeral }) => {
      const lines = [
        `  value     = module.${label}.${labelOf(name)}`,
        ...(sensitive ? ['  sensitive = true'] : []),
        ...(ephemeral ? ['  ephemeral = true'] : []),
      ]
      const body = lines.length === 1 ? lines.map((line) => line.replace(/ +=/, ' =')) : lines
      return `output ${quoted(name)} {\n${body.join('\n')}\n}\n`
    })
    .join('\n')

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
function quoted(text: string): string {
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
