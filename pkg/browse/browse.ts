import { type Context, Hono } from 'hono'
import type { Catalog, View } from '../catalog/catalog.ts'
import { after, get, matchesEtag, note, type ServingEnv } from '../serving/serving.ts'
import { type Answer, Answers } from './answers.ts'
import type { Endpoint, Readmes } from './endpoint.ts'
import { endpoints, prefix } from './endpoints.ts'
import { openApiDocument } from './openapi.ts'
import { parse, parseQuery } from './parameters.ts'

export type * from '../apis/browse/browse.ts'
export type { Readmes } from './endpoint.ts'
export { prefix } from './endpoints.ts'
export { openApiDocument } from './openapi.ts'

export interface BrowseOptions {
  readonly catalog: Catalog
  /**
   * What the caller may see. Default: everything.
   *
   * @throws RegistryError Unauthenticated or Forbidden, which become the answer
   */
  readonly viewOf?: ((c: Context<ServingEnv>) => View | Promise<View>) | undefined
  /** Default: there are none. */
  readonly readmes?: Readmes | undefined
  /** Default: the clock of the machine. */
  readonly now?: (() => Date) | undefined
}

const noReadmes: Readmes = { revision: 0, get: () => undefined }

/**
 * The browse API: what is in the registry, as far as the caller may see it. Read-only JSON, answered from the catalog
 * without waiting for anything; an answer is made once and sent until something in it changes.
 */
export function browseRoutes(options: BrowseOptions): Hono<ServingEnv> {
  const app = new Hono<ServingEnv>()
  const answers = new Answers()
  const viewOf = options.viewOf ?? (() => options.catalog.model.views.all)
  for (const endpoint of endpoints) {
    const answer = answerer(endpoint, options, answers)
    get(app, prefix, endpoint.route.replaceAll(/\{(\w+)\}/g, ':$1'), (c) => {
      noteSubject(c)
      return after(viewOf(c), (view) => respond(c, answer(c, view)))
    })
  }
  const document = answers.put('', {
    body: JSON.stringify(openApiDocument()),
    revision: () => 0,
  })
  get(app, prefix, '/openapi.json', (c) => respond(c, document))
  return app
}

/** Answers one endpoint: from memory where the same was asked before, in the same view, and nothing has changed. */
function answerer(endpoint: Endpoint, options: BrowseOptions, answers: Answers) {
  const { catalog, readmes = noReadmes, now = () => new Date() } = options
  return (c: Context<ServingEnv>, view: View): Answer => {
    const { url } = c.req
    const target = url.slice(url.indexOf('/', url.indexOf('://') + 3))
    const key = `${view.key} ${target}`
    const known = answers.get(key)
    if (known !== undefined) return known
    const mark = target.indexOf('?')
    const composed = endpoint.answer({
      catalog,
      view,
      readmes,
      now,
      path: parse(endpoint.path, c.req.param()),
      query: parseQuery(endpoint.query, mark === -1 ? '' : target.slice(mark + 1)),
    })
    return answers.put(key, composed)
  }
}

/** Tells the access log what the request is about. */
function noteSubject(c: Context<ServingEnv>): void {
  const { namespace, kind, name }: Readonly<Record<string, string>> = c.req.param()
  if (namespace === undefined || name === undefined) return
  note(c, { namespace, name, kind: kind === 'module' ? 'Module' : 'Provider' })
}

function respond(c: Context<ServingEnv>, { body, etag, headers }: Answer): Response {
  if (matchesEtag(ifNoneMatch(c), etag)) return new Response(null, { status: 304, headers })
  return new Response(body, { headers })
}

/** Read past the framework where that can be done, which saves making a copy of all headers. */
function ifNoneMatch(c: Context<ServingEnv>): string | undefined {
  const incoming = c.env?.incoming
  return incoming ? incoming.headers['if-none-match'] : c.req.header('If-None-Match')
}
