import type { z } from 'zod'
import { CappedMap, keptText } from '../../base/memory/memory.ts'
import { badParameter, isRepeatable, parse } from './parameters.ts'

/** How many texts of one parameter are remembered, and how long they may be. */
const rememberedTexts = 64
const rememberedCharacters = 64

/** Whether the platform's parser is needed: for escapes, and for a leading question mark, which it drops. */
const needsParser = (search: string): boolean =>
  search.startsWith('?') || search.includes('%') || search.includes('+')

/**
 * Reads the query of a request, given without its question mark. Unknown parameters are ignored.
 *
 * @throws RegistryError BadRequest naming the parameter
 */
export type QueryReader<S extends z.ZodObject> = (search: string) => z.output<S>

/**
 * Makes a reader for the queries of one schema, whose parameters must not depend on each other. Queries that need decoding
 * or are not valid go through the platform's parser and the schema; all others are read here, for a fraction of the time.
 */
export function queryReader<S extends z.ZodObject>(schema: S): QueryReader<S> {
  const parameters = new Map(
    Object.entries(schema.shape).map(([name, parameter]) => [
      name,
      new Parameter(name, parameter as z.ZodType),
    ]),
  )
  const withoutAny = schema.safeParse({}).data
  return (search) => {
    const isPlain = withoutAny !== undefined && !needsParser(search)
    const query = isPlain ? plainly(search, parameters, withoutAny) : undefined
    return query ?? thoroughly(search, parameters, schema)
  }
}

/** Reads a query that needs no decoding; undefined unless all its parameters are valid and given once. */
function plainly<T extends Record<string, unknown>>(
  search: string,
  parameters: ReadonlyMap<string, Parameter>,
  withoutAny: T,
): T | undefined {
  const query: Record<string, unknown> = { ...withoutAny }
  const given: Parameter[] = []
  let equals = -1
  for (let start = 0; start < search.length; ) {
    const end = positionOf('&', search, start)
    // The search goes on behind the last one, because a query may be thousands of pairs without any.
    if (equals < start) equals = positionOf('=', search, start)
    const nameEnd = Math.min(equals, end)
    const parameter = parameters.get(search.slice(start, nameEnd))
    if (parameter !== undefined) {
      const meaning = parameter.meaningOf(search.slice(nameEnd + 1, end))
      if (meaning === undefined || given.includes(parameter)) return undefined
      given.push(parameter)
      query[parameter.name] = meaning
    }
    start = end + 1
  }
  return query as T
}

/** The position of the next such character, or the end of the text. */
function positionOf(character: string, text: string, start: number): number {
  const position = text.indexOf(character, start)
  return position === -1 ? text.length : position
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
  readonly isRepeatable: boolean
  readonly #schema: z.ZodType
  /** Values of texts of earlier requests: most parameters have a handful of them. */
  readonly #meanings = new CappedMap<string, unknown>(rememberedTexts)

  constructor(name: string, schema: z.ZodType) {
    this.name = name
    this.isRepeatable = isRepeatable(schema)
    this.#schema = schema
  }

  /** The value of one text; undefined if it is not valid. */
  meaningOf(text: string): unknown {
    const known = this.#meanings.get(text)
    if (known !== undefined) return known
    // Each request gets its own list, because its reader might change it.
    if (this.isRepeatable) return this.#schema.safeParse([text]).data
    const meaning = this.#schema.safeParse(text).data
    if (meaning === undefined || text.length > rememberedCharacters) return meaning
    const own = keptText(text)
    this.#meanings.set(own, meaning === text ? own : meaning)
    return meaning
  }
}
