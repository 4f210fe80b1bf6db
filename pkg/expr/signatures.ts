import { Fault } from './expression-error.ts'
import type { StaticType } from './static-type.ts'
import * as T from './static-type.ts'

/** The values that a parameter takes. Every parameter takes unknown values. */
type Parameter = 'string' | 'int' | 'number' | 'list' | 'map' | 'sized' | 'numeric' | 'any'

interface Signature {
  readonly required: readonly Parameter[]
  readonly optional?: readonly Parameter[]
  /** Takes any number of arguments like the last parameter. */
  readonly variadic?: true
  readonly result: StaticType | ((args: readonly StaticType[]) => StaticType)
}

const text: Signature = { required: ['string'], result: T.string }
const affix: Signature = { required: ['string'], optional: ['string'], result: T.string }
const find: Signature = { required: ['string', 'string'], result: T.int }
const has: Signature = { required: ['string', 'string'], result: T.bool }
const rounded: Signature = { required: ['number'], result: T.float }
const listed: Signature = { required: ['list'], result: T.anyArray }
const ofMap: Signature = { required: ['map'], result: T.anyArray }
const edge: Signature = { required: ['list'], result: ([list]) => T.goElement(list ?? T.any) }
const extreme: Signature = {
  required: ['any'],
  variadic: true,
  result: (args) => (args.every(T.isNumber) ? (args[0] ?? T.any) : T.any),
}

const signatures = new Map<string, Signature>([
  ['len', { required: ['sized'], result: T.int }],
  ['type', { required: ['any'], result: T.string }],
  ['string', { required: ['any'], result: T.string }],
  ['int', { required: ['numeric'], result: T.int }],
  ['float', { required: ['numeric'], result: T.float }],
  ['abs', { required: ['number'], result: ([number]) => T.erased(number ?? T.any) }],
  ['ceil', rounded],
  ['floor', rounded],
  ['round', rounded],
  ['max', extreme],
  ['min', extreme],
  ['upper', text],
  ['lower', text],
  ['trim', affix],
  ['trimPrefix', affix],
  ['trimSuffix', affix],
  ['hasPrefix', has],
  ['hasSuffix', has],
  ['indexOf', find],
  ['lastIndexOf', find],
  ['split', { required: ['string', 'string'], optional: ['int'], result: T.stringArray }],
  ['replace', { required: ['string', 'string', 'string'], optional: ['int'], result: T.string }],
  ['repeat', { required: ['string', 'int'], result: T.string }],
  ['join', { required: ['list'], optional: ['string'], result: T.string }],
  ['first', edge],
  ['last', edge],
  ['take', { required: ['list', 'int'], result: ([list]) => T.erased(list ?? T.any) }],
  ['sort', { required: ['list'], optional: ['string'], result: T.anyArray }],
  ['reverse', listed],
  ['uniq', listed],
  ['flatten', listed],
  ['concat', { ...listed, variadic: true }],
  ['keys', ofMap],
  ['values', ofMap],
])

/** @throws Fault TypeMismatch where the arguments are too few, too many or of the wrong type */
export function resultOfFunction(
  name: string,
  args: readonly StaticType[],
  at: number,
): StaticType {
  const signature = name === 'get' ? signatureOfGet(args) : signatures.get(name)
  if (signature === undefined) throw new Fault('UnknownName', at, `unknown function ${name}`)
  const { required, optional = [], variadic, result } = signature
  const parameters = [...required, ...optional]
  if (args.length < required.length) throw wrongNumber(name, 'few', at)
  if (args.length > parameters.length && !variadic) throw wrongNumber(name, 'many', at)
  // After a list among the arguments of max and min, the types of the rest are not checked.
  const open = (type: StaticType) => type.kind === 'array' || T.isUnknown(type)
  const end = signature === extreme ? args.findIndex(open) : -1
  for (const [index, arg] of (end < 0 ? args : args.slice(0, end)).entries()) {
    const parameter = signature === extreme ? 'number' : (parameters[index] ?? parameters.at(-1))
    if (!T.isUnknown(arg) && !takes(parameter ?? 'any', arg)) {
      const message = `argument ${index + 1} of ${name} must not be ${T.describe(arg)}`
      throw new Fault('TypeMismatch', at, message)
    }
  }
  return typeof result === 'function' ? result(args) : result
}

const kindsOf: Readonly<Record<Exclude<Parameter, 'any'>, readonly StaticType['kind'][]>> = {
  string: ['string'],
  int: ['int'],
  map: ['map'],
  list: ['array'],
  number: ['int', 'float'],
  numeric: ['int', 'float', 'string'],
  sized: ['string', 'array', 'map'],
}

function takes(parameter: Parameter, { kind }: StaticType): boolean {
  return parameter === 'any' || kindsOf[parameter].includes(kind)
}

/** The type of the key depends on the container. */
function signatureOfGet([from = T.nil]: readonly StaticType[]): Signature {
  if (T.isUnknown(from)) return { required: ['any', 'any'], result: T.unknown }
  if (from.kind === 'array') return { required: ['list', 'int'], result: from.element }
  if (from.kind === 'map' && from.grouped) return { required: ['map', 'any'], result: T.anyArray }
  return { required: ['map', 'string'], result: T.any }
}

function wrongNumber(name: string, which: 'few' | 'many', at: number): Fault {
  return new Fault('TypeMismatch', at, `too ${which} arguments to call ${name}`)
}
