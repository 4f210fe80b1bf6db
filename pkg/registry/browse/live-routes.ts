import { type Context, Hono } from 'hono'
import { get, note, type ReadyAnswer, type ServingEnv } from '../../base/serving/serving.ts'
import type { View } from '../catalog/catalog.ts'
import { unkept } from './answers.ts'
import { badgeOf, badgePattern } from './badge.ts'
import type { BrowseOptions } from './browse.ts'
import { downloadHistory, type History, historyRecord } from './download-history.ts'
import { prefix } from './endpoints.ts'
import { kindName, kindOf, parse, readQuery } from './parameters.ts'

const noHistory: History = () => Promise.resolve([])

/** Answers that are made for each request: the history of downloads, from the store of counts, and badges. */
export function liveRoutes(
  options: BrowseOptions,
  viewOf: (c: Context<ServingEnv>) => View | Promise<View>,
  send: (c: Context<ServingEnv>, answer: ReadyAnswer) => Response | Promise<Response>,
): Hono<ServingEnv> {
  const routes = new Hono<ServingEnv>()
  const { catalog, history = noHistory, clock = Date.now } = options
  const isOpen = options.auth === undefined || options.auth.mode === 'anonymous'
  const badgeView = catalog.model.views[isOpen ? 'all' : 'public']

  const { route, path: pathSchema, query: querySchema } = downloadHistory
  get(routes, prefix, route.replaceAll(/\{(\w+)\}/g, ':$1'), async (c) => {
    const view = await viewOf(c)
    const path = parse(pathSchema, c.req.param())
    note(c, { namespace: path.namespace, name: path.name, kind: kindOf[path.kind] })
    const { search } = new URL(c.req.url)
    const asked = { catalog, view, path, query: readQuery(querySchema, search.slice(1)) }
    const body = JSON.stringify(await historyRecord(asked, history, clock()))
    return send(c, unkept(body))
  })

  // Pages of other sites send no token, so badges show public resources only.
  get(routes, prefix, badgePattern, (c) => {
    const { namespace, kind, file } = c.req.param()
    const known = kindName.safeParse(kind).data
    if (known !== undefined) note(c, { namespace, kind: kindOf[known] })
    return new Response(badgeOf(catalog, badgeView, { namespace, kind, file }), {
      headers: badgeHeaders,
    })
  })
  return routes
}

const badgeHeaders = {
  'Content-Type': 'image/svg+xml',
  'Cache-Control': 'public, max-age=300',
  'Content-Security-Policy': "default-src 'none'; sandbox",
  'Cross-Origin-Resource-Policy': 'cross-origin',
}
