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
    ...root,
  }
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
