/** Generates modules like those of teams, from a seed: the same files for the same seed. */

export interface GeneratedModule {
  /** Files that Depot reads. */
  readonly files: Readonly<Record<string, string>>
  /** The same module without `.tofu` and override files, which terraform-config-inspect cannot read or merge. */
  readonly plain: Readonly<Record<string, string>>
}

type Kind = 'variable' | 'output' | 'resource' | 'data' | 'module'

interface Block {
  readonly kind: Kind
  readonly labels: readonly string[]
  /** Attributes as text of the native syntax, and as values of the JSON syntax. */
  readonly attributes: ReadonlyMap<string, readonly [native: string, json: unknown]>
  readonly validation?: string
}

/** The text of a module with `inputs` variables. The shape of its files depends on the seed. */
export function generateModule(seed: number, inputs: number): GeneratedModule {
  const random = seeded(seed)
  const pick = <T>(from: readonly [T, ...T[]]): T =>
    from[Math.floor(random() * from.length)] ?? from[0]
  const chance = (share: number) => random() < share
  const name = (index: number) => `${pick(words)}${pick(['_', '-', ''])}${index}`

  const valueOf = (depth: number): unknown => {
    const kind = depth === 0 ? pick(['text', 'number', 'bool']) : pick(valueKinds)
    if (kind === 'text') return pick(texts)
    if (kind === 'number') return pick([0, 1, -7, 443, 1.5, 65_535, 1e9])
    if (kind === 'bool') return chance(0.5)
    if (kind === 'null') return null
    const inner = Array.from({ length: Math.floor(random() * 4) }, () => valueOf(depth - 1))
    return kind === 'list'
      ? inner
      : Object.fromEntries(inner.map((value, index) => [`${pick(words)}${index}`, value]))
  }
  const typeOf = (depth: number): string => {
    if (depth === 0) return pick(['string', 'number', 'bool', 'any'])
    const kind = pick(['list', 'set', 'map', 'tuple', 'object', 'object', 'leaf'])
    if (kind === 'leaf') return typeOf(0)
    if (kind === 'tuple') return `tuple([${typeOf(depth - 1)}, ${typeOf(0)}])`
    if (kind !== 'object') return `${kind}(${typeOf(depth - 1)})`
    const attributes = [0, 1, 2].map((index) => {
      const type = typeOf(depth - 1)
      const wrapped = chance(0.3) ? `optional(${type})` : type
      return `    ${pick(words)}${index} = ${wrapped}${pick(['', ' # why', ' // why'])}`
    })
    return `object({\n${attributes.join('\n')}\n  })`
  }
  const block = (kind: Kind, index: number): Block => {
    const attributes = new Map<string, readonly [string, unknown]>()
    const text = (key: string, value: string) => {
      const lines = value.split('\n')
      const isHeredoc = lines.at(-1) === '' && lines.length > 1
      const body = lines.slice(0, -1).map((line) => (line === '' ? '' : `    ${line}`))
      const heredoc = chance(0.5)
        ? `<<-EOT\n${body.join('\n')}\n  EOT`
        : `<<EOT\n${lines.slice(0, -1).join('\n')}\nEOT`
      attributes.set(key, [isHeredoc ? escaped(heredoc) : quoted(value), value])
    }
    if (kind === 'variable') {
      if (chance(0.9)) {
        const type = typeOf(pick([0, 0, 1, 2, 4]))
        attributes.set('type', [type, type])
      }
      if (chance(0.5)) {
        const value = valueOf(pick([0, 0, 1, 2, 6]))
        attributes.set('default', [native(value), value])
      }
      if (chance(0.1)) attributes.set('nullable', ['false', false])
    }
    if (kind === 'output') attributes.set('value', ['local.all', '${local.all}'])
    if (kind === 'variable' || kind === 'output') {
      if (chance(0.8)) text('description', pick(texts))
      if (chance(0.2)) attributes.set('sensitive', [String(chance(0.7)), true])
      const sensitive = attributes.get('sensitive')
      if (sensitive) attributes.set('sensitive', [sensitive[0], sensitive[0] === 'true'])
    }
    if (kind === 'module') {
      text('source', pick(['./modules/vpc', 'depot.test/team/vpc/aws', 'git::https://a.test/b']))
      if (chance(0.5)) text('version', '~> 1.2')
    }
    const labels =
      kind === 'resource' || kind === 'data' ? [pick(types), name(index)] : [name(index)]
    return {
      kind,
      labels,
      attributes,
      ...(kind === 'variable' && chance(0.2) && { validation: pick(texts).trim() }),
    }
  }
  const many = (kind: Kind, count: number) =>
    Array.from({ length: count }, (_, index) => block(kind, index))

  const nativeBlock = ({ kind, labels, attributes, validation }: Block): string => {
    const comment = () =>
      pick(['', '', '', '# variable "no" {\n', '/* output "no" {\n} */\n', '// é\n'])
    const body = [...attributes].map(([key, [value]]) => `${comment()}  ${key} = ${value}\n`)
    if (validation !== undefined) {
      body.push(
        `  validation {\n    condition = true\n    error_message = ${quoted(validation)}\n  }\n`,
      )
    }
    return `${comment()}${kind} ${labels.map((label) => `"${label}"`).join(' ')} {\n${body.join('')}}\n`
  }
  const jsonFile = (blocks: readonly Block[]): string => {
    const file: Record<string, Record<string, unknown>> = {}
    for (const { kind, labels, attributes } of blocks) {
      const body = Object.fromEntries([...attributes].map(([key, [, value]]) => [key, value]))
      const [first = '', second] = labels
      const own = (file[kind] ??= {})
      own[first] = second === undefined ? body : { ...Object(own[first]), [second]: body }
    }
    return JSON.stringify({ '//': 'made', ...file }, null, 2)
  }
  const written = (text: string) => {
    const ends = seed % 5 === 1 ? text.replaceAll('\n', '\r\n') : text
    return seed % 7 === 2 ? `\ufeff${ends}` : ends
  }

  const variables = many('variable', inputs)
  const main = [...many('resource', 4), ...many('data', 2), ...many('module', 2)]
  const outputs = many('output', 5)
  const versions = written(terraformBlock(pick))
  const files: Record<string, string> = { 'versions.tf': versions }
  const plain: Record<string, string> = { 'versions.tf': versions }
  const add = (file: string, text: string, plainText = text, plainFile = file) => {
    files[file] = text
    plain[plainFile] = plainText
  }
  const asText = (blocks: readonly Block[]) => written(blocks.map(nativeBlock).join('\n'))
  if (seed % 4 === 3) add('main.tofu', asText(main), undefined, 'main.tf')
  else add('main.tf', asText(main))
  if (seed % 3 === 0) add('outputs.tf.json', jsonFile(outputs))
  else add('outputs.tf', asText(outputs))
  if (seed % 6 === 4) add('variables.tf.json', jsonFile(variables))
  else if (seed % 6 === 5) {
    const [first, ...rest] = variables
    const changed: Block | undefined = first && {
      kind: 'variable',
      labels: first.labels,
      attributes: new Map([['description', [quoted('changed'), 'changed']]]),
    }
    const merged = first &&
      changed && { ...first, attributes: new Map([...first.attributes, ...changed.attributes]) }
    const tail = rest.map(nativeBlock).join('\n')
    const head = (one: Block | undefined) => written((one ? `${nativeBlock(one)}\n` : '') + tail)
    add('variables.tf', head(first), head(merged))
    files['variables_override.tf'] = asText(changed ? [changed] : [])
  } else add('variables.tf', asText(variables))
  return { files, plain }
}

