import type { Hono } from 'hono'
import { RegistryError } from '../errors/errors.ts'
import type { Logger } from '../telemetry/telemetry.ts'
import type { ServingEnv } from './env.ts'

/**
 * `{"errors": ["message"]}`: the shape whose messages Terraform prints, where it reads a body. Of many answers it prints
 * the status line alone, so the message is the reason phrase too.
 */
export function errorResponse(error: RegistryError): Response {
  return new Response(JSON.stringify({ errors: [error.message] }), {
    status: error.status,
    statusText: error.message.replaceAll(/[^\x20-\x7e]/g, '?').slice(0, 300),
    headers: {
      'Content-Type': 'application/json',
      // What one caller may not have, another may.
      'Cache-Control': 'private, no-cache',
      Vary: 'Authorization',
      ...(error.status === 503 && { 'Retry-After': '5' }),
      ...error.headers,
    },
  })
}

const allowedMethods = 'GET, HEAD'

/**
 * The one place of an app that turns errors into answers: what handlers throw, what has no route (404), and methods other
 * than GET and HEAD where there is one (405).
 *
 * @param hint the end of the message of a 404, which says where to look
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
