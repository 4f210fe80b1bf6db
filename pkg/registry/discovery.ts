import { Hono } from 'hono'
import { json, note, type RegistryEnv, type RegistryOptions } from './routes.ts'

/** CLIs ask for the first; the second is this service's own name for the same document. */
export const discoveryPaths = ['/.well-known/terraform.json', '/.well-known/registry.json'] as const

const services = {
  'modules.v1': '/depot/modules/v1/',
  'providers.v1': '/depot/providers/v1/',
}

/**
 * Service discovery: where the other protocols are. No CLI asks twice, so it needs neither the catalog nor a caller.
 * Where to log in is missing for as long as the identity provider was never reached.
 *
 * @see https://developer.hashicorp.com/terraform/internals/remote-service-discovery
 */
export function discoveryRoutes({ login }: RegistryOptions): Hono<RegistryEnv> {
  const app = new Hono<RegistryEnv>()
  for (const path of discoveryPaths) {
    app.get(path, (c) => {
      note(c, path)
      return json(JSON.stringify({ ...services, 'login.v1': login?.() }))
    })
  }
  return app
}