const terraformBlock = (pick: <T>(from: readonly [T, ...T[]]) => T) => `terraform {
  required_version = "${pick(['>= 1.3', '~> 1.9, != 1.9.3'])}" # since
  required_providers {
    aws = {
      source                = "hashicorp/aws"
      version               = "${pick(['~> 5.0', '>= 4.2, < 6'])}" // why
      configuration_aliases = [${pick(['', 'aws.east', 'aws.east, aws.west'])}]
    }
    /* old form */
    random = "~> 3.0"
    stamp  = { source = "depot.test/platform/stamp" }
  }
}
provider "null" {
  version = "~> 2.1"
}
`

const words = ['zones', 'cidr', 'name', 'größe', '名前', 'tags', 'subnet'] as const
const types = ['aws_vpc', 'aws_s3_bucket', 'random_id', 'null_resource', 'stamp_note'] as const
const valueKinds = ['text', 'number', 'bool', 'null', 'list', 'map', 'map'] as const
const texts = [
  'The network.',
  '',
  'Größe der Zonen – 名前 🚀',
  'a "quoted" \\ word\tand more',
  'First line.\n\n  Indented `code`.\nvariable "zones0" {\n}\n',
  'One line.\n',
  'keeps ${var.name} and %{ if true } as text',
  '<script>alert(1)</script> | table | # heading',
] as const

const escaped = (text: string) => text.replaceAll(/([$%])\{/g, '$1$1{')
const quoted = (text: string) => escaped(JSON.stringify(text))

function native(value: unknown): string {
  if (typeof value === 'string') return quoted(value)
  if (Array.isArray(value)) return `[${value.map(native).join(', ')}]`
  if (typeof value === 'object' && value !== null) {
    const entries = Object.entries(value).map(([key, inner]) => `"${key}" = ${native(inner)}`)
    return `{ ${entries.join(', ')} }`
  }
  return JSON.stringify(value)
}

/** mulberry32: small, and the same on every machine. */
function seeded(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296
  }
}
