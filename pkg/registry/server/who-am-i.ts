import { Hono } from 'hono'
import type { WhoAmI } from '../../api/browse/browse.ts'
import { after, get, type ServingEnv } from '../../base/serving/serving.ts'
import { type Auth, requestOf } from '../auth/auth.ts'
import { prefix } from '../browse/browse.ts'

/** Tells callers who they are to the registry. */
export function whoAmIRoutes(auth: Auth): Hono<ServingEnv> {
  const app = new Hono<ServingEnv>()
  const answer = (who: WhoAmI): Response =>
    Response.json(who, { headers: { 'Cache-Control': 'no-store', Vary: 'Authorization' } })
  get(app, prefix, '/whoami', (c) => after(auth.whoAmI(requestOf(c)), answer))
  return app
}
