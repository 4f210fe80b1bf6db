/** Wires who callers are and what they may do, from the options that the server and the controller share. */

import { type ComparableSink, fanOut } from '../../pkg/api/v1alpha1/v1alpha1.ts'
import { messageOf, RegistryError } from '../../pkg/base/errors/errors.ts'
import type { ProxyRules } from '../../pkg/base/http/http.ts'
import {
  authModeOf,
  type ControllerCommandOptions,
  OptionsError,
  type ServerCommandOptions,
} from '../../pkg/base/options/options.ts'
import type { Logger, Metrics } from '../../pkg/base/telemetry/telemetry.ts'
import { type Cluster, loadConnection } from '../../pkg/records/kube/kube.ts'
import { compileGlob, GroupBindings } from '../../pkg/registry/access/access.ts'
import { Auth, type AuthOptions, type ClusterAddress } from '../../pkg/registry/auth/auth.ts'
import { type Broker, createBroker } from '../../pkg/registry/broker/broker.ts'
import { Catalog } from '../../pkg/registry/catalog/catalog.ts'
import { openPublishIssuers } from './publish-issuers.ts'

export { publishIssuersIn } from './publish-issuers.ts'

/** Authentication, access rules and the broker. */
export interface Access {
  readonly auth: Auth
  /** Undefined unless logins are passed on to a broker. */
  readonly broker: Broker | undefined
  /** Receives resources: fills the catalog and the GroupBindings. */
  readonly sink: ComparableSink
  close(): Promise<void>
}

type AllOptions = Omit<ServerCommandOptions, 'listen'>
type SharedOption = keyof AllOptions & (keyof ControllerCommandOptions | 'anonymousAuth')

/** Options about callers. Controllers serve no `terraform login` and record no consumers. */
type CallerOptions = Pick<AllOptions, SharedOption> & Partial<AllOptions>

interface AuthParts extends Pick<AuthOptions, 'bindings' | 'isPublic' | 'log' | 'metrics'> {
  readonly options: CallerOptions
  readonly proxies: ProxyRules
}

/** Parts of a process that has callers. */
interface CallerParts<O> {
  readonly options: O
  /** Proxies for requests to the issuer and the broker. */
  readonly proxies: ProxyRules
  readonly log: Logger
  readonly metrics: Metrics
}

/** Identifies the callers of one listener. */
async function openAuth({ options, proxies, ...parts }: AuthParts): Promise<Auth> {
  const { publishIssuers: path, oidcIssuerUrl: mainIssuer } = options
  const file = path && (await openPublishIssuers({ path, mainIssuer, ...parts }))
  return new Auth({
    ...parts,
    mode: authModeOf(options),
    publishIssuers: file ? { file, proxies } : undefined,
    oidc: oidcOf(options, proxies),
    cluster: needsCluster(options)
      ? {
          apiGroup: options.apiGroup,
          address: clusterAddress(options),
          ttlMs: options.passthroughCacheTtlMs,
        }
      : undefined,
  })
}

export async function openAccess(
  parts: CallerParts<ServerCommandOptions>,
  catalog: Catalog,
): Promise<Access> {
  const { brokerProxyUrl: url, trustProxy, baseUrl, namespace } = parts.options
  const bindings = new GroupBindings({ ...parts, namespace })
  const { model } = catalog
  const isPublic: AuthOptions['isPublic'] = (kind, of, name) =>
    model.find(model.views.public, kind, of, name) !== undefined
  const auth = await openAuth({ ...parts, bindings, isPublic })
  const broker =
    url === undefined ? undefined : createBroker({ ...parts, url, trustProxy, baseUrl })
  return {
    auth,
    broker,
    sink: fanOut(catalog, bindings),
    close: async () => void (await Promise.all([auth.close(), broker?.close()])),
  }
}

