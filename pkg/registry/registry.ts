import { Hono } from 'hono'
import type { ServingEnv } from '../serving/serving.ts'
import { moduleArchiveRoutes, providerArchiveRoutes } from './archives.ts'
import { discoveryRoutes } from './discovery.ts'
import { moduleRoutes } from './modules.ts'
import type { RegistryOptions } from './ports.ts'
import { providerRoutes } from './providers.ts'
import { shasumsRoutes } from './shasums.ts'

export { discoveryPaths } from './discovery.ts'
export type { RegistryOptions } from './ports.ts'

/** Where each protocol answers: below what discovery says, and where tools look that skip discovery. */
const modulePrefixes = ['/depot/modules/v1', '/v1/modules']
const providerPrefixes = ['/depot/providers/v1', '/v1/providers']

/**
 * The registry protocols that Terraform and OpenTofu speak: service discovery, modules, providers and their archives.
 * Handlers answer from the catalog, synchronously; only archives and new signatures wait for anything.
 *
 * @see https://developer.hashicorp.com/terraform/internals/module-registry-protocol
 * @see https://developer.hashicorp.com/terraform/internals/provider-registry-protocol
 */
export function registryRoutes(options: RegistryOptions): Hono<ServingEnv> {
  const app = new Hono<ServingEnv>()
  discoveryRoutes(app, options)
  for (const prefix of modulePrefixes) {
    moduleArchiveRoutes(app, prefix, options)
    moduleRoutes(app, prefix, options)
  }
  for (const prefix of providerPrefixes) {
    providerArchiveRoutes(app, prefix, options)
    providerRoutes(app, prefix, options)
    shasumsRoutes(app, prefix, options)
  }
  return app
}
