import type { IncomingMessage } from 'node:http'
import { type Context, Hono } from 'hono'
import type { WhoAmI } from '../../api/browse/browse.ts'
import { after, get, type ServingEnv } from '../../base/serving/serving.ts'
import type { Auth, AuthRequest, CallerView } from '../auth/auth.ts'
import { type BrowseOptions, prefix } from '../browse/browse.ts'
import type { Catalog } from '../catalog/catalog.ts'
import type { RegistryOptions } from '../protocol/protocol.ts'

/** What the protocols and browsing ask about callers, answered by auth. */
export function accessOf(
  auth: Auth,
  catalog: Catalog,
): Pick<RegistryOptions, 'mayRead' | 'mayReadNow' | 'answersDiffer' | 'login'> &
  Pick<BrowseOptions, 'viewOf' | 'viewNow' | 'badgeView'> {
  const { model } = catalog
  const { now } = auth
  const toView = (view: CallerView) => {
    if (view === 'all') return model.views.all
    return view === 'public' ? model.views.public : model.viewOf(view)
  }
  return {
    mayRead: (c, kind, namespace, name) => auth.mayRead(requestOf(c), kind, namespace, name),
    mayReadNow: now.mayRead.bind(now),
    answersDiffer: auth.mode !== 'anonymous',
    login: () => auth.login(),
    badgeView: auth.mode === 'anonymous' ? model.views.all : model.views.public,
    viewOf: (c) => after(auth.viewOf(requestOf(c)), toView),
    viewNow(request) {
      const known = now.viewOf(request)
      return known && { view: toView(known.view), count: known.count }
    },
  }
}

/** Tells callers how they were understood. */
export function whoAmIRoutes(auth: Auth): Hono<ServingEnv> {
  const app = new Hono<ServingEnv>()
  const answer = (who: WhoAmI): Response =>
    Response.json(who, { headers: { 'Cache-Control': 'no-store', Vary: 'Authorization' } })
  get(app, prefix, '/whoami', (c) => after(auth.whoAmI(requestOf(c)), answer))
  return app
}

function requestOf(c: Context<ServingEnv>): AuthRequest {
  const incoming = c.env?.incoming
  const authorization =
    incoming === undefined ? c.req.header('authorization') : authorizationOf(incoming)
  return { authorization, facts: c.env?.facts }
}

/**
 * What the web's Headers would say, several values joined by commas, without looking at every letter of a long token once
 * more: Node has refused what must not be in a header. Its own `headers` would hide all but the first.
 */
function authorizationOf({ rawHeaders }: IncomingMessage): string | undefined {
  let value: string | undefined
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] as string
    if (name.length !== 13 || name.toLowerCase() !== 'authorization') continue
    const own = rawHeaders[index + 1] as string
    value = value === undefined ? own : `${value}, ${own}`
  }
  return value
}
