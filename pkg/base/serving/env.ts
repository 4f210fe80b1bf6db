import type { HttpBindings } from '@hono/node-server'
import type { RequestFacts } from '../telemetry/telemetry.ts'

/** What a listener passes along with a request; a test that calls an app directly passes nothing. */
export interface ServingEnv {
  Bindings: ServingBindings
}

type ServingBindings = Partial<HttpBindings> & { readonly facts?: RequestFacts }

/** What answers a request: an app's `fetch`. */
export type Fetch = (request: Request, bindings: ServingBindings) => Response | Promise<Response>
