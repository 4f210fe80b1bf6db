import { type Context, Hono } from 'hono'
import type * as z from 'zod'
import { notFound } from '../../base/errors/errors.ts'
import { get, note, type ReadyAnswer, type ServingEnv } from '../../base/serving/serving.ts'
import type { View } from '../catalog/catalog.ts'
import type { DocsStorage } from '../documentation/documentation.ts'
import { type Answers, unkept } from './answers.ts'
import { badgeOf, badgePattern } from './badge.ts'
import type { BrowseOptions } from './browse.ts'
import { downloadHistory, type History, historyRecord } from './download-history.ts'
import type { Composed, DescribedEndpoint } from './endpoint.ts'
import { prefix } from './endpoints.ts'
import { comparisonAnswer, moduleComparison } from './module-comparison.ts'
import { type DocsAsked, docsAnswer, moduleDocs } from './module-docs.ts'
import { kindName, kindOf, parse, type ResourcePath, readQuery } from './parameters.ts'
import { pageAnswer, pagesAnswer, providerPage, providerPages } from './provider-pages.ts'
import { revisionOf } from './resource-record.ts'

const noHistory: History = () => Promise.resolve([])

export const noArchives: DocsStorage = {
  inMemory: () => undefined,
  open: () => Promise.reject(notFound('this server reads no archives')),
}

type StorageEndpoint<Q extends z.ZodObject, P extends ResourcePath> = DescribedEndpoint<Q, P>

interface LiveParts {
  readonly viewOf: (c: Context<ServingEnv>) => View | Promise<View>
  readonly send: (c: Context<ServingEnv>, answer: ReadyAnswer) => Response | Promise<Response>
  /** Answers that are kept. */
  readonly answers: Answers
}

/** Answers that have to be waited for: documentation from storage, the history of downloads from the store of counts; badges. */
export function liveRoutes(
  options: BrowseOptions,
  { viewOf, send, answers }: LiveParts,
): Hono<ServingEnv> {
  const routes = new Hono<ServingEnv>()
  const { catalog, history = noHistory, archives = noArchives, clock = Date.now } = options
  const isOpen = options.auth === undefined || options.auth.mode === 'anonymous'
  const badgeView = catalog.model.views[isOpen ? 'all' : 'public']

  function fromStorage<Q extends z.ZodObject, P extends ResourcePath>(
    { route, path: pathSchema, query }: StorageEndpoint<Q, P>,
    compose: (asked: DocsAsked<Q, P>, storage: DocsStorage) => Promise<Composed>,
  ): void {
    const pattern = patternOf(route)
    get(routes, prefix, pattern, async (c) => {
      const view = await viewOf(c)
      const path = parse(pathSchema, c.req.param())
      const facts = { namespace: path.namespace, name: path.name, kind: kindOf[path.kind] }
      note(c, facts)
      const { pathname, search } = new URL(c.req.url)
      const target = pathname + search
      const known = answers.get(view.key, target)
      if (known !== undefined) return send(c, known)
      const asked = { catalog, view, path, query: readQuery(query, search.slice(1)) }
      const madeAt = revisionOf(catalog, view, path)
      const composed = await compose(asked, archives)
      // A version that changed meanwhile may have other documentation.
      const isCurrent = composed.revision() === madeAt
      return send(
        c,
        isCurrent
          ? answers.put(view.key, target, composed, { route: prefix + pattern, ...facts })
          : unkept(composed.body),
      )
    })
  }

  const { route, path: pathSchema, query: querySchema } = downloadHistory
  get(routes, prefix, patternOf(route), async (c) => {
    const view = await viewOf(c)
    const path = parse(pathSchema, c.req.param())
    note(c, { namespace: path.namespace, name: path.name, kind: kindOf[path.kind] })
    const { search } = new URL(c.req.url)
    const asked = { catalog, view, path, query: readQuery(querySchema, search.slice(1)) }
    const body = JSON.stringify(await historyRecord(asked, history, clock()))
    return send(c, unkept(body))
  })

  fromStorage(moduleDocs, docsAnswer)
  fromStorage(moduleComparison, comparisonAnswer)
  fromStorage(providerPages, pagesAnswer)
  fromStorage(providerPage, pageAnswer)

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

const patternOf = (route: string): string => route.replaceAll(/\{(\w+)\}/g, ':$1')

const badgeHeaders = {
  'Content-Type': 'image/svg+xml',
  'Cache-Control': 'public, max-age=300',
  'Content-Security-Policy': "default-src 'none'; sandbox",
  'Cross-Origin-Resource-Policy': 'cross-origin',
}
