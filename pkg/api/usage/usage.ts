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
  const tokens = type.match(typeTokens) ?? []
  return new TypeReader(tokens.filter((token) => !/^(?:#|\/[/*])/.test(token))).read()
}

/** The place in a type that is read. */
interface TypePlace {
  /** Depth in types of any kind. */
  readonly nesting: number
  /** Depth in objects. */
  readonly level: number
  readonly indent: string
}

/** Reads a type from its tokens. Each method returns undefined for what is not a type. */
class TypeReader {
  readonly #tokens: readonly string[]
  #at = 0

  constructor(tokens: readonly string[]) {
    this.#tokens = tokens
  }

  read(): string | undefined {
    const text = this.#type({ nesting: 0, level: 0, indent: '' })
    return this.#at === this.#tokens.length ? text : undefined
  }

  #type(place: TypePlace): string | undefined {
    const word = this.#tokens[this.#at] ?? ''
    if (place.nesting > deepestType || !/^[a-z]+$/.test(word)) return undefined
    this.#at += 1
    if (!this.#take('(')) return word
    const inner = this.#argument(place)
    return inner !== undefined && this.#take(')') ? `${word}(${inner})` : undefined
  }

  #argument(place: TypePlace): string | undefined {
    if (this.#take('{')) return this.#attributes(place)
    if (this.#take('[')) return this.#elements(place)
    return this.#type({ ...place, nesting: place.nesting + 1 })
  }

  #elements(place: TypePlace): string | undefined {
    const all: string[] = []
    while (!this.#take(']')) {
      const own = this.#type({ ...place, nesting: place.nesting + 1 })
      if (own === undefined) return undefined
      all.push(own)
      this.#take(',')
    }
    return `[${all.join(', ')}]`
  }

  #attributes({ nesting, level, indent }: TypePlace): string | undefined {
    const inner = { nesting: nesting + 1, level: level + 1, indent: `${indent}  ` }
    const needed: (readonly [name: string, type: string])[] = []
    while (!this.#take('}')) {
      const name = this.#tokens[this.#at] ?? ''
      this.#at += 1
      if (!(this.#take('=') || this.#take(':'))) return undefined
      if (this.#take('optional')) {
        if (!this.#skipArguments()) return undefined
      } else {
        const own = this.#type(inner)
        if (own === undefined) return undefined
        needed.push([name, own])
      }
      this.#take(',')
    }
    if (needed.length === 0) return '{}'
    if (level >= shownLevels) return '{ … }'
    const width = widthOf(needed.map(([name]) => name))
    const lines = needed.map(([name, own]) => `${indent}  ${name.padEnd(width)} = ${own}\n`)
    return `{\n${lines.join('')}${indent}}`
  }

  #skipArguments(): boolean {
    let open = 0
    for (; this.#at < this.#tokens.length; this.#at += 1) {
      const token = this.#tokens[this.#at] ?? ''
      if ('([{'.includes(token)) open += 1
      else if (')]}'.includes(token)) open -= 1
      if (open === 0) return this.#take(')')
    }
    return false
  }

  #take(wanted: string): boolean {
    if (this.#tokens[this.#at] !== wanted) return false
    this.#at += 1
    return true
  }
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
