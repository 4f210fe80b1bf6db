import * as z from 'zod'
import { badRequest, type RegistryError } from '../../base/errors/errors.ts'

/** Names in a cluster are not longer. */
const maxLength = 253
const largestNumber = 999_999_999

/** A word that is not empty. */
export const word = z
  .string()
  .min(1, 'must not be empty')
  .max(maxLength, `must not be longer than ${maxLength} characters`)

export const flag = z
  .enum(['true', 'false'], 'must be true or false')
  .transform((text) => text === 'true')
  .pipe(z.boolean())

/** A whole number from 1. */
const count = z
  .string()
  .regex(/^\d+$/, 'must be a whole number from 1')
  .transform(Number)
  .pipe(
    z
      .int('must be a whole number from 1')
      .min(1, 'must be a whole number from 1')
      .max(largestNumber, `must not be larger than ${largestNumber}`),
  )

/** A parameter that may be left out. */
export const optional = <T extends z.ZodType>(type: T, example: z.output<T>, meaning: string) =>
  type.optional().meta({ description: meaning, examples: [example] })

export function oneOf<const T extends readonly [string, ...string[]]>(words: T) {
  return z.enum(words, `must be one of ${words.join(', ')}`)
}

export const paging = {
  page: count.default(1).meta({ description: 'Number of the page.', examples: [2] }),
  page_size: count
    .default(20)
    .meta({ description: 'Items on a page. Values above 100 mean 100.', examples: [50] }),
}

const largestPage = 100

/** A page of the items. */
export function pageOf(query: { readonly page: number; readonly page_size: number }) {
  const pageSize = Math.min(query.page_size, largestPage)
  return { page: query.page, pageSize, offset: (query.page - 1) * pageSize }
}

/** Cuts the page from a list, in the form of answers. */
export function pageIn<T>(all: readonly T[], query: Parameters<typeof pageOf>[0]) {
  const { page, pageSize, offset } = pageOf(query)
  return { items: all.slice(offset, offset + pageSize), totalCount: all.length, page, pageSize }
}

export const noParameters = z.object({})

export const kindName = oneOf(['module', 'provider'])

/** The kind of the object for a kind in a path. */
export const kindOf = { module: 'Module', provider: 'Provider' } as const
export const nameOfKind = { Module: 'module', Provider: 'provider' } as const

/** Filters of lists. */
export const anyNamespace = optional(
  z.array(word),
  ['platform', 'payments'],
  'Any of these namespaces.',
)
export const onlyNamespace = optional(word, 'platform', 'Only this namespace. Default: all.')
export const onlyKind = optional(kindName, 'module', 'Only this kind.')

/** Path parameters of endpoints for one module or provider. */
export const resourcePath = z.object({
  namespace: word.meta({ description: 'Namespace in the cluster.', examples: ['platform'] }),
  kind: kindName.meta({ description: 'What it is.', examples: ['module'] }),
  name: word.meta({ description: 'Name of the resource.', examples: ['network'] }),
})

/** @throws RegistryError BadRequest naming the parameter */
export function parse<S extends z.ZodObject>(schema: S, raw: object): z.output<S> {
  const result = schema.safeParse(raw)
  if (result.success) return result.data
  const name = String(result.error.issues[0]?.path[0])
  throw refused(name, (raw as Record<string, unknown>)[name], result.error)
}

/**
 * Reads queries without their question mark. Unknown parameters are ignored. Absent ones are parsed once, here, because most
 * are absent.
 *
 * @returns a function that throws RegistryError BadRequest naming the parameter
 */
export function queryReader<S extends z.ZodObject>({ shape }: S): (search: string) => z.output<S> {
  const parameters = new Map(
    Object.entries(shape as Record<string, z.ZodType>).map(([name, type]) => [
      name,
      { type, absent: type.safeParse(undefined), isMany: isRepeatable(type) },
    ]),
  )
  const defaults = Object.fromEntries(
    [...parameters].map(([name, { absent }]) => [name, absent.data]),
  )
  return (search) => {
    const given = new Map<string, string | string[]>()
    new URLSearchParams(search).forEach((value, name) => {
      const parameter = parameters.get(name)
      if (parameter === undefined) return
      const before = given.get(name)
      if (Array.isArray(before)) before.push(value)
      else if (before === undefined) given.set(name, parameter.isMany ? [value] : value)
      else throw badParameter(name, 'must be given once')
    })
    const values = { ...defaults }
    for (const [name, { type, absent }] of parameters) {
      const text = given.get(name)
      if (text === undefined && absent.success) continue
      const { data, error } = type.safeParse(text)
      if (error !== undefined) throw refused(name, text, error)
      values[name] = data
    }
    return values as z.output<S>
  }
}

function refused(name: string, given: unknown, { issues: [issue] }: z.ZodError): RegistryError {
  const problem = given === undefined ? 'must be given' : issue?.message
  return badParameter(name, problem ?? 'is malformed')
}

export function isRepeatable(parameter: z.ZodType): boolean {
  return parameter instanceof z.ZodOptional
    ? isRepeatable(parameter.unwrap() as z.ZodType)
    : parameter instanceof z.ZodArray
}

function badParameter(name: string, problem: string): RegistryError {
  return badRequest(`${name} ${problem}`)
}
