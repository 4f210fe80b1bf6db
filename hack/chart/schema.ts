import { isRecord } from '../../pkg/api/v1alpha1/v1alpha1.ts'
import type { Schema, Value } from './value.ts'

interface Branch {
  readonly type: 'object'
  readonly additionalProperties: false
  readonly properties: Record<string, Branch | Schema>
  /** A null removes a value, and every template would have to check for that. */
  readonly required: string[]
}

const branch = (): Branch => ({
  type: 'object',
  additionalProperties: false,
  properties: {},
  required: [],
})

/** values.schema.json: Helm refuses values that are not in the table, or of another type. */
export function schemaOf(values: readonly Value[]): object {
  const root = branch()
  for (const value of values) {
    const path = value.name.split('.')
    const key = path.pop() ?? ''
    const parent = parentOf(root, path, value.retired !== true)
    parent.properties[key] = leaf(value)
    if (!value.retired) parent.required.push(key)
  }
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'Values of the chart depot',
    ...sharing(root),
  }
}

/**
 * Writes what several values have in common once, with references to it. Helm compiles each pattern that it finds in every
 * command, which took more than a third of its processor time.
 */
function sharing(root: Branch): object {
  const seen = new Set<string>()
  const repeated = new Set<string>()
  const count = (node: unknown): void => {
    if (isShape(node)) {
      const text = textOf(node)
      if (seen.has(text)) repeated.add(text)
      seen.add(text)
    }
    for (const below of childrenOf(node)) count(below)
  }
  count(root)
  const places = new Map<string, string>()
  const $defs: Record<string, unknown> = {}
  const replaced = (node: unknown): unknown => {
    if (!isShape(node)) return mapped(node, replaced)
    const text = textOf(node)
    if (!repeated.has(text) || text.length < shortest) return mapped(node, replaced)
    let place = places.get(text)
    if (place === undefined) {
      place = `shared${places.size + 1}`
      places.set(text, place)
      $defs[place] = mapped(withoutNotes(node), replaced)
    }
    const { description, default: initial } = node
    return { description, default: initial, $ref: `#/$defs/${place}` }
  }
  return { ...(replaced(root) as Branch), $defs }
}

/** Characters of a schema that is as short as a reference to it. */
const shortest = 60

/** Properties, which are schemas by their names, may have a name such as `type`. */
const isShape = (node: unknown): node is Schema =>
  isRecord(node) &&
  (typeof node['type'] === 'string' || Array.isArray(node['type'] ?? node['enum']))

const notes = ['description', 'default']

const withoutNotes = (node: Schema): Schema =>
  Object.fromEntries(Object.entries(node).filter(([key]) => !notes.includes(key)))

const textOf = (node: Schema): string => JSON.stringify(withoutNotes(node))

/** The schemas in a node, which its default is not. */
function childrenOf(node: unknown): unknown[] {
  if (Array.isArray(node)) return node
  if (!isRecord(node)) return []
  return Object.entries(node).flatMap(([key, below]) => (key === 'default' ? [] : [below]))
}

function mapped(node: unknown, change: (below: unknown) => unknown): unknown {
  if (Array.isArray(node)) return node.map(change)
  if (!isRecord(node)) return node
  return Object.fromEntries(
    Object.entries(node).map(([key, below]) => [key, key === 'default' ? below : change(below)]),
  )
}

function parentOf(root: Branch, path: readonly string[], isRequired: boolean): Branch {
  let at = root
  for (const key of path) {
    const next = at.properties[key] ?? branch()
    at.properties[key] = next
    if (isRequired && !at.required.includes(key)) at.required.push(key)
    if (!isBranch(next)) throw new Error(`${path.join('.')} is a value and has values below it`)
    at = next
  }
  return at
}

function isBranch(schema: Branch | Schema): schema is Branch {
  return schema['type'] === 'object' && schema['properties'] instanceof Object
}

function leaf({ schema, meaning, default: initial, retired }: Value): Schema {
  if (retired) return {}
  return { description: meaning, default: initial, ...schema }
}
