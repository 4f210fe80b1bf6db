import { Hono } from 'hono'
import { json, note, type RegistryEnv } from './routes.ts'

/** CLIs ask for the first; the second is this service's own name for the same document. */
export const discoveryPaths = ['/.well-known/terraform.json', '/.well-known/registry.json'] as const

const document = JSON.stringify({
  'modules.v1': '/depot/modules/v1/',
  'providers.v1': '/depot/providers/v1/',
})

/**
 * Service discovery: where the other protocols are. No CLI asks twice, so it needs neither the catalog nor a caller.
 *
 * @see https://developer.hashicorp.com/terraform/internals/remote-service-discovery
 */
export function discoveryRoutes(): Hono<RegistryEnv> {
  const app = new Hono<RegistryEnv>()
  for (const path of discoveryPaths) {
    app.get(path, (c) => {
      note(c, path)
      return json(document)
    })
  }
  return app
}
