import {
  createMcpHandler,
  ProtocolError,
  ProtocolErrorCode,
  Server,
} from '@modelcontextprotocol/server'
import * as z from 'zod'
import { badRequest, printable, RegistryError } from '../../base/errors/errors.ts'
import type { Logger } from '../../base/telemetry/telemetry.ts'
import { getModule } from './module-tools.ts'
import { notice, pageOf } from './page.ts'
import { visible } from './plain.ts'
import { providerTools } from './provider-tools.ts'
import { searchTools } from './search-tools.ts'
import type { McpTool, ToolAsked } from './tool.ts'
import { versionTools } from './version-tools.ts'

const tools: readonly McpTool[] = [...searchTools, getModule, ...providerTools, ...versionTools]

const cursor = z
  .string('must be `next` of the previous answer')
  .regex(/^\d{1,9}$/, 'must be `next` of the previous answer: leave it out to begin')
  .optional()
  .describe(
    '`next` of the previous answer, with the same other arguments. If `version` is one of them, pass that of the first page. Default: the beginning.',
  )

const inputOf = ({ input }: McpTool) => input.extend({ cursor })

const listed = tools.map((tool) => ({
  name: tool.name,
  title: tool.title,
  description: tool.description,
  inputSchema: z.toJSONSchema(inputOf(tool), { io: 'input' }) as { type: 'object' },
  annotations: { readOnlyHint: true, idempotentHint: true, openWorldHint: false },
}))

export interface Answering {
  readonly asked: ToolAsked
  readonly count: (tool: string, result: string) => void
  readonly log: Logger
  /** The version of Depot. */
  readonly version: string
}

/** Answers a message. Every request has its own server, because there are no sessions and no unsolicited messages. */
export async function answer(
  request: Request,
  message: unknown,
  given: Answering,
): Promise<Response> {
  const { log, version } = given
  const create = (): Server => {
    const server = new Server(
      { name: 'depot', title: 'Depot', version },
      {
        capabilities: { tools: {} },
        instructions: `${given.asked.host} is a private registry of Terraform and OpenTofu modules and providers. ${notice}`,
      },
    )
    server.setRequestHandler('tools/list', () => ({ tools: listed }))
    server.setRequestHandler('tools/call', ({ params }) =>
      called(params.name, params.arguments, given),
    )
    return server
  }
  let err: Error | undefined
  const onerror = (error: Error): void => {
    err = error
    log.debug({ component: 'mcp', err }, 'message refused')
  }
  const response = await createMcpHandler(create, { maxSubscriptions: 0, onerror }).fetch(request, {
    parsedBody: message,
  })
  if (response.status >= 500) log.error({ component: 'mcp', err }, 'message failed unexpectedly')
  return response
}

async function called(name: string, given: unknown, { asked, count, log }: Answering) {
  const tool = tools.find((it) => it.name === name)
  if (tool === undefined) {
    throw new ProtocolError(
      ProtocolErrorCode.InvalidParams,
      `there is no tool ${printable(name)}: tools/list has them`,
    )
  }
  try {
    const input = argumentsOf(tool, given)
    const page = pageOf(await tool.answer(input, asked), input.cursor)
    count(name, 'ok')
    return {
      content: [{ type: 'text' as const, text: JSON.stringify(page) }],
      structuredContent: page,
    }
  } catch (error) {
    const { reason, message } = told(error, name, log)
    count(name, reason)
    return {
      isError: true,
      content: [{ type: 'text' as const, text: message }],
      structuredContent: { reason, message },
    }
  }
}

/** @throws RegistryError BadRequest naming the argument */
function argumentsOf(tool: McpTool, given: unknown): Parameters<McpTool['answer']>[0] {
  const schema = inputOf(tool)
  const parsed = schema.safeParse(given ?? {})
  if (parsed.success) return { ...parsed.data, cursor: Number(parsed.data['cursor'] ?? 0) }
  const { issues } = parsed.error
  const unknown = issues.find((issue) => issue.code === 'unrecognized_keys')
  if (unknown !== undefined) {
    throw badRequest(
      `${tool.name} has no argument ${printable(unknown.keys.join(', '))}: it has ${Object.keys(schema.shape).join(', ')}`,
    )
  }
  const [issue] = issues
  const argument = String(issue?.path[0] ?? 'arguments')
  const isMissing = issue?.code === 'invalid_type' && !(argument in Object(given ?? {}))
  throw badRequest(`${tool.name}: ${argument} ${isMissing ? 'must be given' : issue?.message}`)
}

/** Reason and message of an error, for the agent. */
function told(error: unknown, tool: string, log: Logger) {
  if (error instanceof RegistryError && error.reason !== 'Internal') {
    if (error.status >= 500) log.warn({ component: 'mcp', tool, err: error }, 'tool failed')
    return { reason: error.reason, message: visible(error.message) }
  }
  log.error({ component: 'mcp', tool, err: error }, 'tool failed unexpectedly')
  return { reason: 'Internal' as const, message: 'internal error: see the log of the server' }
}
