/**
 * The module and provider protocols: a table of endpoints with the URLs of archives. The app and the answers that are ready
 * both use it; errors become answers in pkg/base/serving.
 */

import { Hono } from 'hono'
import { CappedMap } from '../../base/memory/memory.ts'
import {
  type Hot,
  type PlainRoute,
  PlainRoutes,
  type ServingEnv,
} from '../../base/serving/serving.ts'
import type { Parent } from '../catalog/catalog.ts'
import { moduleArchiveEndpoints, providerArchiveEndpoint, ReadyArchives } from './archives.ts'
import { moduleDetailEndpoints, providerDetailEndpoints } from './detail.ts'
import { discoveryEndpoints, modulePrefix, providerPrefix } from './discovery.ts'
import { downloadSummaryEndpoint } from './download-summary.ts'
import {
  type Endpoint,
  isOpen,
  isPublic,
  mount,
  nameIn,
  namesArchive,
  parentOf,
  type RegistryOptions,
} from './endpoint.ts'
import { listEndpoints } from './lists.ts'
import { moduleEndpoints } from './modules.ts'
import { ProviderAnswers, providerEndpoints } from './providers.ts'

export { type DescribedRoute, describedRoutes } from './description.ts'
export { discoveryPaths } from './discovery.ts'
export { unreadable } from './download-summary.ts'
export type { RegistryOptions } from './endpoint.ts'
export { baseUrlOf } from './endpoint.ts'

const archivePrefix = `${modulePrefix}/download/`

/** A URL is kept with its parameters, so this bounds them to some megabytes. */
const maxUrls = 4096
const maxCharacters = 512
/** The only query of a ready answer: that of the URLs in the metadata of a package. */
const digestQuery = /\?sha256=[0-9a-f]{64}$/

/**
 * The registry protocols that Terraform and OpenTofu speak: service discovery, modules, providers and their archives.
 * Endpoints answer from the catalog, synchronously; only archives and new signatures wait for anything.
 *
 * @see https://developer.hashicorp.com/terraform/internals/module-registry-protocol
 * @see https://developer.hashicorp.com/terraform/internals/provider-registry-protocol
 */
export function createRegistry(options: RegistryOptions): {
  readonly routes: Hono<ServingEnv>
  /** Finds the answers for which nothing has to be waited for. */
  readonly hot: Hot
} {
  const archives = new ReadyArchives(options)
  const modules = [
    ...moduleArchiveEndpoints(options, archives),
    ...moduleEndpoints(options),
    ...moduleDetailEndpoints(options),
    downloadSummaryEndpoint(options),
  ]
  const providers = [
    providerArchiveEndpoint(options),
    ...providerEndpoints(options, new ProviderAnswers(options)),
    ...providerDetailEndpoints(options),
  ]
  /** Prefixes as discovery names them, and as tools expect them that skip discovery. */
  const table: readonly (readonly [prefix: string, endpoints: readonly Endpoint[]])[] = [
    ['', discoveryEndpoints(options)],
    [modulePrefix, modules],
    [providerPrefix, providers],
    ['/v1/modules', modules],
    ['/v1/providers', providers],
  ]
  const routes = new Hono<ServingEnv>()
  for (const [prefix, endpoints] of table) {
    for (const endpoint of endpoints) mount(routes, prefix, endpoint, options)
  }
  routes.route('/', listEndpoints(options))
  const plain = new PlainRoutes(
    table
      .slice(0, 3)
      .flatMap(([prefix, endpoints]) =>
        endpoints
          .filter((endpoint) => 'ready' in endpoint)
          .map((endpoint) => [prefix + endpoint.route, endpoint] as const),
      ),
  )
  return { routes, hot: readyAnswers(plain, archives, options) }
}

/** A URL that had an answer: finding its route and its parent again costs more than the answer. */
interface KnownUrl extends PlainRoute<Endpoint> {
  readonly parent: Parent | undefined
  /** The parent's own address is the same for as long as this is. */
  readonly resource: Parent['resource']
  /** Whether it named an archive of the parent when it was found. */
  readonly namesArchive: boolean
}

/** The endpoints and parents of URLs, found once for as long as they are the same. */
class KnownUrls {
  readonly #plain: PlainRoutes<Endpoint>
  readonly #options: RegistryOptions
  readonly #known = new CappedMap<string, KnownUrl>(maxUrls)

  constructor(plain: PlainRoutes<Endpoint>, options: RegistryOptions) {
    this.#plain = plain
    this.#options = options
  }

  find(url: string): KnownUrl | undefined {
    const seen = this.#known.get(url)
    if (seen !== undefined && this.#isCurrent(seen)) return seen
    const route = this.#plain.find(url.replace(digestQuery, ''))
    if (route === undefined) return undefined
    const { target } = route
    const parent = target.kind && parentOf(this.#options, target.kind, route.path)
    const isNamed = target.digestOf !== undefined && namesArchive({ url, parent }, this.#options)
    return { ...route, parent, resource: parent?.resource, namesArchive: isNamed }
  }

  remember(url: string, found: KnownUrl): void {
    if (this.#known.get(url) === found) return
    const { parent, path } = found
    // Only the address that is the parent's own name stays with it: a config's name can move to another parent.
    const isOwnName = parent === undefined || parent.name === nameIn(path)
    if (!isOwnName || url.length > maxCharacters) return
    this.#known.set(url, found)
  }

  #isCurrent({ parent, resource }: KnownUrl): boolean {
    if (parent === undefined) return true
    const { modules, providers } = this.#options.catalog
    const named = parent.kind === 'Module' ? modules : providers
    return parent.resource === resource && named.get(parent.namespace)?.get(parent.name) === parent
  }
}

/** Finds answers for which nothing has to be waited for; everything else, such as an error, is left to the app. */
function readyAnswers(
  plain: PlainRoutes<Endpoint>,
  archives: ReadyArchives,
  options: RegistryOptions,
): Hot {
  const { auth } = options
  const urls = new KnownUrls(plain, options)
  return (request) => {
    const { url } = request
    if (url.startsWith(archivePrefix)) return archives.find(request)
    const found = urls.find(url)
    if (found === undefined) return undefined
    const { target: endpoint, path, parent } = found
    if (endpoint.kind !== undefined && parent === undefined) {
      // Takes as long as for a parent that the caller may not see.
      auth?.now.viewOf(request)
      return undefined
    }
    let reader: { readonly count: () => void } | undefined
    const mayRead = (): boolean => {
      if (parent === undefined || auth === undefined) return true
      const { kind, namespace, name } = parent
      reader = auth.now.readerOf(request, kind, namespace, name)
      return reader !== undefined
    }
    const isForAll = (): boolean => endpoint.digestOf !== undefined && isPublic(parent, options)
    try {
      if (!found.namesArchive && !isForAll() && !mayRead()) return undefined
      const content = endpoint.read(path, parent, request)
      const isChecked =
        !found.namesArchive || isOpen(endpoint, content, { url, parent }, options) || mayRead()
      if (!isChecked) return undefined
      const answer = endpoint.ready?.(content)
      if (answer === undefined) return undefined
      // Otherwise the app counts the caller.
      reader?.count()
      urls.remember(url, found)
      return answer
    } catch {
      // The app finds the same error again, and answers with it.
      return undefined
    }
  }
}
