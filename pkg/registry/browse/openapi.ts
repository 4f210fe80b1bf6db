import * as z from 'zod'
import { components, WhoAmI } from '../../api/browse/browse.ts'
import type { DescribedEndpoint } from './endpoint.ts'
import { described, prefix } from './endpoints.ts'
import { isRepeatable } from './parameters.ts'

type Json = Record<string, unknown>

/** Errors of every endpoint, with an example of the message. */
const commonErrors = {
  401: error(
    'A valid token is needed.',
    'a token is needed: log in with terraform login, or send "Authorization: Bearer TOKEN"',
  ),
  403: error(
    'The token does not say enough.',
    'the token has no claim groups: ask for the scope groups',
  ),
  503: error('The registry is loading.', 'the registry is still loading: try again in a moment'),
}

/** The OpenAPI 3.1 description of the browse API, made from the schemas that check its requests. */
export function openApiDocument(): Json {
  return {
    openapi: '3.1.0',
    info: {
      title: 'Depot browse API',
      version: '1',
      description:
        'What is in the registry: modules, providers, their versions, findings and downloads, as far as the caller may see them.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: prefix }],
    security: [{ token: [] }, {}],
    paths: {
      ...Object.fromEntries(
        described.map((endpoint) => [endpoint.route, { get: operation(endpoint) }]),
      ),
      '/whoami': { get: whoAmIOperation() },
    },
    components: {
      schemas: componentSchemas(),
      securitySchemes: {
        token: { type: 'http', scheme: 'bearer', description: 'Shows more than what is public.' },
      },
    },
  }
}

function operation(endpoint: DescribedEndpoint): Json {
  const { operationId, summary, description, path, query, response } = endpoint
  return {
    operationId,
    summary,
    description,
    parameters: [...parameters(path, 'path'), ...parameters(query, 'query'), ifNoneMatch],
    responses: {
      200: {
        description: 'The answer.',
        headers: {
          ETag: {
            description: 'Changes with the body.',
            schema: { type: 'string' },
            example: exampleTag,
          },
        },
        content: {
          'application/json': { schema: reference(response), example: endpoint.example },
        },
      },
      304: { description: 'The body has the tag that If-None-Match names.' },
      ...(endpoint.badRequest && { 400: error('A parameter is malformed.', endpoint.badRequest) }),
      ...(endpoint.notFound && {
        404: error('It does not exist, or not for the caller.', endpoint.notFound),
      }),
      ...commonErrors,
    },
  }
}

/** The one endpoint about the caller, which pkg/registry/server answers. */
function whoAmIOperation(): Json {
  const example: WhoAmI = {
    mode: 'oidc',
    kind: 'user',
    subject: 'ann',
    groups: ['platform'],
    access: 'what is public, and what the binding allows',
    binding: { name: 'platform', moduleResources: ['vpc-*'], providerResources: ['*'] },
  }
  return {
    operationId: 'whoAmI',
    summary: 'How the caller was understood',
    description: 'Who the caller is taken for, and what decides about what it may see.',
    parameters: [],
    responses: {
      200: {
        description: 'The answer.',
        content: { 'application/json': { schema: reference(WhoAmI), example } },
      },
      ...commonErrors,
    },
  }
}

const exampleTag = '"Zk3Cq9bJ0t2mX4vY7sLw1aPdQeR"'

const ifNoneMatch = {
  name: 'If-None-Match',
  in: 'header',
  required: false,
  description: 'The ETag of an answer that the client has: if it still holds, 304 comes back.',
  schema: { type: 'string' },
  example: exampleTag,
}

function parameters(schema: z.ZodObject, place: 'path' | 'query'): Json[] {
  return Object.entries(schema.shape).map(([name, parameter]) => {
    const { description, examples, ...rest } = jsonSchema(parameter as z.ZodType)
    return {
      name,
      in: place,
      required: place === 'path',
      description,
      ...(isRepeatable(parameter as z.ZodType) && { style: 'form', explode: true }),
      schema: rest,
      example: (examples as readonly unknown[] | undefined)?.[0],
    }
  })
}

/** The schema of a parameter's value: a number, if its text has to be one. */
function jsonSchema(schema: z.ZodType): Json {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io: 'output' }) as Json
  return rest
}

function reference(response: z.ZodType): Json {
  return { $ref: `#/components/schemas/${components.get(response)?.id}` }
}

function error(description: string, message: string): Json {
  return {
    description,
    content: {
      'application/json': {
        schema: { $ref: '#/components/schemas/Errors' },
        example: { errors: [message] },
      },
    },
  }
}

function componentSchemas(): Json {
  const { schemas } = z.toJSONSchema(components, {
    io: 'output',
    uri: (id) => `#/components/schemas/${id}`,
  })
  return Object.fromEntries(
    Object.entries(schemas).map(([id, schema]) => {
      const { $schema: _, $id: __, ...rest } = schema as Json
      return [id, rest]
    }),
  )
}
