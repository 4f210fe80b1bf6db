import type { Hono } from 'hono'
import { RegistryError } from '../errors/errors.ts'
import type { Logger } from '../telemetry/telemetry.ts'
import type { ServingEnv } from './env.ts'

/**
 * `{"errors": ["message"]}`: Terraform prints the messages if it reads the body. Often it prints only the status line, so
 * the message is the reason phrase too.
 */
export function errorResponse(error: RegistryError): Response {
  return new Response(JSON.stringify({ errors: [error.message] }), {
    status: error.status,
    statusText: error.message.replaceAll(/[^\x20-\x7e]/g, '?').slice(0, 300),
    headers: {
      'Content-Type': 'application/json',
      // Another caller may get another answer.
      'Cache-Control': 'private, no-cache',
      Vary: 'Authorization',
      ...(error.status === 503 && { 'Retry-After': '5' }),
      ...error.headers,
    },
  })
}

const allowedMethods = 'GET, HEAD'

/**
 * Turns every error of an app into an answer: errors that handlers throw, unknown routes (404), and methods other than GET
 * and HEAD on a known route (405).
 *
 * @param hint ends the message of a 404 and says where to look
 */
export function answerErrors(app: Hono<ServingEnv>, log: Logger, hint: string): void {
  app.notFound(({ req: { method, path } }) => {
    const reads = method === 'GET' || method === 'HEAD'
    return errorResponse(
      reads || app.router.match('GET', path)[0].length === 0
        ? new RegistryError('NotFound', `no such endpoint: ${hint}`)
        : new RegistryError(
            'MethodNotAllowed',
            `${method} is not allowed here, only GET and HEAD`,
            {
              headers: { Allow: allowedMethods },
            },
          ),
    )
  })
  app.onError((error) => {
    if (error instanceof RegistryError && error.status !== 500) {
      if (error.cause !== undefined) log.warn({ err: error }, 'request failed')
      return errorResponse(error)
    }
    log.error({ err: error }, 'request failed unexpectedly')
    return errorResponse(new RegistryError('Internal', 'internal error: see the log of the server'))
  })
}
