import { isRecord } from './json-reader.ts'
import { type Kind, kinds } from './kinds.ts'
import { type StructuralSchema, structuralSchema } from './structural-schema.ts'
import type { FieldIssue } from './types.ts'

type Path = readonly (string | number)[]

const specSchemas = new Map<Kind, StructuralSchema>()
/** Limit of messages for one object. */
const maxIssues = 10
const topLevel = ['apiVersion', 'kind', 'metadata', 'spec', 'status']

/**
 * Fields of an object that nothing reads, because they are misspelt or misplaced. `kubectl` refuses them; in a folder they
 * would be dropped silently. A status is not checked: newer programs may write it.
 *
 * @param raw one object as parsed from JSON or YAML
 */
export function unknownFieldsIn(kind: Kind, raw: unknown): readonly FieldIssue[] {
  if (!isRecord(raw) || kinds[kind].core) return []
  const issues: FieldIssue[] = []
  for (const name of Object.keys(raw)) {
    if (!topLevel.includes(name)) issues.push({ path: [name], message: advice(name, topLevel, []) })
  }
  look(raw['spec'], specSchemaOf(kind), ['spec'], issues)
  return issues.slice(0, maxIssues)
}

function specSchemaOf(kind: Kind): StructuralSchema {
  const known = specSchemas.get(kind) ?? structuralSchema(kinds[kind].schema).properties?.['spec']
  specSchemas.set(kind, known ?? {})
  return known ?? {}
}

function look(value: unknown, schema: StructuralSchema, path: Path, issues: FieldIssue[]): void {
  if (issues.length >= maxIssues) return
  const { items, properties, additionalProperties } = schema
  if (Array.isArray(value) && items !== undefined) {
    for (const [index, item] of value.entries()) look(item, items, [...path, index], issues)
    return
  }
  if (!isRecord(value) || properties === undefined) return
  if (additionalProperties !== undefined || schema['x-kubernetes-preserve-unknown-fields']) return
  for (const [name, child] of Object.entries(value)) {
    const known = Object.hasOwn(properties, name) ? properties[name] : undefined
    if (known !== undefined) look(child, known, [...path, name], issues)
    else if (child !== undefined && child !== null) {
      const inside = placesOf(name, properties)
      issues.push({
        path: [...path, name],
        message: advice(name, Object.keys(properties), inside),
      })
    }
  }
}

/** Sibling fields of an unknown field that have a field of that name. */
function placesOf(name: string, properties: Readonly<Record<string, StructuralSchema>>): string[] {
  return Object.entries(properties)
    .filter(([, { properties: inner }]) => inner !== undefined && Object.hasOwn(inner, name))
    .map(([place]) => place)
}

function advice(name: string, known: readonly string[], inside: readonly string[]): string {
  const start = 'is not a known field'
  const meant = known.find((other) => lettersOf(other) === lettersOf(name))
  if (meant !== undefined) return `${start}: write ${meant}`
  if (inside.length > 0) return `${start} here: write it inside ${inside.join(' or ')}`
  return `${start}: there are ${known.join(', ')}`
}

/** Equal for spellings that differ in case, separators, or the order of letters. */
function lettersOf(name: string): string {
  const letters = name.toLowerCase().replaceAll(/[^a-z0-9]/g, '')
  return letters.split('').toSorted().join('')
}
