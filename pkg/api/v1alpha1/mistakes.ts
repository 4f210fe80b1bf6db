import * as z from 'zod'
import { type Kind, kinds } from './kinds.ts'
import { namespaceName, objectName, rulesOf } from './rules.ts'
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
