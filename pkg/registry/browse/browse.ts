/**
 * The API for browsing: an endpoint for each question of the explorer, answered from the catalog, and the OpenAPI document of
 * them. The pages themselves are in pkg/explorer.
 */

import { type Context, Hono } from 'hono'
import type { Clock } from '../../base/pacing/pacing.ts'
import {
  acceptsGzip,
  after,
  GzipAnswers,
  get,
  type Hot,
  note,
  type PlainRequest,
  PlainRoutes,
  type ReadyAnswer,
  type RouteParameters,
  type ServingEnv,
} from '../../base/serving/serving.ts'
import type { RequestFacts } from '../../base/telemetry/telemetry.ts'
import { type Auth, type CallerView, requestOf } from '../auth/auth.ts'
import type { Catalog, View } from '../catalog/catalog.ts'
import type { DocsStorage } from '../documentation/documentation.ts'
import type { ReadmeReader } from '../readmes/readmes.ts'
import { Search } from '../search/search.ts'
import { Answers } from './answers.ts'
import type { History } from './download-history.ts'
import type { BrowseAsked, BrowseEndpoint } from './endpoint.ts'
import { endpoints, prefix } from './endpoints.ts'
import { FirstSeen } from './first-seen.ts'
import { liveRoutes } from './live-routes.ts'
import { openApiDocument } from './openapi.ts'
import { parse, readQuery } from './parameters.ts'

export type * from '../../api/browse/browse.ts'
export { prefix } from './endpoints.ts'
export { explanationOf, namespaceIn, partsOf } from './explain.ts'
export { openApiDocument } from './openapi.ts'
export { createQuestions, type Questions } from './questions.ts'
export { requireVersion } from './resource-record.ts'

export interface BrowseOptions {
  readonly catalog: Catalog
  /** Decides what callers may see. Default: everything. */
  readonly auth?: Pick<Auth, 'mode' | 'viewOf' | 'now'> | undefined
  /** Default: none. */
  readonly readmes?: ReadmeReader | undefined
  /** Storage that has the documentation of modules. Default: none. */
  readonly archives?: DocsStorage | undefined
  /** The index of the catalog. Default: one of its own. */
  readonly search?: Search | undefined
  /** Downloads over time. Default: none. */
  readonly history?: History | undefined
  /** Default: Date.now. */
  readonly clock?: Clock | undefined
}

export const noReadmes: ReadmeReader = { revision: 0, get: () => undefined }

/**
 * The browse API: the contents of the registry that the caller may see, as read-only JSON. It answers from the catalog
 * without waiting; an answer is made once and sent until something in it changes.
 */
export function createBrowse(options: BrowseOptions): {
  readonly routes: Hono<ServingEnv>
  /** Finds the answers for which nothing has to be waited for. */
  readonly hot: Hot
} {
  const routes = new Hono<ServingEnv>()
  const answers = new Answers()
  const { auth } = options
  const send = sender(options)
  const toView = viewsOf(options.catalog)
  const viewOf = (c: Context<ServingEnv>) => callerViewOf(c, options)
  const firstSeen = new FirstSeen(options.clock ?? Date.now)
  const { catalog, readmes = noReadmes, search = new Search(catalog) } = options
  const sources = { catalog, readmes, firstSeen, search }
  const answerers = endpoints.map((endpoint) => answerer(endpoint, sources, answers))
  for (const { pattern, make } of answerers) {
    get(routes, prefix, pattern, (c) => {
      const path: RouteParameters = c.req.param()
      note(c, subjectOf(path))
      return after(viewOf(c), (view) => {
        const target = targetOf(c.req.url)
        const answer = answers.get(view.key, target) ?? make({ view, target, path })
        return send.toResponse(c, answer)
      })
    })
  }
  const plain = new PlainRoutes(answerers.map((each) => [prefix + each.pattern, each] as const))
  routes.route('/', liveRoutes(options, { viewOf, send: send.toResponse, answers }))
  const description = { body: JSON.stringify(openApiDocument()), revision: () => 0 }
  const document = answers.put('', '', description, {
    route: `${prefix}/openapi.json`,
  })
  get(routes, prefix, '/openapi.json', (c) => send.toResponse(c, document))
  return {
    routes,
    hot(request) {
      const { url } = request
      if (!url.startsWith(prefix)) return undefined
      const known = auth === undefined ? everything : auth.now.viewOf(request)
      if (known === undefined) return undefined
      const view = toView(known.view)
      const found = answers.get(view.key, url) ?? makePlainly(plain, view, url)
      const answer = found && send.ready(request, found)
      if (answer !== undefined) known.count()
      return answer
    },
  }
}

