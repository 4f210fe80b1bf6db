import { Hono } from 'hono'
import { RegistryError } from '../../pkg/base/errors/errors.ts'
import type { ControllerCommandOptions } from '../../pkg/base/options/options.ts'
import { httpPart, type Runnable } from '../../pkg/base/run/run.ts'
import {
  answerErrors,
  errorResponse,
  type Fetch,
  type ServeOptions,
  type ServingEnv,
  serve,
} from '../../pkg/base/serving/serving.ts'

/** The listener that servers forward to, together with health, readiness and metrics. */
export class ControllerHttp {
  readonly part: Runnable
  #fetch: Fetch = () =>
    errorResponse(
      new RegistryError('Unavailable', 'the controller is still loading: try again in a moment'),
    )

  constructor(
    { adminListen }: Pick<ControllerCommandOptions, 'adminListen'>,
    {
      onListening,
      ...options
    }: Omit<ServeOptions, 'fetch' | 'adminListen'> & {
      readonly onListening: (ports: { readonly url: string; readonly adminUrl: string }) => void
    },
  ) {
    this.part = httpPart({
      listen: options.listen,
      adminListen,
      open: () =>
        serve({
          ...options,
          adminListen,
          fetch: (request, env) => this.#fetch(request, env),
        }),
      onListening,
    })
  }

  /** Answers requests from now on. */
  begin(parts: readonly Hono<ServingEnv>[], log: ServeOptions['log']): void {
    const routes = new Hono<ServingEnv>()
    for (const part of parts) routes.route('/', part)
    answerErrors(
      routes,
      log,
      'this is the controller: send the request to the server, which forwards what the controller answers',
    )
    this.#fetch = routes.fetch
  }
}
