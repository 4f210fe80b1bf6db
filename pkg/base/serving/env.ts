import type { HttpBindings } from '@hono/node-server'
import type { RequestFacts } from '../telemetry/telemetry.ts'

/** The listener passes it with each request; tests that call an app directly pass nothing. */
export interface ServingEnv {
  Bindings: ServingBindings
}

type ServingBindings = Partial<HttpBindings> & { readonly facts?: RequestFacts }

/** Answers a request: an app's `fetch`. */
export type Fetch = (request: Request, bindings: ServingBindings) => Response | Promise<Response>
