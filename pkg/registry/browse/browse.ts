/**
 * The API for browsing: an endpoint for each question of the explorer, answered from the catalog, and the OpenAPI document of
 * them. The pages themselves are in pkg/explorer.
 */

import { type Context, Hono } from 'hono'
import type { Clock } from '../../base/pacing/pacing.ts'
import {
  after,
  get,
  type Hot,
  note,
  type PlainRequest,
  type ReadyAnswer,
  type ServingEnv,
} from '../../base/serving/serving.ts'
import type { RequestFacts } from '../../base/telemetry/telemetry.ts'
import type { Catalog, View } from '../catalog/catalog.ts'
import { Answers } from './answers.ts'
import type { History } from './download-history.ts'
import type { Endpoint, Readmes } from './endpoint.ts'
import { endpoints, prefix } from './endpoints.ts'
import { FirstSeen } from './first-seen.ts'
import { liveRoutes } from './live-routes.ts'
import { openApiDocument } from './openapi.ts'
import { parse } from './parameters.ts'
import { queryReader } from './query-reader.ts'

export type * from '../../api/browse/browse.ts'
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
  /** Downloads over time. Default: there were none. */
  readonly history?: History | undefined
  /** What badges show, to every caller. Default: everything. */
  readonly badgeView?: View | undefined
  /** Default: Date.now. */
  readonly clock?: Clock | undefined
}

/** A view that is known, of a caller who has not been counted yet. */
interface ViewNow {
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
  /** Answers what needs nothing to be waited for. */
  readonly hot: Hot
} {
  const routes = new Hono<ServingEnv>()
  const answers = new Answers()
  const { all } = options.catalog.model.views
  const viewOf = options.viewOf ?? (() => all)
  const viewNow = options.viewNow ?? (() => ({ view: all, count: () => undefined }))
  const firstSeen = new FirstSeen(options.clock ?? Date.now)
  const answerers = endpoints.map((endpoint) => answerer(endpoint, options, firstSeen, answers))
  for (const { pattern, make } of answerers) {
    get(routes, prefix, pattern, (c) => {
      const path: Path = c.req.param()
      note(c, subjectOf(path))
      return after(viewOf(c), (view) => {
        const target = targetOf(c.req.url)
        const answer = answers.get(view.key, target) ?? make({ view, target, path })
        return answer.toResponse(ifNoneMatch(c))
      })
    })
  }
  routes.route('/', liveRoutes(options, viewOf))
  const description = { body: JSON.stringify(openApiDocument()), revision: () => 0 }
  const document = answers.put('', '', description, {
    route: `${prefix}/openapi.json`,
  })
  get(routes, prefix, '/openapi.json', (c) => document.toResponse(ifNoneMatch(c)))
  return {
    routes,
    hot(request) {
      const { url } = request
      if (!url.startsWith(prefix)) return undefined
      const known = viewNow(request)
      if (known === undefined) return undefined
      const { view } = known
      const answer = answers.get(view.key, url) ?? makePlainly(answerers, { view, target: url })
      if (answer !== undefined) known.count()
      return answer
    },
  }
}

type Path = Readonly<Record<string, string>>

/** What is asked for. */
interface Question {
  readonly view: View
  /** Path and query. */
  readonly target: string
  readonly path: Path
}

interface Answerer {
  /** Of the route, below the prefix. */
  readonly pattern: string
  /** What stands between its slashes. */
  readonly words: readonly string[]
  /** Makes an answer, and keeps it where it is worth that. */
  readonly make: (question: Question) => ReadyAnswer
}

/** Path and query of an absolute URL. */
const targetOf = (url: string): string => url.slice(url.indexOf('/', url.indexOf('://') + 3))

/** Answers one endpoint. */
function answerer(
  endpoint: Endpoint,
  { catalog, readmes = noReadmes }: BrowseOptions,
  firstSeen: FirstSeen,
  answers: Answers,
): Answerer {
  const pattern = endpoint.route.replaceAll(/\{(\w+)\}/g, ':$1')
  const route = prefix + pattern
  const isAlone = !pattern.includes(':')
  const alone = { route }
  const readQuery = queryReader(endpoint.query)
  return {
    pattern,
    words: pattern.split('/'),
    make({ view, target, path }) {
      const mark = target.indexOf('?')
      const composed = endpoint.answer({
        catalog,
        view,
        readmes,
        firstSeen,
        path: isAlone ? {} : parse(endpoint.path, path),
        query: readQuery(mark === -1 ? '' : target.slice(mark + 1)),
      })
      const facts = isAlone ? alone : { route, ...subjectOf(path) }
      return answers.put(view.key, target, composed, facts)
    },
  }
}

/** Paths and queries that mean the same to everybody: a URL of them is not changed by being parsed. */
const plainTarget = /^(?:\/[\w~+-][\w.~+-]*)+(?:\?[\w.~+=&%,:-]*)?$/

/** Finds the endpoint and has it answer; undefined where that takes more, such as an error, than an answer. */
function makePlainly(
  answerers: readonly Answerer[],
  question: Omit<Question, 'path'>,
): ReadyAnswer | undefined {
  const { target } = question
  if (!plainTarget.test(target)) return undefined
  const mark = target.indexOf('?')
  const segments = target.slice(prefix.length, mark === -1 ? target.length : mark).split('/')
  for (const { words, make } of answerers) {
    const path = pathOf(words, segments)
    if (path === undefined) continue
    try {
      return make({ ...question, path })
    } catch {
      return undefined
    }
  }
  return undefined
}

/** The parameters of a path that a pattern is for. */
function pathOf(words: readonly string[], segments: readonly string[]): Path | undefined {
  if (words.length !== segments.length) return undefined
  const path: Record<string, string> = {}
  for (let index = 0; index < words.length; index += 1) {
    const word = words[index] as string
    const segment = segments[index] as string
    if (word.startsWith(':')) path[word.slice(1)] = segment
    else if (word !== segment) return undefined
  }
  return path
}

/** What the access log tells of the request. */
function subjectOf({ namespace, kind, name }: Path): RequestFacts {
  if (namespace === undefined || name === undefined) return {}
  return { namespace, name, kind: kind === 'module' ? 'Module' : 'Provider' }
}

/** Read past the framework where that can be done, which saves making a copy of all headers. */
function ifNoneMatch(c: Context<ServingEnv>): string | undefined {
  const incoming = c.env?.incoming
  return incoming ? incoming.headers['if-none-match'] : c.req.header('If-None-Match')
}
