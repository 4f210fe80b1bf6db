/**
 * The registry for coding agents: the Model Context Protocol over HTTP, without sessions. Its tools ask the questions of the
 * browse API, with the view of the caller.
 *
 * @see https://modelcontextprotocol.io/specification
 */

import { type Context, Hono } from 'hono'
import { badRequest, jsonOf, RegistryError } from '../../base/errors/errors.ts'
import { get, note, requestText, type ServingEnv } from '../../base/serving/serving.ts'
import { counter, type Logger, type Metrics } from '../../base/telemetry/telemetry.ts'
import type { OidcAuthOptions } from '../auth/auth.ts'
import { type BrowseOptions, callerViewOf, createQuestions } from '../browse/browse.ts'
import type { View } from '../catalog/catalog.ts'
import { baseUrlOf, type RegistryOptions } from '../protocol/protocol.ts'
import type { answer as Answer } from './server.ts'

export interface McpOptions
  extends Omit<BrowseOptions, 'auth'>,
    Pick<RegistryOptions, 'auth' | 'baseUrl' | 'trustProxy'> {
  readonly log: Logger
  readonly metrics: Metrics
  /** The version of Depot. */
  readonly version: string
}

const route = '/depot/mcp'

/** Imported on demand: the package of the protocol takes some megabytes, and most registries have no agents. */
let loaded: Promise<{ answer: typeof Answer }> | undefined

export function mcpRoutes(options: McpOptions): Hono<ServingEnv> {
  const routes = new Hono<ServingEnv>()
  const { auth, catalog } = options
  const questions = createQuestions(options)
  const count = toolMeter(options.metrics)

  routes.all(route, async (c) => {
    note(c, { route })
    const { method, raw } = c.req
    if (method !== 'POST') throw notPost(method)
    checkOrigin(c.req.header('origin'), options.baseUrl)
    const baseUrl = baseUrlOf(c, options)
    const view = await viewOf(c, baseUrl, options)
    const message = await messageIn(raw)
    loaded ??= import('./server.ts')
    const { answer } = await loaded
    const { host } = new URL(baseUrl)
    const noted = (subject: Parameters<typeof note>[1]) => note(c, subject)
    const asked = { catalog, questions, view, host, noted }
    const response = await answer(raw, message, { ...options, asked, count })
    response.headers.set('Cache-Control', 'no-store')
    response.headers.set('Vary', 'Authorization')
    return response
  })

  const issuer = auth?.issuer
  if (issuer === undefined) return routes
  for (const path of metadataPaths(options.baseUrl)) {
    get(routes, '', path, (c) =>
      Response.json(resourceMetadata(baseUrlOf(c, options) + route, issuer), {
        headers: { 'Cache-Control': 'no-cache' },
      }),
    )
  }
  return routes
}

const notPost = (method: string): RegistryError =>
  new RegistryError(
    'MethodNotAllowed',
    `${method} is not allowed here, because there are no sessions: send each message with POST`,
    { headers: { Allow: 'POST' } },
  )

/** Refuses pages of other sites, which can reach this server under their own host name (DNS rebinding). */
function checkOrigin(origin: string | undefined, baseUrl: string | undefined): void {
  if (origin === undefined) return
  if (baseUrl !== undefined && origin === new URL(baseUrl).origin) return
  throw new RegistryError(
    'Forbidden',
    'web pages may not ask here: leave the header Origin out, or send the origin of --base-url',
  )
}

/** @throws RegistryError as `Auth.viewOf`; a 401 says where the client finds the issuer (RFC 9728, section 5.1) */
async function viewOf(c: Context<ServingEnv>, baseUrl: string, options: McpOptions): Promise<View> {
  try {
    return await callerViewOf(c, options)
  } catch (error) {
    if (!(error instanceof RegistryError) || error.reason !== 'Unauthenticated') throw error
    const { message, cause, headers } = error
    const challenge = `${headers['WWW-Authenticate']}, resource_metadata="${baseUrl}${metadataPath}"`
    throw new RegistryError('Unauthenticated', message, {
      cause,
      headers: { ...headers, 'WWW-Authenticate': challenge },
    })
  }
}

/** Counts calls of tools, because their answers have status 200 even if they fail. */
function toolMeter(metrics: Metrics): (tool: string, result: string) => void {
  const calls = counter(metrics, {
    name: 'mcp_tool_calls_total',
    help: 'Calls of tools by coding agents, by tool and result: ok, or the reason of the error.',
    labels: ['tool', 'result'],
  })
  return (tool, result) => calls.inc({ tool, result })
}

/** Requests to tools are short. */
const maxBytes = 64 * 1024

/**
 * Reads the message of a request.
 *
 * @throws RegistryError TooLarge, or BadRequest if it ends early or is not one message
 */
async function messageIn(request: Request): Promise<unknown> {
  const message = jsonOf(await requestText(request, maxBytes, 'message'))
  // Many calls in one request would evade its limits. The protocol has dropped batches, too.
  if (typeof message === 'object' && message !== null && !Array.isArray(message)) return message
  throw badRequest(
    'the body must be one JSON-RPC message: send each message in a request of its own',
  )
}

/** Tells clients which issuer issues tokens. */
const metadataPath = '/.well-known/oauth-protected-resource'

/** The path that answers name, and those that clients try without an answer (RFC 9728, section 3.1). */
function metadataPaths(baseUrl = 'http://localhost'): ReadonlySet<string> {
  const { pathname } = new URL(baseUrl + route)
  return new Set([metadataPath, metadataPath + route, metadataPath + pathname])
}

/** @see https://www.rfc-editor.org/rfc/rfc9728#section-2 */
const resourceMetadata = (
  resource: string,
  { issuerUrl, scopes }: Pick<OidcAuthOptions, 'issuerUrl' | 'scopes'>,
) => ({
  resource,
  authorization_servers: [issuerUrl],
  scopes_supported: scopes,
  bearer_methods_supported: ['header'],
  resource_name: 'Depot',
})
