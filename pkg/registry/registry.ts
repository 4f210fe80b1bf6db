import { Hono } from 'hono'
import { archiveRoutes } from './archives.ts'
import { discoveryRoutes } from './discovery.ts'
import { moduleRoutes } from './modules.ts'
import { providerRoutes } from './providers.ts'
import type { RegistryEnv, RegistryOptions } from './routes.ts'
import { shasumsRoutes } from './shasums.ts'

export { discoveryPaths } from './discovery.ts'
export type { RegistryEnv, RegistryOptions } from './routes.ts'

/**
 * The registry protocols that Terraform and OpenTofu speak: service discovery, modules, providers and their archives.
 * Handlers answer from the catalog, synchronously; only archives and new signatures wait for anything.
 *
 * @see https://developer.hashicorp.com/terraform/internals/module-registry-protocol
 * @see https://developer.hashicorp.com/terraform/internals/provider-registry-protocol
 */
export function registryRoutes(options: RegistryOptions): Hono<RegistryEnv> {
  return new Hono<RegistryEnv>()
    .route('/', discoveryRoutes(options))
    .route('/depot', archiveRoutes(options))
    .route('/depot/modules/v1', moduleRoutes(options))
    .route('/depot/providers/v1', providerRoutes(options))
    .route('/depot/providers/v1', shasumsRoutes(options))
}
