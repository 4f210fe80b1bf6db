import * as z from 'zod'
import { components, PublishRights, WhoAmI } from '../../api/browse/browse.ts'
import { type DescribedRoute, describedRoutes } from '../protocol/protocol.ts'
import { badgePattern } from './badge.ts'
import type { BrowseEndpoint } from './endpoint.ts'
import { endpoints, prefix } from './endpoints.ts'
import { isRepeatable } from './parameters.ts'

type Json = Record<string, unknown>

const json = 'application/json'

const header = (description: string, example: string) => ({
  description,
  schema: { type: 'string' },
  example,
})

/** Errors that every endpoint may return, each with an example of the message. */
const commonErrors = {
  401: {
    ...error(
      'A valid token is needed.',
      'a token is needed: log in with terraform login, or send "Authorization: Bearer TOKEN"',
    ),
    headers: { 'WWW-Authenticate': header('How to authenticate.', 'Bearer') },
  },
  403: error(
    'The token does not say enough.',
    'the token has no claim groups: ask for the scope groups',
  ),
  405: {
    ...error('The method is not GET or HEAD.', 'POST is not allowed here: send GET or HEAD'),
    headers: { Allow: header('The methods.', 'GET, HEAD') },
  },
  503: {
    ...error('The registry is loading.', 'the registry is still loading: try again in a moment'),
    headers: { 'Retry-After': header('When to try again, in seconds.', '5') },
  },
}

const cacheHeaders = {
  'Cache-Control': header('Answers differ by caller.', 'private, no-cache'),
  Vary: header('What answers differ by.', 'Authorization, Accept-Encoding'),
}

/** The OpenAPI 3.1 document of the browse API, made from the schemas that check its requests. */
export function openApiDocument(): Json {
  return {
    openapi: '3.1.0',
    info: {
      title: 'Depot',
      version: '1',
      description:
        'The browse API, and the protocols of module and provider registries: modules, providers, their versions, findings and downloads, as far as the caller may see them.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/' }],
    security: [{ token: [] }, {}],
    paths: {
      ...Object.fromEntries(
        endpoints.map((endpoint) => [prefix + endpoint.route, { get: operation(endpoint) }]),
      ),
      ...Object.fromEntries(callerOperations),
      [`${prefix}${braced(badgePattern)}`]: { get: badgeOperation() },
      ...Object.fromEntries(
        describedRoutes.map((route) => [braced(route.route), { get: protocolOperation(route) }]),
      ),
    },
    components: {
      schemas: componentSchemas(),
      securitySchemes: {
        token: { type: 'http', scheme: 'bearer', description: 'Shows more than what is public.' },
      },
    },
  }
}

function operation(endpoint: BrowseEndpoint): Json {
  const { operationId, summary, description, path, query, response, contentType = json } = endpoint
  const { notFound = 'kind' in path.shape ? noResource : undefined } = endpoint
  const badRequest = refusedParameter({ ...query.shape, ...path.shape })
  return {
    operationId,
    summary,
    description,
    parameters: [...parameters(path, 'path'), ...parameters(query, 'query'), ifNoneMatch],
    responses: {
      200: {
        description: 'The answer.',
        headers: { ETag: header('Changes with the body.', exampleTag), ...cacheHeaders },
        content: {
          [contentType]: {
            schema: contentType === json ? reference(response) : { type: 'string' },
            example: endpoint.example,
          },
        },
      },
      304: { description: 'The body has the tag that If-None-Match names.' },
      ...(badRequest && { 400: error('A parameter is malformed.', badRequest) }),
      ...(notFound && { 404: error(meanings[404], notFound) }),
      ...(endpoint.waitsFor === 'storage' && {
        502: error(meanings[502], messages[502]),
        504: error(meanings[504], messages[504]),
      }),
      ...commonErrors,
    },
  }
}

const noResource =
  'module platform/network not found, or you may not see it: check its namespace and name, and your access'

/** The message for an empty parameter, if possible one that says which values it takes. */
function refusedParameter(shape: Readonly<Record<string, z.ZodType>>): string | undefined {
  const messages = Object.entries(shape).flatMap(([name, type]) => {
    const { error: problem } = type.safeParse(isRepeatable(type) ? [''] : '')
    return problem ? [`${name} ${problem.issues[0]?.message}`] : []
  })
  return messages.find((message) => !message.endsWith(' must not be empty')) ?? messages[0]
}

/* Endpoints about the caller, which pkg/registry/server answers. */

const callerEndpoints = {
  whoami: {
    operationId: 'whoAmI',
    summary: 'How the caller was understood',
    description: 'Who the caller is taken for, and what decides about what it may see.',
    response: WhoAmI,
    example: {
      mode: 'oidc',
      kind: 'user',
      subject: 'ann',
      groups: ['platform'],
      access: 'what is public, and what the binding allows',
      binding: { name: 'platform', moduleResources: ['vpc-*'], providerResources: ['*'] },
    } satisfies WhoAmI,
  },
  'publish-rights': {
    operationId: 'listPublishRights',
    summary: 'Where the caller may publish',
    description:
      'Namespaces that the caller may publish to, and the names of Modules and Providers there. For credentials of a cluster, its RBAC rules decide; it is asked about the first 100 namespaces with modules or providers.',
    response: PublishRights,
    example: {
      overHttp: true,
      items: [{ namespace: 'platform', modules: ['vpc-*'], providers: [] }],
    } satisfies PublishRights,
  },
}

