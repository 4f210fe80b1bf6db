/** Schemas by their name in `#/components/schemas/`. */
export type Components = Record<string, unknown>

const dropped = new Set(['description', 'default', 'example', 'title', 'nullable'])

/** A schema of OpenAPI 3 as JSON Schema, without keywords that validate nothing. Unknown fields are refused. */
export function compact(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(compact)
  if (!(schema instanceof Object)) return schema
  const entries = Object.entries(schema)
  if (isSchema(schema) && 'x-kubernetes-int-or-string' in schema)
    return { type: ['integer', 'string'] }
  const isOpen =
    'x-kubernetes-preserve-unknown-fields' in schema ||
    'additionalProperties' in schema ||
    'x-kubernetes-embedded-resource' in schema
  const kept = entries
    .filter(([key]) => !isAnnotation(key, schema))
    .map(([key, value]) => [key, key === 'properties' ? compactEach(value) : compact(value)])
  const result: Record<string, unknown> = Object.fromEntries(kept)
  if (isSchema(schema) && 'properties' in schema && !isOpen) result['additionalProperties'] = false
  return result
}

/** Names of fields may equal keywords. */
function compactEach(properties: unknown): unknown {
  return properties instanceof Object
    ? Object.fromEntries(Object.entries(properties).map(([name, field]) => [name, compact(field)]))
    : properties
}

function isSchema(value: object): boolean {
  return !('$ref' in value)
}

function isAnnotation(key: string, schema: object): boolean {
  if (key.startsWith('x-')) return true
  if (key === 'format') return true
  // A list of alternatives in a definition repeats fields of the schema around it.
  if ((key === 'anyOf' || key === 'oneOf' || key === 'not') && 'properties' in schema) return true
  return dropped.has(key)
}

/** The schemas that the roots refer to. */
export function reachable(components: Components, roots: readonly string[]): Components {
  const found: Components = {}
  const open = [...roots]
  for (let name = open.pop(); name !== undefined; name = open.pop()) {
    if (name in found) continue
    found[name] = components[name]
    const refs = JSON.stringify(components[name]).matchAll(/"#\/components\/schemas\/([^"]+)"/g)
    for (const [, ref] of refs) if (ref !== undefined) open.push(ref)
  }
  return found
}
