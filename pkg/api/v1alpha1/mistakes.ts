import * as z from 'zod'
import { type Kind, kinds } from './kinds.ts'
import { rulesOf } from './rules.ts'
import type { FieldIssue, Resource } from './types.ts'

type Path = readonly (string | number)[]
type Check = (value: unknown, path: Path) => Generator<FieldIssue>

const checks = new Map<Kind, Check | undefined>()

/**
 * The rules of today's definitions that a valid object breaks, so that it cannot work. Objects in a folder were never checked
 * by an API server, and objects in a cluster may be older than a rule.
 */
export function mistakesIn(resource: Resource): readonly FieldIssue[] {
  const { kind } = resource
  if (!checks.has(kind)) checks.set(kind, checkOf(kinds[kind].schema))
  return [...(checks.get(kind)?.(resource, []) ?? [])]
}

/** Finds the rules of a schema and of everything in it; undefined where there are none. */
function checkOf(schema: z.ZodType): Check | undefined {
  const rules = rulesOf(schema.meta())
  const inner = innerCheckOf(schema)
  if (rules.length === 0) return inner
  return function* check(value, path) {
    const broken = rules.find(({ holds }) => !holds(value))
    if (broken !== undefined) yield { path, message: broken.message }
    if (inner !== undefined) yield* inner(value, path)
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
      function* checkItems(value, path) {
        const items = value as readonly unknown[]
        for (const [index, item] of items.entries()) yield* check(item, [...path, index])
      }
    )
  }
  if (!(schema instanceof z.ZodObject)) return undefined
  const fields = Object.entries(schema.shape)
  const checked = fields.flatMap(([name, field]) => {
    const check = checkOf(field)
    return check === undefined ? [] : [{ name, check }]
  })
  if (checked.length === 0) return undefined
  return function* checkFields(value, path) {
    for (const { name, check } of checked) {
      const field = (value as Readonly<Record<string, unknown>>)[name]
      if (field !== undefined) yield* check(field, [...path, name])
    }
  }
}