/** Converts what a caller may see to a view of the catalog. */
function viewsOf({ model }: Catalog): (view: CallerView) => View {
  return (view) => (typeof view === 'string' ? model.views[view] : model.viewOf(view))
}

/** The view of the caller of a request. @throws RegistryError as `Auth.viewOf` */
export function callerViewOf(
  c: Context<ServingEnv>,
  { auth, catalog }: Pick<BrowseOptions, 'auth' | 'catalog'>,
): View | Promise<View> {
  if (auth === undefined) return catalog.model.views.all
  return after(auth.viewOf(requestOf(c)), viewsOf(catalog))
}

const everything = { view: 'all', count: () => undefined } as const

/** One request. */
interface Question {
  readonly view: View
  /** Path and query. */
  readonly target: string
  readonly path: RouteParameters
}

interface Answerer {
  /** Pattern of the route, below the prefix. */
  readonly pattern: string
  /** Makes an answer, and keeps it if that pays. */
  readonly make: (question: Question) => ReadyAnswer
}

/** Path and query of an absolute URL. */
const targetOf = (url: string): string => url.slice(url.indexOf('/', url.indexOf('://') + 3))

/** Answers one endpoint. */
function answerer(
  endpoint: BrowseEndpoint,
  sources: Pick<BrowseAsked<unknown, unknown>, 'catalog' | 'readmes' | 'firstSeen' | 'search'>,
  answers: Answers,
): Answerer {
  const pattern = endpoint.route.replaceAll(/\{(\w+)\}/g, ':$1')
  const route = prefix + pattern
  const isAlone = !pattern.includes(':')
  const alone = { route }
  return {
    pattern,
    make({ view, target, path }) {
      const mark = target.indexOf('?')
      const composed = endpoint.answer({
        ...sources,
        view,
        path: isAlone ? {} : parse(endpoint.path, path),
        query: readQuery(endpoint.query, mark === -1 ? '' : target.slice(mark + 1)),
      })
      const facts = isAlone ? alone : { route, ...subjectOf(path) }
      return answers.put(view.key, target, composed, facts)
    },
  }
}

/** Queries that mean the same to every parser of URLs. */
const plainQuery = /^[\w.~+=&%,:-]*$/

/** Finds the endpoint and has it answer; undefined for everything else, such as an error. */
function makePlainly(
  routes: PlainRoutes<Answerer>,
  view: View,
  target: string,
): ReadyAnswer | undefined {
  const mark = target.indexOf('?')
  const route = routes.find(mark === -1 ? target : target.slice(0, mark))
  if (route === undefined || (mark !== -1 && !plainQuery.test(target.slice(mark + 1)))) {
    return undefined
  }
  try {
    return route.target.make({ view, target, path: route.path })
  } catch {
    return undefined
  }
}

/** Names the resource of a request for the access log. */
function subjectOf({ namespace, kind, name }: RouteParameters): RequestFacts {
  if (namespace === undefined || name === undefined) return {}
  return { namespace, name, kind: kind === 'module' ? 'Module' : 'Provider' }
}

/**
 * Compresses answers for callers with a token, or where everything is open: the size of a compressed answer could otherwise
 * tell another site what a browser of this person sees.
 */
function sender({ auth }: BrowseOptions) {
  const isOpen = auth === undefined || auth.mode === 'anonymous'
  const packed = new GzipAnswers()
  const packs = (accepted: string | undefined, authorization: string | undefined): boolean =>
    (isOpen || authorization !== undefined) && acceptsGzip(accepted)
  return {
    /** Undefined while the answer has to be compressed, which only the app can wait for. */
    ready: ({ acceptEncoding, authorization }: PlainRequest, answer: ReadyAnswer) =>
      packs(acceptEncoding, authorization) ? packed.now(answer) : answer,
    toResponse: (c: Context<ServingEnv>, answer: ReadyAnswer): Response | Promise<Response> => {
      const known = headerOf(c, 'if-none-match')
      return packs(headerOf(c, 'accept-encoding'), headerOf(c, 'authorization'))
        ? packed.make(answer).then((it) => it.toResponse(known))
        : answer.toResponse(known)
    },
  }
}

type HeaderName = 'if-none-match' | 'accept-encoding' | 'authorization'

/** A header, read from Node if possible, because the framework would copy all headers. */
function headerOf(c: Context<ServingEnv>, name: HeaderName): string | undefined {
  const incoming = c.env?.incoming
  return incoming ? incoming.headers[name] : c.req.header(name)
}
