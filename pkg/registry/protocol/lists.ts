import { type Context, Hono } from 'hono'
import type { ListedModule, ModuleList, ProviderList } from '../../api/registry/registry.ts'
import type { ParentKind } from '../../api/v1alpha1/v1alpha1.ts'
import { badRequest, notFound } from '../../base/errors/errors.ts'
import { after, get, note, type ServingEnv } from '../../base/serving/serving.ts'
import { type CallerView, requestOf } from '../auth/auth.ts'
import type { Listed, View } from '../catalog/catalog.ts'
import { Search } from '../search/search.ts'
import { modulePrefix, providerPrefix } from './discovery.ts'
import { jsonResponse, type RegistryOptions } from './endpoint.ts'
import { listedVersion } from './listed-version.ts'

export const listRoutes = {
  all: '',
  namespace: '/:namespace',
  name: '/:namespace/:name',
} as const
export const searchRoute = '/search'
export const listQuery = {
  limit: 'Modules on a page, 1 to 100; default 15.',
  offset: 'Modules before the page; default 0.',
  provider: 'The target system of the modules.',
}
export const providerListRoutes = { all: '', namespace: '/:namespace' } as const
export const providerListQuery = {
  limit: listQuery.limit.replace('Modules', 'Providers'),
  offset: listQuery.offset.replace('Modules', 'Providers'),
}

export const listNumbers = {
  limit: { minimum: 1, maximum: 100 },
  offset: { minimum: 0, maximum: 999_999_999 },
} as const

/** Finds the part of the catalog that a caller may see. */
function viewsOf({ auth, catalog: { model } }: RegistryOptions) {
  const toView = (view: CallerView): View =>
    typeof view === 'string' ? model.views[view] : model.viewOf(view)
  return (c: Context<ServingEnv>) =>
    auth === undefined ? model.views.all : after(auth.viewOf(requestOf(c)), toView)
}

/** Lists of the modules and providers that a caller may see, with their latest versions, in the form of the public registry. */
export function listEndpoints(options: RegistryOptions): Hono<ServingEnv> {
  const routes = new Hono<ServingEnv>()
  const { catalog, search = new Search(catalog) } = options
  const viewOf = viewsOf(options)
  const listsOf = (kind: ParentKind, path: string, answer: ListAnswer) =>
    get(routes, '', path, (c: Context<ServingEnv>) => {
      const { namespace, name } = c.req.param()
      if (namespace !== undefined) note(c, { namespace })
      return after(viewOf(c), (view) => {
        const found = listedIn(options, view, kind, namespace).filter(
          ({ summary }) => name === undefined || namesIn(summary)[0] === name,
        )
        if (found.length > 0 || namespace === undefined) return answer(new URL(c.req.url), found)
        throw nothingIn(kind, namespace, name)
      })
    })
  const modulesAnswer = modulesAnswerOf(options, search)
  const providersAnswer = providersAnswerOf(options)
  for (const prefix of [modulePrefix, '/v1/modules']) {
    get(routes, prefix, searchRoute, (c: Context<ServingEnv>) =>
      after(viewOf(c), (view) => {
        const url = new URL(c.req.url)
        const q = url.searchParams.get('q') ?? ''
        if (q === '') throw badRequest('q must be given: the words to find')
        const namespace = url.searchParams.get('namespace')
        const filter = { kind: 'Module', ...(namespace && { namespaces: [namespace] }) } as const
        const modules = search.find(view, filter, q).slice(0, Infinity).filter(hasVersion)
        return modulesAnswer(url, modules)
      }),
    )
    for (const route of Object.values(listRoutes)) listsOf('Module', prefix + route, modulesAnswer)
  }
  for (const prefix of [providerPrefix, '/v1/providers']) {
    for (const route of Object.values(providerListRoutes)) {
      listsOf('Provider', prefix + route, providersAnswer)
    }
  }
  return routes
}

type ListAnswer = (url: URL, found: readonly Listed[]) => Response

function modulesAnswerOf(options: RegistryOptions, search: Search): ListAnswer {
  const toModule = (entry: Listed): ListedModule => {
    const { parent, summary } = entry
    const [name, provider] = namesIn(summary)
    const { namespace, latestVersion = '' } = summary
    const listed = listedVersion(
      options.catalog,
      parent,
      [namespace, name, provider],
      latestVersion,
    )
    return { ...listed, provider, description: search.descriptionOf(entry), verified: false }
  }
  return (url, modules) => {
    // So that no new version has the description of the previous one.
    search.follow()
    const provider = url.searchParams.get('provider')
    const isChosen = ({ summary }: Listed) => provider === null || namesIn(summary)[1] === provider
    const { meta, items } = listOf(url, modules.filter(isChosen))
    const list: ModuleList = { meta, modules: items.map(toModule) }
    return jsonResponse(list, options)
  }
}

function providersAnswerOf(options: RegistryOptions): ListAnswer {
  return (url, all) => {
    const { meta, items } = listOf(url, all)
    const list: ProviderList = {
      meta,
      providers: items.map(({ parent, summary: { namespace, address, latestVersion = '' } }) =>
        listedVersion(options.catalog, parent, [namespace, address], latestVersion),
      ),
    }
    return jsonResponse(list, options)
  }
}

const nothingIn = (kind: ParentKind, namespace: string, name = '*') =>
  notFound(
    kind === 'Module'
      ? `modules ${namespace}/${name} not found, or you may not see them: check namespace and name, and your access`
      : `providers ${namespace}/* not found, or you may not see them: check the namespace, and your access`,
  )

/** The name and the system of a module. */
function namesIn({ address }: Listed['summary']): [name: string, system: string] {
  const [name = '', system = ''] = address.split('/')
  return [name, system]
}

/** Modules and providers without a version cannot be used. */
const hasVersion = ({ summary }: Listed): boolean => summary.latestVersion !== undefined

/** The resources of a kind that have a version, in a namespace or in all, sorted by name. */
function listedIn(
  { catalog: { model } }: RegistryOptions,
  view: View,
  kind: ParentKind,
  namespace: string | undefined,
): readonly Listed[] {
  const selection = { kind, ...(namespace !== undefined && { namespaces: [namespace] }) }
  const order = { sortBy: 'name', descending: false, offset: 0, limit: Infinity } as const
  return model.page(view, selection, order).entries.filter(hasVersion)
}

/** A page of a list. @throws RegistryError BadRequest naming the parameter */
function listOf<T>(url: URL, all: readonly T[]): { meta: ModuleList['meta']; items: T[] } {
  const { searchParams: query, pathname } = url
  const limit = numberIn(query, 'limit', 15)
  const offset = numberIn(query, 'offset', 0)
  const urlOf = (to: number): string => {
    const { searchParams } = new URL(url)
    searchParams.set('limit', `${limit}`)
    searchParams.set('offset', `${to}`)
    return `${pathname}?${searchParams.toString()}`
  }
  const next = offset + limit
  const previous = Math.max(0, offset - limit)
  return {
    meta: {
      limit,
      current_offset: offset,
      ...(next < all.length && { next_offset: next, next_url: urlOf(next) }),
      ...(offset > 0 && { prev_offset: previous, prev_url: urlOf(previous) }),
    },
    items: all.slice(offset, next),
  }
}

function numberIn(
  query: URLSearchParams,
  name: keyof typeof listNumbers,
  otherwise: number,
): number {
  const text = query.get(name)
  if (text === null) return otherwise
  const { minimum, maximum } = listNumbers[name]
  const number = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN
  if (number >= minimum && number <= maximum) return number
  throw badRequest(`${name} must be a whole number from ${minimum} to ${maximum}`)
}
