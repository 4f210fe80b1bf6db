import type { Hono } from 'hono'
import type { Discovery, Login } from '../../api/registry/registry.ts'
import { get, ReadyAnswer, type ServingEnv } from '../../base/serving/serving.ts'
import type { RegistryOptions } from './ports.ts'

/** CLIs ask for the first; the second is this service's own name for the same document. */
export const discoveryPaths = ['/.well-known/terraform.json', '/.well-known/registry.json'] as const

/** Below which the protocols answer, as discovery says. */
export const modulePrefix = '/depot/modules/v1'
export const providerPrefix = '/depot/providers/v1'

/** Gives the answer of discovery at one of its paths; undefined at any other. */
export type DiscoveryAnswer = (path: string) => ReadyAnswer | undefined

/** Makes the answers once, until something else is said about logging in. */
export function createDiscovery({ login, baseUrl }: RegistryOptions): DiscoveryAnswer {
  const root = baseUrl === undefined ? '' : new URL(baseUrl).pathname.replace(/\/$/, '')
  let madeOf: Login | undefined
  let answers: ReadonlyMap<string, ReadyAnswer> | undefined
  return (path) => {
    const said = login?.()
    if (answers === undefined || said !== madeOf) {
      madeOf = said
      answers = new Map(discoveryPaths.map((route) => [route, discoveryAnswer(route, root, said)]))
    }
    return answers.get(path)
  }
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

/**
 * Service discovery: where the other protocols are. No CLI asks twice, so it needs neither the catalog nor a caller.
 * Where to log in is missing for as long as the identity provider was never reached.
 *
 * @see https://developer.hashicorp.com/terraform/internals/remote-service-discovery
 */
export function discoveryRoutes(app: Hono<ServingEnv>, answerAt: DiscoveryAnswer): void {
  for (const path of discoveryPaths) {
    get(app, '', path, () => (answerAt(path) as ReadyAnswer).toResponse())
  }
}
