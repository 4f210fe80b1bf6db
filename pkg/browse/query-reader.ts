import type { z } from 'zod'
import { keptText } from '../memory/memory.ts'
import { badParameter, isRepeatable, parse } from './parameters.ts'

/** Of texts of one parameter. */
const rememberedTexts = 64

/** Reads the query of a request, given without its question mark. Unknown parameters are ignored. */
export type QueryReader<S extends z.ZodObject> = (search: string) => z.output<S>

/**
 * Reads queries of one schema, whose parameters must not depend on each other. What needs decoding or is not right is read
 * with all that the platform and the schema say of it; other queries are, for a fraction of the time.
 *
 * @throws RegistryError BadRequest naming the parameter: what it makes
 */
export function queryReader<S extends z.ZodObject>(schema: S): QueryReader<S> {
  const parameters = new Map(
    Object.entries(schema.shape).map(([name, parameter], index) => [
      name,
      new Parameter(name, 1 << index, parameter as z.ZodType),
    ]),
  )
  const withoutAny = schema.safeParse({}).data
  return (search) =>
    plainly(search, parameters, withoutAny) ?? thoroughly(search, parameters, schema)
}

/** What a query means whose pairs need no decoding, and of which each is right and there once. */
function plainly<T extends Record<string, unknown>>(
  search: string,
  parameters: ReadonlyMap<string, Parameter>,
  withoutAny: T | undefined,
): T | undefined {
  if (withoutAny === undefined || search.includes('%') || search.includes('+')) return undefined
  const query: Record<string, unknown> = { ...withoutAny }
  let given = 0
  for (let start = 0; start < search.length; ) {
    const next = search.indexOf('&', start)
    const end = next === -1 ? search.length : next
    const equals = search.indexOf('=', start)
    const nameEnd = equals === -1 || equals > end ? end : equals
    const parameter = parameters.get(search.slice(start, nameEnd))
    if (parameter !== undefined) {
      const meaning = parameter.meaningOf(search.slice(nameEnd + 1, end))
      if (meaning === undefined || (given & parameter.bit) !== 0) return undefined
      given |= parameter.bit
      query[parameter.name] = meaning
    }
    start = end + 1
  }
  return query as T
}

function thoroughly<S extends z.ZodObject>(
  search: string,
  parameters: ReadonlyMap<string, Parameter>,
  schema: S,
): z.output<S> {
  const raw: Record<string, string | string[]> = {}
  new URLSearchParams(search).forEach((value, name) => {
    const parameter = parameters.get(name)
    if (parameter === undefined) return
    const before = raw[name]
    if (parameter.isRepeatable) raw[name] = Array.isArray(before) ? [...before, value] : [value]
    else if (before === undefined) raw[name] = value
    else throw badParameter(name, 'must be given once')
  })
  return parse(schema, raw)
}

/** One parameter of a query. */
class Parameter {
  readonly name: string
  /** Unlike that of the others. */
  readonly bit: number
  readonly isRepeatable: boolean
  readonly #schema: z.ZodType
  /** What texts mean that were asked for: most parameters know a handful of words. */
  readonly #meanings = new Map<string, unknown>()

  constructor(name: string, bit: number, schema: z.ZodType) {
    this.name = name
    this.bit = bit
    this.isRepeatable = isRepeatable(schema)
    this.#schema = schema
  }

  /** What it means alone; undefined: it is not right. */
  meaningOf(text: string): unknown {
    const known = this.#meanings.get(text)
    if (known !== undefined) return known
    const own = keptText(text)
    const meaning = this.#schema.safeParse(this.isRepeatable ? [own] : own).data
    if (meaning === undefined) return undefined
    if (this.#meanings.size >= rememberedTexts) this.#meanings.clear()
    this.#meanings.set(own, meaning)
    return meaning
  }
}
