import { isRecord } from '../../api/v1alpha1/v1alpha1.ts'

/** Unwraps an expression, which the parser writes as `${var.x}`, to its text in the file. */
export const expressionText = (value: unknown): string | undefined =>
  typeof value === 'string' ? value.replace(/^\$\{(.*)\}$/s, '$1') : undefined

export const textOrNothing = (value: unknown): string | undefined =>
  typeof value === 'string' ? value : undefined

/** Unescapes a value of the native syntax, in which `$${` and `%%{` mean `${` and `%{`. The parser does not do that. */
export function unescaped(value: unknown): unknown {
  if (typeof value === 'string') return value.replaceAll(/([$%])\1\{/g, '$1{')
  if (Array.isArray(value)) return value.map(unescaped)
  if (!isRecord(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, unescaped(each)]))
}

/** JSON files may quote booleans. */
export const isTrue = (value: unknown): boolean => value === true || value === 'true'

export const isFalse = (value: unknown): boolean => value === false || value === 'false'

/** Whether a value is nested so deeply that reading it could overflow the stack. */
export function isDeep(value: unknown, levels = 50): boolean {
  if (levels === 0) return true
  const inner = Array.isArray(value) ? value : isRecord(value) ? Object.values(value) : []
  return inner.some((each: unknown) => isDeep(each, levels - 1))
}

/** Whether a value has a number that is too large for JSON. */
export function hasInfinity(value: unknown): boolean {
  if (typeof value === 'number') return !Number.isFinite(value)
  const inner = Array.isArray(value) ? value : isRecord(value) ? Object.values(value) : []
  return inner.some(hasInfinity)
}
