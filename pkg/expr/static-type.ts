/** The type of a value before evaluation. */
export type StaticType =
  | { readonly kind: Scalar }
  /** Only `groups` and results of `split` are lists of strings; every other list is a list of anything. */
  /** Results of `groupBy` have keys of any kind, and lists as values. */
  | { readonly kind: 'map'; readonly grouped: boolean; readonly fields?: readonly string[] }
  | { readonly kind: 'array'; readonly strings: boolean; readonly element: StaticType }

/**
 * `any` is the type of elements of maps and lists of anything, `unknown` is an unknown type: only `any` takes every other
 * type.
 */
type Scalar = 'unknown' | 'any' | 'nil' | 'bool' | 'int' | 'float' | 'string'

export const unknown: StaticType = { kind: 'unknown' }
export const any: StaticType = { kind: 'any' }
export const nil: StaticType = { kind: 'nil' }
export const bool: StaticType = { kind: 'bool' }
export const int: StaticType = { kind: 'int' }
export const float: StaticType = { kind: 'float' }
export const string: StaticType = { kind: 'string' }
export const map = { kind: 'map', grouped: false } as const satisfies StaticType
export const grouped: StaticType = { kind: 'map', grouped: true }
export const stringArray: StaticType = { kind: 'array', strings: true, element: string }
export const anyArray: StaticType = { kind: 'array', strings: false, element: any }

export function arrayOf(element: StaticType): StaticType {
  return { kind: 'array', strings: false, element }
}

export function isUnknown(type: StaticType): boolean {
  return type.kind === 'unknown' || type.kind === 'any'
}

export function isNumber(type: StaticType): boolean {
  return type.kind === 'int' || type.kind === 'float'
}

/** The element type of a list in Go, without what is known about the elements. */
export function goElement(type: StaticType): StaticType {
  return type.kind === 'array' && type.strings ? string : any
}

/** The type as Go's reflection sees it. */
export function erased(type: StaticType): StaticType {
  if (isUnknown(type)) return any
  return type.kind === 'array' && !type.strings ? anyArray : type
}

export function assignable(from: StaticType, to: StaticType): boolean {
  if (from.kind === 'nil') return to.kind === 'array' || to.kind === 'map' || to.kind === 'any'
  if (from.kind === 'unknown' || to.kind === 'unknown') return false
  if (to.kind === 'any') return true
  if (from.kind === 'array' && to.kind === 'array') return from.strings === to.strings
  if (from.kind === 'map' && to.kind === 'map') return from.grouped === to.grouped
  return from.kind === to.kind
}

export function comparable(left: StaticType, right: StaticType): boolean {
  return (
    isUnknown(left) ||
    isUnknown(right) ||
    left.kind === 'nil' ||
    right.kind === 'nil' ||
    (isNumber(left) && isNumber(right)) ||
    (left.kind === 'array' && right.kind === 'array') ||
    assignable(left, right)
  )
}

/** Whether both are unknown, or one is unknown and the other is of one of the kinds. */
export function maybe(
  left: StaticType,
  right: StaticType,
  ...kinds: readonly StaticType['kind'][]
): boolean {
  if (isUnknown(left)) return isUnknown(right) || kinds.includes(right.kind)
  return isUnknown(right) && kinds.includes(left.kind)
}

/** The type of a choice between two values. */
export function either(left: StaticType, right: StaticType): StaticType {
  if (left.kind === 'nil') return right
  if (right.kind === 'nil') return left
  if (!assignable(left, right)) return unknown
  if (left.kind === 'array' && right.kind === 'array') {
    const same = assignable(left.element, right.element) && assignable(right.element, left.element)
    return same ? left : anyArray
  }
  return left
}

/** For messages, with its article. */
export function describe(type: StaticType): string {
  if (type.kind === 'array') return type.strings ? 'a list of strings' : 'a list'
  if (type.kind === 'int') return 'an int'
  if (type.kind === 'nil') return 'nil'
  return type.kind === 'any' || type.kind === 'unknown' ? 'an unknown value' : `a ${type.kind}`
}
