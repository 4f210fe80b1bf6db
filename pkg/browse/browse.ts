import { type Context, Hono } from 'hono'
import type { Catalog, View } from '../catalog/catalog.ts'
import {
  after,
  get,
  type Hot,
  note,
  type PlainRequest,
  type ReadyAnswer,
  type ServingEnv,
} from '../serving/serving.ts'
import type { RequestFacts } from '../telemetry/telemetry.ts'
import { Answers } from './answers.ts'
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
  /**
   * As `viewOf`, where that is known without waiting; undefined: `viewOf` has to be asked. Default: everything.
   */
  readonly viewNow?: ((request: PlainRequest) => ViewNow | undefined) | undefined
  /** Default: there are none. */
  readonly readmes?: Readmes | undefined
  /** Default: the clock of the machine. */
  readonly now?: (() => Date) | undefined
}

/** A view that is known, of a caller who has not been counted yet. */
export interface ViewNow {
  readonly view: View
  /** Counts the caller as let in. */
  readonly count: () => void
}

const noReadmes: Readmes = { revision: 0, get: () => undefined }

/**
 * The browse API: what is in the registry, as far as the caller may see it. Read-only JSON, answered from the catalog
 * without waiting for anything; an answer is made once and sent until something in it changes.
 */
export function createBrowse(options: BrowseOptions): {
  readonly routes: Hono<ServingEnv>
  /** Finds the answers that are kept. */
  readonly hot: Hot
} {
  const routes = new Hono<ServingEnv>()
  const answers = new Answers()
  const { all } = options.catalog.model.views
  const viewOf = options.viewOf ?? (() => all)
  const viewNow = options.viewNow ?? (() => ({ view: all, count: () => undefined }))
  for (const endpoint of endpoints) {
    const answer = answerer(endpoint, options, answers)
    get(routes, prefix, patternOf(endpoint), (c) => {
      note(c, subjectOf(c))
      return after(viewOf(c), (view) => answer(c, view).toResponse(ifNoneMatch(c)))
    })
  }
  const description = { body: JSON.stringify(openApiDocument()), revision: () => 0 }
  const document = answers.put('', description, { route: `${prefix}/openapi.json` })
  get(routes, prefix, '/openapi.json', (c) => document.toResponse(ifNoneMatch(c)))
  return {
    routes,
    hot(request) {
      if (!request.url.startsWith(prefix)) return undefined
      const known = viewNow(request)
      const answer = known && answers.get(keyOf(known.view, request.url))
      if (answer !== undefined) known?.count()
      return answer
    },
  }
}

const patternOf = ({ route }: Endpoint): string => route.replaceAll(/\{(\w+)\}/g, ':$1')

const keyOf = (view: View, target: string): string => `${view.key} ${target}`

/** Answers one endpoint: from memory where the same was asked before, in the same view, and nothing has changed. */
function answerer(endpoint: Endpoint, options: BrowseOptions, answers: Answers) {
  const { catalog, readmes = noReadmes, now = () => new Date() } = options
  const route = prefix + patternOf(endpoint)
  return (c: Context<ServingEnv>, view: View): ReadyAnswer => {
    const { url } = c.req
    const target = url.slice(url.indexOf('/', url.indexOf('://') + 3))
    const key = keyOf(view, target)
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
    return answers.put(key, composed, { route, ...subjectOf(c) })
  }
}

/** What the access log tells of the request. */
function subjectOf(c: Context<ServingEnv>): RequestFacts {
  const { namespace, kind, name }: Readonly<Record<string, string>> = c.req.param()
  if (namespace === undefined || name === undefined) return {}
  return { namespace, name, kind: kind === 'module' ? 'Module' : 'Provider' }
}

/** Read past the framework where that can be done, which saves making a copy of all headers. */
function ifNoneMatch(c: Context<ServingEnv>): string | undefined {
  const incoming = c.env?.incoming
  return incoming ? incoming.headers['if-none-match'] : c.req.header('If-None-Match')
}
