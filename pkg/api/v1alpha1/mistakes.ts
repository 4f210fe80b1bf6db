import * as z from 'zod'
import { isRecord } from './json-reader.ts'
import { type Kind, kinds } from './kinds.ts'
import { namespaceName, objectName, rulesOf } from './rules.ts'
import { type StructuralSchema, structuralSchema } from './structural-schema.ts'
import type { FieldIssue, Resource } from './types.ts'

type Check = (value: unknown) => readonly FieldIssue[]

const none: readonly FieldIssue[] = []
const checks = new Map<Kind, Check | undefined>()

/**
 * The rules of today's definitions that a valid object breaks, so that it cannot work. Objects in a folder were never checked
 * by an API server, and objects in a cluster may be older than a rule.
 */
export function mistakesIn(resource: Resource): readonly FieldIssue[] {
  const { kind } = resource
  if (!checks.has(kind)) checks.set(kind, checkOf(kinds[kind].schema))
  return checks.get(kind)?.(resource) ?? none
}

/** Finds the rules of a schema and of everything in it; undefined if there are none. */
function checkOf(schema: z.ZodType): Check | undefined {
  const rules = rulesOf(schema.meta())
  const inner = innerCheckOf(schema)
  if (rules.length === 0) return inner
  return (value) => {
    const broken = rules.find(({ holds }) => !holds(value))
    const inside = inner?.(value) ?? none
    return broken === undefined ? inside : [{ path: [], message: broken.message }, ...inside]
  }
}

function innerCheckOf(schema: z.ZodType): Check | undefined {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodDefault) {
    return checkOf(schema.unwrap() as z.ZodType)
  }
  if (schema instanceof z.ZodArray) {
    const check = checkOf(schema.element as z.ZodType)
    return (
      check &&
      ((items) => (items as readonly unknown[]).flatMap((item, index) => below(index, check(item))))
    )
  }
  if (!(schema instanceof z.ZodObject)) return undefined
  const fields = Object.entries(schema.shape)
  const checked = fields.flatMap(([name, field]) => {
    const check = checkOf(field)
    return check === undefined ? [] : [{ name, check }]
  })
  if (checked.length === 0) return undefined
  return (value) => {
    let issues = none
    for (const { name, check } of checked) {
      const field = (value as Readonly<Record<string, unknown>>)[name]
      const found = field === undefined ? none : check(field)
      if (found.length > 0) issues = [...issues, ...below(name, found)]
    }
    return issues
  }
}

/** The issues of a value, as those of the object or list that has it. */
function below(step: string | number, issues: readonly FieldIssue[]): readonly FieldIssue[] {
  return issues.length === 0
    ? none
    : issues.map(({ path, message }) => ({ path: [step, ...path], message }))
}

/** A public label without effect, because its value does not count. */
export function publicLabelIssue(
  { metadata: { labels } }: Resource,
  apiGroup: string,
): FieldIssue | undefined {
  const label = `${apiGroup}/public`
  const value = labels[label]
  if (value === undefined || value === 'true' || value === 'false') return undefined
  return {
    path: ['metadata', 'labels', label],
    message: `the label ${label} is ${JSON.stringify(value)}, which makes nothing public: write "true", in quotes`,
  }
}

/** A public label without effect, because its namespace lacks it. */
export function hiddenLabelIssue(
  { kind, metadata: { labels, namespace } }: Resource,
  apiGroup: string,
  isPublic: (namespace: string) => boolean,
): FieldIssue | undefined {
  const label = `${apiGroup}/public`
  if (labels[label] !== 'true' || kind === 'Namespace' || isPublic(namespace)) return undefined
  return {
    path: ['metadata', 'labels', label],
    message: `the label ${label} makes nothing public, because Namespace ${namespace} does not have it: label that too`,
  }
}

/** A GroupBinding in a namespace where none is read. @param namespace the one whose GroupBindings count */
export function ignoredBindingIssue(
  { kind, metadata }: Resource,
  namespace: string,
): FieldIssue | undefined {
  if (kind !== 'GroupBinding' || metadata.namespace === namespace) return undefined
  return {
    path: ['metadata', 'namespace'],
    message: `GroupBindings are read from namespace ${namespace} only, and this one is in ${metadata.namespace}: move it, or name its namespace by --namespace`,
  }
}

/** A name or namespace that clusters refuse. */
export function nameIssue({ kind, metadata }: Resource): FieldIssue | undefined {
  const { name, namespace } = metadata
  const [rule, place] = kind === 'Namespace' ? [namespaceName, ''] : [objectName, namespace]
  if (!rule.holds(name)) return { path: ['metadata', 'name'], message: rule.message }
  if (place === '' || namespaceName.holds(place)) return undefined
  return { path: ['metadata', 'namespace'], message: namespaceName.message }
}

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
