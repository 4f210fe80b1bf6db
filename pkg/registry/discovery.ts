import type { Hono } from 'hono'
import { get, type ServingEnv } from '../serving/serving.ts'
import type { RegistryOptions } from './ports.ts'
import { json } from './respond.ts'

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
export function discoveryRoutes(app: Hono<ServingEnv>, { login }: RegistryOptions): void {
  for (const path of discoveryPaths) {
    get(app, '', path, () => json(JSON.stringify({ ...services, 'login.v1': login?.() })))
  }
}
