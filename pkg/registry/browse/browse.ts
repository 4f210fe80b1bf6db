/**
 * The browse API: an endpoint for each question of the explorer, answered from the catalog, and their OpenAPI document. The
 * pages are in pkg/explorer.
 */

import { type Context, Hono } from 'hono'
import { RegistryError } from '../../base/errors/errors.ts'
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
import { type CallerView, requestOf } from '../auth/auth.ts'
import type { Catalog, View } from '../catalog/catalog.ts'
import { Answers, headersOf } from './answers.ts'
import { badgeHeaders, badgeOf, badgePattern } from './badge.ts'
import type { BrowseEndpoint } from './endpoint.ts'
import { endpoints, prefix } from './endpoints.ts'
import { openApiDocument } from './openapi.ts'
import { kindName, kindOf, parse, queryReader } from './parameters.ts'
import { type AnswerSources, type BrowseOptions, sourcesOf } from './sources.ts'

export type * from '../../api/browse/browse.ts'
export { prefix } from './endpoints.ts'
export { explanationOf, namespaceIn, partsOf } from './explain.ts'
export { openApiDocument } from './openapi.ts'
export { createQuestions, type Questions } from './questions.ts'
export { requireVersion } from './resource-record.ts'
export type { BrowseOptions } from './sources.ts'

/**
 * The browse API: the contents of the registry that the caller may see, as read-only JSON. It answers from the catalog
 * without waiting. An answer is made once and sent until something in it changes.
 */
export function createBrowse(options: BrowseOptions): {
  readonly routes: Hono<ServingEnv>
  /** Finds answers that are ready without waiting. */
  readonly hot: Hot
} {
  const routes = new Hono<ServingEnv>()
  const answers = new Answers()
  const { auth, catalog } = options
  const send = sender(options)
  const toView = viewsOf(catalog)
  const sources = sourcesOf(options)
  const answerers = endpoints.map((endpoint) => answerer(endpoint, sources, answers))
  for (const { pattern, make, isForWriters } of answerers) {
    get(routes, prefix, pattern, (c) => {
      const path: RouteParameters = c.req.param()
      note(c, subjectOf(path))
      // Writers of a resource may know that it exists, even if callers see only public resources.
      const view = isForWriters
        ? after(requireWriter(c, path, auth), () => catalog.model.views.all)
        : callerViewOf(c, options)
      return after(view, (seen) => {
        const target = targetOf(c.req.url)
        const answered = answers.get(seen.key, target) ?? make({ view: seen, target, path })
        return after(answered, (made) => send.toResponse(c, made))
      })
    })
  }
  mountBadges(routes, options)
  const describe = () => ({ body: JSON.stringify(openApiDocument()), revision: () => 0 })
  let document: ReadyAnswer | undefined
  get(routes, prefix, '/openapi.json', (c) => {
    document ??= answers.put('', '', describe(), { route: `${prefix}/openapi.json` })
    return send.toResponse(c, document)
  })
  const plain = new PlainRoutes(
    answerers.filter(({ waits }) => !waits).map((each) => [prefix + each.pattern, each] as const),
  )
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

function mountBadges(routes: Hono<ServingEnv>, options: BrowseOptions): void {
  const { catalog } = options
  // Pages of other sites send no token, so badges show only public resources.
  const view = catalog.model.views[isOpen(options) ? 'all' : 'public']
  get(routes, prefix, badgePattern, (c) => {
    const { namespace, kind, file } = c.req.param()
    const known = kindName.safeParse(kind).data
    if (known !== undefined) note(c, { namespace, kind: kindOf[known] })
    return new Response(badgeOf(catalog, view, { namespace, kind, file }), {
      headers: badgeHeaders,
    })
  })
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

/** @throws RegistryError Forbidden unless the caller may write Versions of a resource, even of one that does not exist */
function requireWriter(
  c: Context<ServingEnv>,
  { namespace = '', kind = '', name = '' }: RouteParameters,
  auth: BrowseOptions['auth'],
): void | Promise<void> {
  const known = kindOf[kindName.safeParse(kind).data ?? 'module']
  const may = auth?.publishers.mayPublish(requestOf(c), known, namespace, name) ?? false
  return after(may, (is) => {
    if (is) return
    const role = `the right to create Versions in the namespace ${namespace}`
    throw new RegistryError(
      'Forbidden',
      `only those who may publish ${namespace}/${name} see who uses it: ask the administrators of this registry for ${role}, or for a GroupBinding with publishNamespaces`,
    )
  })
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
  /** True if answers need asynchronous work. */
  readonly waits: boolean
  readonly isForWriters: boolean
  /** Makes an answer, and keeps it if that is worth the memory. */
  readonly make: (question: Question) => ReadyAnswer | Promise<ReadyAnswer>
}

/** Returns path and query of an absolute URL. */
const targetOf = (url: string): string => url.slice(url.indexOf('/', url.indexOf('://') + 3))

function answerer(endpoint: BrowseEndpoint, sources: AnswerSources, answers: Answers): Answerer {
  const pattern = endpoint.route.replaceAll(/\{(\w+)\}/g, ':$1')
  const route = prefix + pattern
  const isAlone = !pattern.includes(':')
  const alone = { route }
  const headers = headersOf(endpoint.contentType)
  const readQuery = queryReader(endpoint.query)
  return {
    pattern,
    waits: endpoint.waitsFor !== undefined,
    isForWriters: endpoint.isForWriters === true,
    make({ view, target, path }) {
      const mark = target.indexOf('?')
      const composed = endpoint.answer({
        ...sources,
        view,
        path: isAlone ? {} : parse(endpoint.path, path),
        query: readQuery(mark === -1 ? '' : target.slice(mark + 1)),
      })
      const facts = isAlone ? alone : { route, ...subjectOf(path) }
      return after(composed, (made) => answers.put(view.key, target, made, facts, headers))
    },
  }
}

/** Only queries that all parsers of URLs read alike. */
const plainQuery = /^[\w.~+=&%,:-]*$/

/** Finds the endpoint and lets it answer; undefined for everything else, such as an error. */
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
    const answer = route.target.make({ view, target, path: route.path })
    return answer instanceof Promise ? undefined : answer
  } catch {
    return undefined
  }
}

/** Names the resource of a request in the access log. */
function subjectOf({ namespace, kind, name }: RouteParameters): RequestFacts {
  if (namespace === undefined || name === undefined) return {}
  return { namespace, name, kind: kind === 'module' ? 'Module' : 'Provider' }
}

/**
 * Compresses answers for callers with a token, or if everything is open. Otherwise, the size of a compressed answer could tell
 * another site what the browser of this person sees.
 */
function sender(options: BrowseOptions) {
  const packed = new GzipAnswers()
  const packs = (accepted: string | undefined, authorization: string | undefined): boolean =>
    (isOpen(options) || authorization !== undefined) && acceptsGzip(accepted)
  return {
    /** Undefined if the answer has to be compressed first, which only the app can wait for. */
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

/** True if everything is shown to everyone. */
const isOpen = ({ auth }: BrowseOptions): boolean => auth === undefined || auth.mode === 'anonymous'

type HeaderName = 'if-none-match' | 'accept-encoding' | 'authorization'

/** Reads a header from Node if possible, because the framework would copy all headers. */
function headerOf(c: Context<ServingEnv>, name: HeaderName): string | undefined {
  const incoming = c.env?.incoming
  return incoming ? incoming.headers[name] : c.req.header(name)
}
