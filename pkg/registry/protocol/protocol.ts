/**
 * The module and provider protocols: their routes, the URLs of archives, and answers that are ready. Who may read
 * what is a function that it is given; errors become answers in pkg/base/serving.
 */

import { Hono } from 'hono'
import { CappedMap } from '../../base/memory/memory.ts'
import type { Hot, PlainRequest, ServingEnv } from '../../base/serving/serving.ts'
import { moduleArchiveRoutes, providerArchiveRoutes } from './archives.ts'
import { createDiscovery, discoveryRoutes, modulePrefix, providerPrefix } from './discovery.ts'
import { moduleRoutes, readyModuleAnswer } from './modules.ts'
import type { RegistryOptions } from './ports.ts'
import { ProviderAnswers } from './provider-answers.ts'
import { providerRoutes, readyProviderAnswer } from './providers.ts'
import { ReadyArchives } from './ready-archives.ts'

export { discoveryPaths } from './discovery.ts'
export type { RegistryOptions } from './ports.ts'

/** Where each protocol answers: below what discovery says, and where tools look that skip discovery. */
const modulePrefixes = [modulePrefix, '/v1/modules']
const providerPrefixes = [providerPrefix, '/v1/providers']

const archivePrefix = `${modulePrefix}/download/`

/**
 * The registry protocols that Terraform and OpenTofu speak: service discovery, modules, providers and their archives.
 * Handlers answer from the catalog, synchronously; only archives and new signatures wait for anything.
 *
 * @see https://developer.hashicorp.com/terraform/internals/module-registry-protocol
 * @see https://developer.hashicorp.com/terraform/internals/provider-registry-protocol
 */
export function createRegistry(options: RegistryOptions): {
  readonly routes: Hono<ServingEnv>
  /** Finds the answers that need nothing to be waited for. */
  readonly hot: Hot
} {
  const routes = new Hono<ServingEnv>()
  const discovery = createDiscovery(options)
  const providers = new ProviderAnswers(options)
  const archives = new ReadyArchives(options)
  const paths = new PlainPaths()
  discoveryRoutes(routes, discovery)
  for (const prefix of modulePrefixes) {
    moduleArchiveRoutes(routes, prefix, options, archives)
    moduleRoutes(routes, prefix, options)
  }
  for (const prefix of providerPrefixes) {
    providerArchiveRoutes(routes, prefix, options)
    providerRoutes(routes, prefix, options, providers)
  }
  const readyAnswer = (segments: readonly string[], request: PlainRequest) =>
    segments[2] === 'modules'
      ? readyModuleAnswer(segments, request, options)
      : readyProviderAnswer(segments, request, options, providers)
  return {
    routes,
    hot(request) {
      const { url } = request
      if (url.startsWith(archivePrefix)) return archives.find(request)
      if (url.startsWith('/.well-known/')) return discovery(url)
      if (!url.startsWith(modulePrefix) && !url.startsWith(providerPrefix)) return undefined
      const segments = paths.segmentsOf(url)
      // Also where the prefix is the beginning of a word.
      if (segments?.[3] !== 'v1') return undefined
      const answer = readyAnswer(segments, request)
      if (answer !== undefined) paths.remember(url, segments)
      return answer
    },
  }
}

/** Paths that mean the same to everybody: no escapes, no query, nothing empty, no dots that lead elsewhere. */
const plainPath = /^(?:\/[\w~+-][\w.~+-]*)+$/

/** A path takes its characters twice, so this bounds them to some megabytes. */
const maxPaths = 4096
const maxCharacters = 512

/** Takes plain paths apart, and remembers those that had an answer: taking one apart costs more than finding that. */
class PlainPaths {
  readonly #known = new CappedMap<string, readonly string[]>(maxPaths)

  /** Segments of a path, the first empty; undefined where the path is for the router to judge. */
  segmentsOf(url: string): readonly string[] | undefined {
    return this.#known.get(url) ?? (plainPath.test(url) ? url.split('/') : undefined)
  }

  remember(url: string, segments: readonly string[]): void {
    if (this.#known.has(url) || url.length > maxCharacters) return
    this.#known.set(url, segments)
  }
}
