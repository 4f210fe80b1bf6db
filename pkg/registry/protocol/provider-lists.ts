import { Hono } from 'hono'
import type { ProviderList } from '../../api/registry/registry.ts'
import { notFound } from '../../base/errors/errors.ts'
import { after, get, note, type ServingEnv } from '../../base/serving/serving.ts'
import type { Listed } from '../catalog/catalog.ts'
import { providerPrefix } from './discovery.ts'
import { listedVersion } from './listed-version.ts'
import { listedIn, listOf, listQuery, viewsOf } from './module-lists.ts'
import type { RegistryOptions } from './options.ts'
import { jsonHeadersOf } from './respond.ts'

export const providerListRoutes = { all: '', namespace: '/:namespace' } as const
export const providerListQuery = {
  limit: listQuery.limit.replace('Modules', 'Providers'),
  offset: listQuery.offset.replace('Modules', 'Providers'),
}

/** Lists of the providers that a caller may see, with their latest versions, in the form of the public registry. */
export function createProviderLists(options: RegistryOptions): Hono<ServingEnv> {
  const routes = new Hono<ServingEnv>()
  const viewOf = viewsOf(options)
  const toProvider = ({ parent, summary: { namespace, address, latestVersion = '' } }: Listed) =>
    listedVersion(options.catalog, parent, [namespace, address], latestVersion)
  for (const prefix of [providerPrefix, '/v1/providers']) {
    for (const route of Object.values(providerListRoutes)) {
      get(routes, prefix, route, (c) => {
        const { namespace } = c.req.param() as { readonly namespace?: string }
        if (namespace !== undefined) note(c, { namespace })
        return after(viewOf(c), (view) => {
          const all = listedIn(options, view, 'Provider', namespace)
          if (all.length === 0 && namespace !== undefined) throw noProviders(namespace)
          const { meta, items } = listOf(new URL(c.req.url), all)
          const list: ProviderList = { meta, providers: items.map(toProvider) }
          return new Response(JSON.stringify(list), { headers: jsonHeadersOf(options) })
        })
      })
    }
  }
  return routes
}

const noProviders = (namespace: string) =>
  notFound(
    `providers ${namespace}/* not found, or not for you to see: check the namespace, and your access`,
  )