/** Identifies callers who publish through the controller. `ready` resolves once its GroupBindings are loaded. */
export async function openCallers(
  parts: CallerParts<ControllerCommandOptions>,
  cluster: Cluster,
): Promise<{ readonly auth: Auth; readonly ready: Promise<void> }> {
  const { namespace } = parts.options
  const bindings = new GroupBindings({ ...parts, namespace })
  const scope = { watchNamespace: namespace, bindingsNamespace: namespace }
  // The watch compares lists with the catalog, which keeps the state of each binding.
  const sink = fanOut(new Catalog(), bindings)
  const { ready } = cluster.watch({ kinds: ['GroupBinding'], scope, sink })
  const options = { ...parts.options, anonymousAuth: false }
  const auth = await openAuth({ ...parts, options, bindings, isPublic: () => false })
  // The error is in the log. Tokens of this issuer are refused until it names itself as it is configured.
  auth.started.catch(() => undefined)
  return { auth, ready }
}

/** Conflicts between options that the option table cannot express. */
export function accessProblems(options: ServerCommandOptions): string[] {
  const { manifests, brokerProxyUrl, oidcIssuerUrl } = options
  const problems: string[] = []
  if (options.oidcAllowSaFallback && manifests !== undefined) {
    problems.push(
      '--oidc-allow-sa-fallback and --manifests exclude each other, because only a cluster can check such a token: keep one of them',
    )
  }
  if (brokerProxyUrl === undefined) return problems
  if (new URL(brokerProxyUrl).pathname !== '/') {
    problems.push(
      '--broker-proxy-url has a path: write scheme, host and port alone, because Depot forwards paths unchanged',
    )
  }
  if (oidcIssuerUrl === undefined) {
    problems.push('--broker-proxy-url needs --oidc-issuer-url: set it too, or leave the former out')
  } else if (!/^\/broker(?:\/|$)/.test(new URL(oidcIssuerUrl).pathname)) {
    problems.push(
      '--oidc-issuer-url must have the path /broker if --broker-proxy-url is set, because Depot forwards only this path',
    )
  }
  return problems
}

function oidcOf(options: CallerOptions, proxies: ProxyRules) {
  const { oidcIssuerUrl: issuerUrl, oidcClientId: clientId } = options
  if (issuerUrl === undefined || clientId === undefined) return undefined
  return {
    issuerUrl,
    proxies,
    clientId,
    reachedAt: options.brokerProxyUrl,
    uiClientId: options.oidcUiClientId,
    groupsClaim: options.oidcGroupsClaim,
    scopes: options.oidcScopes ?? [],
    authzUrl: options.oidcAuthzUrl,
    tokenUrl: options.oidcTokenUrl,
    allowGuests: options.anonymousAuth,
    allowFallback: options.oidcAllowSaFallback,
    allowClientCredentials: options.oidcAllowClientCredentials,
    consumers: consumersOf(options),
  }
}

/** @throws OptionsError for a pattern that is not valid */
function consumersOf({ consumerGroups, consumerPersons: persons }: CallerOptions) {
  try {
    return {
      isGroup: consumerGroups === undefined ? undefined : compileGlob(consumerGroups),
      persons,
    }
  } catch (error) {
    throw new OptionsError([`--consumer-groups: ${messageOf(error)}`])
  }
}

function needsCluster(options: CallerOptions): boolean {
  const mode = authModeOf(options)
  return mode === 'kubeconfig' || mode === 'bearer' || options.oidcAllowSaFallback
}

/** Address of the server's cluster without the server's credentials, because callers bring their own. */
function clusterAddress({
  kubeconfig,
}: Pick<CallerOptions, 'kubeconfig'>): () => Promise<ClusterAddress> {
  const connection = loadConnection({ kubeconfig, env: process.env })
  return async () => {
    const { server, tls, proxyUrl } = await connection.credentials()
    // Plain http means a proxy such as kubectl's, which would authenticate every caller as itself.
    if (!server.startsWith('https:')) {
      throw new RegistryError(
        'NotConfigured',
        'the API server cannot check callers over plain http: write its https:// address into the kubeconfig',
      )
    }
    const { ca, servername, rejectUnauthorized } = tls
    return { server, ca: ca?.toString(), servername, rejectUnauthorized, proxyUrl }
  }
}
