import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseAst } from 'vite'

/** A message that a client can see; `{name}` stands for a value. */
export interface ErrorMessage {
  readonly reason: string
  readonly text: string
}

interface Node {
  readonly type: string
  readonly [key: string]: unknown
}

const root = join(import.meta.dirname, '..')

/** The code that runs while a request is answered. */
const answering = [
  'pkg/registry/**/*.ts',
  'pkg/base/{http,pacing,proxy,serving}/*.ts',
  'pkg/archives/{spool,storage}/**/*.ts',
  'pkg/archives/signing/signer.ts',
  'pkg/explorer/*.ts',
]

/** Classes and functions that make an error for a client: the index of the message, and the reason if it is fixed. */
const makers: Readonly<Record<string, { at: number; reason?: string; suffix?: string }>> = {
  RegistryError: { at: 1 },
  Refusal: { at: 1 },
  badRequest: { at: 0, reason: 'BadRequest' },
  notFound: { at: 0, reason: 'NotFound' },
  unavailable: { at: 0, reason: 'Unavailable', suffix: '; try again in a moment' },
}

/** Every message of the code that answers requests, in the order of reasons and texts. */
export function errorMessages(): ErrorMessage[] {
  const all = new Map<string, ErrorMessage>()
  const files = answering.flatMap((pattern) => globSync(pattern, { cwd: root }))
  for (const file of files.filter((name) => !/\.(test|fixture)\.ts$/.test(name))) {
    for (const message of messagesIn(readFileSync(join(root, file), 'utf8'))) {
      all.set(`${message.reason} ${message.text}`, message)
    }
  }
  return [...all.keys()].toSorted().map((key) => all.get(key) as ErrorMessage)
}

function messagesIn(source: string): ErrorMessage[] {
  const program = parseAst(source, { lang: 'ts' }) as unknown as Node
  const nodes = [...descendants(program)]
  return nodes.flatMap((node) => {
    const made = node.type === 'NewExpression' || node.type === 'CallExpression'
    const maker = made ? makers[nameOf(node['callee'])] : undefined
    if (maker === undefined) return []
    const args = node['arguments'] as Node[]
    const reason = maker.reason ?? (args[0]?.['value'] as string | undefined)
    if (reason === undefined) return []
    return textsOf(args[maker.at], nodes)
      .filter((text) => /[a-z] [a-z]/.test(text.replaceAll(/\{\w+\}/g, '')))
      .map((text) => ({ reason, text: text + (maker.suffix ?? '') }))
  })
}

/** The texts that an expression can have. */
function textsOf(node: unknown, nodes: readonly Node[]): string[] {
  if (!isNode(node)) return []
  switch (node.type) {
    case 'Literal':
      return [String(node['value'])]
    case 'TemplateLiteral':
      return templateTexts(node, nodes)
    case 'ConditionalExpression':
      return [...textsOf(node['consequent'], nodes), ...textsOf(node['alternate'], nodes)]
    case 'LogicalExpression':
      return [...textsOf(node['left'], nodes), ...textsOf(node['right'], nodes)]
    case 'BinaryExpression':
      if (node['operator'] !== '+') return ['{number}']
      return textsOf(node['left'], nodes).flatMap((left) =>
        textsOf(node['right'], nodes).map((right) => left + right),
      )
    case 'Identifier':
      return namedTexts(node, nodes)
    default:
      return [`{${lastName(node)}}`]
  }
}

function templateTexts(node: Node, nodes: readonly Node[]): string[] {
  const values = node['expressions'] as Node[]
  return (node['quasis'] as { value: { cooked: string } }[]).reduce<string[]>(
    (texts, { value }, index) => {
      const shown = index === 0 ? [''] : textsOf(values[index - 1], nodes)
      return texts.flatMap((text) => shown.map((one) => text + one + value.cooked))
    },
    [''],
  )
}

/** The texts of a constant, or of what the function around a name is called with. */
function namedTexts(identifier: Node, nodes: readonly Node[]): string[] {
  const name = nameOf(identifier)
  const declared = nodes.find(
    (node) =>
      node.type === 'VariableDeclarator' && nameOf(node['id']) === name && isNode(node['init']),
  )
  const init = declared?.['init'] as Node | undefined
  if (init !== undefined && /Literal|Conditional|Binary/.test(init.type))
    return textsOf(init, nodes)
  const given = nodes.flatMap((node) => {
    if (!encloses(node, identifier)) return []
    const parameters = functionOf(node)?.['params'] as Node[] | undefined
    const at = parameters?.findIndex((parameter) => nameOf(parameter) === name) ?? -1
    return at === -1 ? [] : callsOf(nameOf(node['id']), nodes).map((args) => args[at])
  })
  const texts = given
    .filter((node) => nameOf(node) !== name)
    .flatMap((node) => textsOf(node, nodes))
  return texts.length > 0 && texts.every((text) => text !== '') ? texts : [`{${name}}`]
}

const encloses = (outer: Node, inner: Node): boolean =>
  Number(outer['start']) <= Number(inner['start']) && Number(inner['end']) <= Number(outer['end'])

function functionOf(node: Node): Node | undefined {
  if (node.type === 'FunctionDeclaration') return node
  const init = node.type === 'VariableDeclarator' ? (node['init'] as Node | null) : null
  return init?.type === 'ArrowFunctionExpression' ? init : undefined
}

const callsOf = (name: string, nodes: readonly Node[]): Node[][] =>
  nodes
    .filter((node) => node.type === 'CallExpression' && nameOf(node['callee']) === name)
    .map((node) => node['arguments'] as Node[])

function* descendants(node: Node): Generator<Node> {
  yield node
  for (const value of Object.values(node)) {
    for (const child of Array.isArray(value) ? (value as unknown[]) : [value]) {
      if (isNode(child)) yield* descendants(child)
    }
  }
}

const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && 'type' in value

const nameOf = (node: unknown): string =>
  isNode(node) && node.type === 'Identifier' ? String(node['name']) : ''

/** The word for a value: the last name in its expression, or what a method is called on. */
function lastName(node: Node): string {
  if (node.type === 'CallExpression') {
    const [argument] = node['arguments'] as Node[]
    const callee = node['callee'] as Node
    const object = callee.type === 'MemberExpression' ? (callee['object'] as Node) : undefined
    if (object !== undefined && nameOf(object) !== 'Object') return lastName(object)
    if (argument?.type === 'CallExpression') return lastName(argument)
    if (object !== undefined && argument !== undefined) return lastName(argument)
  }
  const names = [...descendants(node)].map(nameOf).filter((name) => name !== '')
  return names.at(-1) ?? 'value'
}
