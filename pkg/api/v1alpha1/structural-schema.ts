import * as z from 'zod'

/** A node of a structural schema, as far as Depot's kinds need it. */
export interface StructuralSchema {
  readonly description?: string
  readonly type?: string
  readonly format?: string
  readonly properties?: Readonly<Record<string, StructuralSchema>>
  readonly required?: readonly string[]
  readonly items?: StructuralSchema
  readonly additionalProperties?: StructuralSchema
  readonly [keyword: string]: unknown
}

/**
 * The structural schema of a zod schema's input, as API servers want it. Defaults are omitted: written into stored objects,
 * they would stay there when Depot's defaults change, and appear as drift in GitOps tools.
 *
 * @see
 *   https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/#specifying-a-structural-schema
 */
export function structuralSchema(schema: z.ZodType): StructuralSchema {
  const json = z.toJSONSchema(schema, {
    target: 'openapi-3.0',
    io: 'input',
    reused: 'inline',
    cycles: 'throw',
  })
  return structural(json as StructuralSchema)
}

function structural(node: StructuralSchema): StructuralSchema {
  const { description, type, properties, items, additionalProperties, ...rest } = node
  const { default: _, ...keywords } = rest
  return {
    ...(description !== undefined && { description }),
    ...(type !== undefined && { type }),
    ...withFormat(type, keywords),
    ...(items && { items: structural(items) }),
    ...(additionalProperties && { additionalProperties: structural(additionalProperties) }),
    ...(properties && {
      properties: Object.fromEntries(
        Object.entries(properties).map(([name, child]) => [name, structural(child)]),
      ),
    }),
  }
}

/** A format is shorter than the bounds of an integer type or the pattern of a date. */
function withFormat(type: string | undefined, keywords: StructuralSchema): StructuralSchema {
  const { minimum, maximum, pattern, ...rest } = keywords
  if (type === 'integer') {
    const isInt32 = Number(maximum) <= 2 ** 31 - 1
    const [least, most] = isInt32
      ? [-(2 ** 31), 2 ** 31 - 1]
      : [Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER]
    return {
      format: isInt32 ? 'int32' : 'int64',
      ...(minimum !== least && { minimum }),
      ...(maximum !== most && { maximum }),
      ...rest,
    }
  }
  return rest.format === 'date-time' || pattern === undefined ? rest : { pattern, ...rest }
}
