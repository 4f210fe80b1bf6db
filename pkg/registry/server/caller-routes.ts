import { Hono } from 'hono'
import type { PublishRights, WhoAmI } from '../../api/browse/browse.ts'
import { after, get, type ServingEnv } from '../../base/serving/serving.ts'
import { type Auth, requestOf } from '../auth/auth.ts'
import { prefix } from '../browse/browse.ts'
import type { Catalog } from '../catalog/catalog.ts'

export interface CallerRoutesOptions {
  readonly auth: Auth
  readonly catalog: Catalog
  /** Whether this server takes archives from callers. */
  readonly overHttp: boolean
}

/** Limit of the namespaces that a cluster is asked about for one answer. */
const maxNamespaces = 100

/** Tells callers who they are to the registry, and where they may publish. */
export function callerRoutes({ auth, catalog, overHttp }: CallerRoutesOptions): Hono<ServingEnv> {
  const app = new Hono<ServingEnv>()
  const answer = (body: WhoAmI | PublishRights): Response =>
    Response.json(body, { headers: { 'Cache-Control': 'no-store', Vary: 'Authorization' } })
  get(app, prefix, '/whoami', (c) => after(auth.whoAmI(requestOf(c)), answer))
  get(app, prefix, '/publish-rights', (c) => {
    const asked = catalog.model.namespaces.slice(0, maxNamespaces)
    return after(auth.publishers.rightsOf(requestOf(c), asked), (items) =>
      answer({ overHttp, items }),
    )
  })
  return app
}