const callerOperations = Object.entries(callerEndpoints).map(
  ([route, { response, example, ...described }]) => {
    const content = { [json]: { schema: reference(response), example } }
    const responses = { 200: { description: 'The answer.', content }, ...commonErrors }
    return [`${prefix}/${route}`, { get: { ...described, parameters: [], responses } }]
  },
)

/** Writes the parameters of a route pattern in braces. */
function braced(pattern: string): string {
  return pattern.replaceAll(/:(\w+)/g, '{$1}')
}

const textParameter = (name: string, place: 'path' | 'query', description: string): Json => ({
  name,
  in: place,
  required: place === 'path',
  description,
  schema: { type: 'string' },
  example: addressParts[name] ?? name,
})

const numberSchema = (bounds: { readonly minimum: number; readonly maximum: number }): Json => ({
  schema: { type: 'integer', ...bounds },
  example: bounds.minimum,
})

function pathParameters(pattern: string): Json[] {
  const names = [...pattern.matchAll(/:(\w+)/g)].map(([, name = '']) => name)
  return names.map((name) => textParameter(name, 'path', `The ${name} of the address or location.`))
}

/** Parameters of the address of a module, a provider and an archive. */
const addressParts: Readonly<Record<string, string>> = {
  namespace: 'platform',
  name: 'network',
  system: 'aws',
  type: 'hello',
  version: '1.0.0',
  os: 'linux',
  arch: 'amd64',
  kind: 'module',
  file: 'network.svg',
}

/** Pictures for READMEs on other sites. */
function badgeOperation(): Json {
  return {
    operationId: 'getBadge',
    summary: 'A picture of the name and the latest version',
    description: 'For READMEs on other sites: public modules and providers only, without a token.',
    parameters: pathParameters(badgePattern),
    security: [{}],
    responses: {
      200: {
        description: 'The picture.',
        headers: { 'Cache-Control': header('It may be kept.', 'public, max-age=300') },
        content: { 'image/svg+xml': { schema: { type: 'string' } } },
      },
      404: error('It does not exist, or is not public.', 'no such badge'),
      405: commonErrors[405],
      503: commonErrors[503],
    },
  }
}

const filledText = { required: true, schema: { type: 'string', minLength: 1 } }

function protocolOperation(it: DescribedRoute): Json {
  const { route, operationId, summary, query = {}, status, contentTypes, required } = it
  const schema = required === undefined ? {} : { type: 'object', required }
  const headers = Object.entries(it.headers ?? {}).map(([name, meaning]) => [
    name,
    { description: meaning, schema: { type: 'string' } },
  ])
  const answer = {
    description: 'The answer.',
    headers: Object.fromEntries(headers),
    ...(contentTypes && {
      content: Object.fromEntries(contentTypes.map((type) => [type, { schema }])),
    }),
  }
  return {
    operationId,
    summary,
    parameters: [
      ...pathParameters(route),
      ...Object.entries(query).map(([name, meaning]) => ({
        ...textParameter(name, 'query', meaning),
        ...(it.numbers?.[name] && numberSchema(it.numbers[name])),
        ...(it.requiredQuery === name && filledText),
      })),
    ],
    responses: {
      [status]: answer,
      ...(it.isArchive && {
        206: { ...answer, description: 'The part that Range names.' },
        307: { description: 'The archive is at the URL of Location, in storage.' },
      }),
      304: { description: 'The body has the tag that If-None-Match names.' },
      ...Object.fromEntries(it.errors.map((code) => [code, error(meanings[code], messages[code])])),
      ...commonErrors,
    },
  }
}

const meanings = {
  400: 'A parameter is missing.',
  404: 'It does not exist, or the caller may not see it.',
  416: 'The archive does not have the range.',
  501: 'The server has no key to sign with.',
  502: 'The storage gave a wrong answer.',
  504: 'The storage took too long.',
} as const
const messages = {
  400: 'add ?os= and &arch= to choose a platform',
  404: 'module platform/network/aws not found: check its address, and your access',
  416: 'the archive has 1000 bytes',
  501: 'signing metadata not configured',
  502: 'the storage refused the request',
  504: 'the storage did not answer in time',
} as const

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
      required: !(parameter as z.ZodType).safeParse(undefined).success,
      description,
      ...(isRepeatable(parameter as z.ZodType) && { style: 'form', explode: true }),
      schema: rest,
      example: (examples as readonly unknown[] | undefined)?.[0],
    }
  })
}

/** The schema of a parameter's value: a number if its text has to be one. */
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
