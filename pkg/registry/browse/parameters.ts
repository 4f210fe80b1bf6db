import * as z from 'zod'
import { RegistryError } from '../../base/errors/errors.ts'

/** Names in a cluster are not longer, and neither are parts of them. */
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

export function oneOf<const T extends readonly [string, ...string[]]>(words: T) {
  return z.enum(words, `must be one of ${words.join(', ')}`)
}

export const paging = {
  page: count.default(1).meta({ description: 'Number of the page.', examples: [2] }),
  page_size: count
    .default(20)
    .meta({ description: 'Items on a page. Above 100 it is taken for 100.', examples: [50] }),
}

const largestPage = 100

/** The items of a page. */
export function pageOf(query: { readonly page: number; readonly page_size: number }) {
  const pageSize = Math.min(query.page_size, largestPage)
  return { page: query.page, pageSize, offset: (query.page - 1) * pageSize }
}

export const noParameters = z.object({})

export const kindName = oneOf(['module', 'provider'])

/** The kind of the object for a kind in a path. */
export const kindOf = { module: 'Module', provider: 'Provider' } as const
export const nameOfKind = { Module: 'module', Provider: 'provider' } as const

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
  const [issue] = result.error.issues
  const name = String(issue?.path[0])
  const problem = name in raw ? issue?.message : 'must be given'
  throw badParameter(name, problem ?? 'is malformed')
}

/**
 * Reads the query of a request, given without its question mark. Unknown parameters are ignored.
 *
 * @throws RegistryError BadRequest naming the parameter
 */
export function readQuery<S extends z.ZodObject>(schema: S, search: string): z.output<S> {
  const raw: Record<string, string | string[]> = {}
  new URLSearchParams(search).forEach((value, name) => {
    if (!Object.hasOwn(schema.shape, name)) return
    const before = raw[name]
    if (isRepeatable(schema.shape[name])) {
      raw[name] = Array.isArray(before) ? [...before, value] : [value]
    } else if (before === undefined) raw[name] = value
    else throw badParameter(name, 'must be given once')
  })
  return parse(schema, raw)
}

export function isRepeatable(parameter: z.ZodType): boolean {
  return parameter instanceof z.ZodOptional
    ? isRepeatable(parameter.unwrap() as z.ZodType)
    : parameter instanceof z.ZodArray
}

function badParameter(name: string, problem: string): RegistryError {
  return new RegistryError('BadRequest', `${name} ${problem}`)
}
