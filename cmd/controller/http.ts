import { Hono } from 'hono'
import { RegistryError } from '../../pkg/base/errors/errors.ts'
import { httpPart } from '../../pkg/base/run/run.ts'
import {
  answerErrors,
  errorResponse,
  type Fetch,
  type ServeOptions,
  type ServingEnv,
  serve,
} from '../../pkg/base/serving/serving.ts'

/** The listener that servers forward to, together with health, readiness and metrics. */
export function controllerHttp({
  onListening,
  ...options
}: Omit<ServeOptions, 'fetch'> & { readonly onListening: (ports: object) => void }) {
  let fetch: Fetch = () =>
    errorResponse(
      new RegistryError('Unavailable', 'the controller is still loading: try again in a moment'),
    )
  const open = () => serve({ ...options, fetch: (request, env) => fetch(request, env) })
  return {
    part: httpPart({ ...options, open, onListening }),
    /** Answers requests from now on. */
    begin(parts: readonly Hono<ServingEnv>[]): void {
      const routes = new Hono<ServingEnv>()
      for (const part of parts) routes.route('/', part)
      answerErrors(
        routes,
        options.log,
        'this is the controller: send the request to the server, which forwards what the controller answers',
      )
      fetch = routes.fetch
    },
  }
}

export type ControllerHttp = ReturnType<typeof controllerHttp>
