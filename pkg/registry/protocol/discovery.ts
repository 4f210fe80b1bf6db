import type { Discovery, Login } from '../../api/registry/registry.ts'
import { ReadyAnswer } from '../../base/serving/serving.ts'
import { type Endpoint, endpoint, type RegistryOptions } from './endpoint.ts'

/** CLIs ask for the first; the second is this service's own name for the same document. */
export const discoveryPaths = ['/.well-known/terraform.json', '/.well-known/registry.json'] as const

/** The prefixes of the protocols, as discovery names them. */
export const modulePrefix = '/depot/modules/v1'
export const providerPrefix = '/depot/providers/v1'

/**
 * Service discovery: where the other protocols are. No CLI asks twice, so it needs neither the catalog nor a caller.
 * The login is missing until the identity provider was reached for the first time.
 *
 * @see https://developer.hashicorp.com/terraform/internals/remote-service-discovery
 */
export function discoveryEndpoints({ auth, baseUrl }: RegistryOptions): readonly Endpoint[] {
  const root = baseUrl === undefined ? '' : new URL(baseUrl).pathname.replace(/\/$/, '')
  return discoveryPaths.map((route) => {
    let known: { readonly login: Login | undefined; readonly answer: ReadyAnswer } | undefined
    return endpoint({
      route,
      read: () => auth?.login(),
      ready(login) {
        if (known === undefined || known.login !== login) {
          known = { login, answer: discoveryAnswer(route, root, login) }
        }
        return known.answer
      },
    })
  })
}

function discoveryAnswer(route: string, root: string, login: Login | undefined): ReadyAnswer {
  const discovery: Discovery = {
    'modules.v1': `${root}${modulePrefix}/`,
    'providers.v1': `${root}${providerPrefix}/`,
    'login.v1': login,
  }
  return new ReadyAnswer(JSON.stringify(discovery), headers, { route })
}

const headers = { 'Content-Type': 'application/json' }
