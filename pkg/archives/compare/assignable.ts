import type { Attribute, TypeExpression } from './type-expression.ts'

/** Whether values that were accepted are still accepted. The result of a whole is the worst result of its parts. */
export interface Assignability {
  readonly verdict: 'compatible' | 'unknown' | 'breaking'
  /** The reason, as the end of a sentence. */
  readonly why?: string
}

const compatible: Assignability = { verdict: 'compatible' }
const unknown = (why: string): Assignability => ({ verdict: 'unknown', why })
const breaking = (why: string): Assignability => ({ verdict: 'breaking', why })

/** Conversions between primitive types that succeed for every value. */
const widening: ReadonlySet<string> = new Set(['number string', 'bool string'])

/**
 * Compares two type constraints of a variable, by the conversions of Terraform.
 *
 * @param from the constraint that callers wrote their values for
 * @param path of the part, such as `[*].name`; empty for the whole
 */
export function assignable(from: TypeExpression, to: TypeExpression, path = ''): Assignability {
  const where = path === '' ? 'it' : path
  if (to.is === 'any') return compatible
  if (from.is === 'any') return unknown(`${where} accepted any type, and accepts ${to.is} now`)
  if (to.is === 'tuple') {
    if (from.is !== 'tuple') return breaking(changed(where, from, to))
    if (from.elements.length !== to.elements.length) {
      const counts = `${from.elements.length} elements, and has ${to.elements.length} now`
      return breaking(`${where} had ${counts}`)
    }
    return worst(
      to.elements.map((element, index) =>
        assignable(from.elements[index] ?? element, element, `${path}[${index}]`),
      ),
    )
  }
  if (to.is === 'object') return objectFrom(from, to.attributes, path)
  if (to.is === 'map') return mapFrom(from, to.element, path)
  if (to.is === 'list' || to.is === 'set') return collectionFrom(from, to, path)
  if (from.is === to.is || widening.has(`${from.is} ${to.is}`)) return compatible
  return breaking(changed(where, from, to))
}

const changed = (where: string, from: TypeExpression, to: TypeExpression): string =>
  `${where} was ${from.is}, and is ${to.is} now`

/** Lists and sets convert into each other, and tuples into both. */
function collectionFrom(
  from: TypeExpression,
  to: Extract<TypeExpression, { readonly element: TypeExpression }>,
  path: string,
): Assignability {
  if (from.is === 'list' || from.is === 'set') {
    return assignable(from.element, to.element, `${path}[*]`)
  }
  if (from.is !== 'tuple') return breaking(changed(path || 'it', from, to))
  const elements = from.elements.map((element, index) =>
    assignable(element, to.element, `${path}[${index}]`),
  )
  const isMixed = to.element.is === 'any' && from.elements.length > 1
  if (isMixed) return unknown(`${path || 'it'} needs elements of one type now`)
  return worst(elements)
}

function mapFrom(from: TypeExpression, element: TypeExpression, path: string): Assignability {
  const where = path || 'it'
  if (from.is === 'map') return assignable(from.element, element, `${path}[*]`)
  if (from.is !== 'object') return breaking(`${where} was ${from.is}, and is map now`)
  const attributes = [...from.attributes].map(([name, { type }]) =>
    assignable(type, element, `${path}.${name}`),
  )
  const result = worst(attributes)
  if (result.verdict === 'breaking') return result
  return unknown(`${where} ignored other attributes, and needs all of one type now`)
}

function objectFrom(
  from: TypeExpression,
  attributes: ReadonlyMap<string, Attribute>,
  path: string,
): Assignability {
  const where = path || 'it'
  if (from.is === 'map') {
    const required = [...attributes].find(([, { optional }]) => !optional)
    if (required !== undefined) {
      return breaking(`${where} was map, and requires the attribute ${required[0]} now`)
    }
    const parts = [...attributes].map(([name, { type }]) =>
      assignable(from.element, type, `${path}.${name}`),
    )
    const result = worst(parts)
    if (result.verdict === 'breaking') return result
    return unknown(`${where} accepted any key, and ignores all but its attributes now`)
  }
  if (from.is !== 'object') return breaking(changed(where, from, { is: 'object', attributes }))
  const parts = [...attributes].map(([name, { type, optional }]) => {
    const before = from.attributes.get(name)
    if (before === undefined) {
      return optional ? compatible : breaking(`${path}.${name} is a new required attribute`)
    }
    if (before.optional && !optional) return breaking(`${path}.${name} is required now`)
    return assignable(before.type, type, `${path}.${name}`)
  })
  const removed = [...from.attributes.keys()].filter((name) => !attributes.has(name))
  return worst([
    ...parts,
    ...removed.map((name) => unknown(`${path}.${name} was removed, and is ignored now`)),
  ])
}

function worst(parts: readonly Assignability[]): Assignability {
  return (
    parts.find(({ verdict }) => verdict === 'breaking') ??
    parts.find(({ verdict }) => verdict === 'unknown') ??
    compatible
  )
}
