import type { IncomingMessage } from 'node:http'
import type { Context } from 'hono'
import { Hono } from 'hono'
import type { Auth, AuthRequest, WhoAmI } from '../auth/auth.ts'
import type { BrowseOptions } from '../browse/browse.ts'
import type { Catalog } from '../catalog/catalog.ts'
import type { RegistryEnv, RegistryOptions } from '../registry/registry.ts'
import type { RequestFacts } from '../telemetry/telemetry.ts'

/** What the protocols and browsing ask about callers, answered by auth. */
export function accessOf(
  auth: Auth,
  catalog: Catalog,
): Pick<RegistryOptions, 'mayRead' | 'login'> & Pick<BrowseOptions, 'viewOf'> {
  const { model } = catalog
  const toView = (view: Awaited<ReturnType<Auth['viewOf']>>) => {
    if (view === 'all') return model.views.all
    return view === 'public' ? model.views.public : model.viewOf(view)
  }
  return {
    mayRead: (c, kind, namespace, name) => auth.mayRead(requestOf(c), kind, namespace, name),
    login: () => auth.login(),
    viewOf: (c) => {
      const view = auth.viewOf(requestOf(c))
      return view instanceof Promise ? view.then(toView) : toView(view)
    },
  }
}

const path = '/depot/ui/v1/whoami'

/** Tells callers how they were understood. */
export function whoAmIRoutes(auth: Auth): Hono<RegistryEnv> {
  const answer = (who: WhoAmI): Response =>
    Response.json(who, { headers: { 'Cache-Control': 'no-store', Vary: 'Authorization' } })
  return new Hono<RegistryEnv>().get(path, (c): Response | Promise<Response> => {
    if (c.env?.facts !== undefined) c.env.facts.route = path
    const who = auth.whoAmI(requestOf(c))
    return who instanceof Promise ? who.then(answer) : answer(who)
  })
}

type AnyContext = Context<{ Bindings: { facts?: RequestFacts; incoming?: IncomingMessage } }>

function requestOf(c: AnyContext): AuthRequest {
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
