import { join } from 'node:path'
import { expect, onTestFinished, vi } from 'vitest'
import { type ExplorerProcess, startExplorer } from '../../hack/testbed/explorer/explorer.ts'
import { type Ingress, startIngress } from '../../hack/testbed/explorer/ingress.ts'
import { writeBarePages } from '../../hack/testbed/explorer/pages.ts'
import { clientSecret, SignInProvider } from '../../hack/testbed/oidc/sign-in.ts'
import { freePort } from '../../hack/testbed/ports.ts'
import { moduleObjects, Registry } from '../../hack/testbed/registry/registry.ts'
import { type Server, startAs } from '../../hack/testbed/server/server.ts'

export interface Deployment {
  readonly registry: Registry
  readonly server: Server
  readonly provider: SignInProvider
  readonly explorer: ExplorerProcess
  /** Set if `isSplit` asked for one. */
  readonly ingress: Ingress | undefined
  /** Starts another explorer with the same configuration. */
  readonly another: (options?: DeploymentOptions) => Promise<ExplorerProcess>
}

export interface DeploymentOptions {
  readonly flags?: readonly string[]
  readonly serverFlags?: readonly string[]
  readonly environment?: Readonly<Record<string, string>>
  readonly idTokenSeconds?: number
  /** Whether the issuer has an endpoint for signing out. Default: true. */
  readonly endsSessions?: boolean
  /** The explorer's client at the issuer. Default: `depot-ui`, which has a secret. */
  readonly clientId?: string
  /** The client whose tokens the server accepts. Default: the explorer's. */
  readonly accepted?: string
  /** The explorer's port, if it must be known before the start. */
  readonly port?: number
  /** Puts an ingress at the base URL, which sends the server's paths past the explorer. */
  readonly isSplit?: boolean
  /** Serves the built pages. Otherwise, it serves bare ones, which need no build. */
  readonly isBuilt?: boolean
  /** Makes `{base URL}/broker` the issuer, behind the server's broker proxy. */
  readonly isBroker?: boolean
}

/** Members of the group `platform` may see only the module `network`. */
export const binding = {
  apiVersion: 'depot.internal/v1alpha1',
  kind: 'GroupBinding',
  metadata: { name: 'platform', namespace: 'depot-system' },
  spec: {
    expression: '"platform" in groups || "grp-platform-team-1-developers-prod-eu" in groups',
    moduleResources: ['network'],
    providerResources: [],
  },
}

/** A server with callers of an OIDC issuer, the issuer, and an explorer whose users sign in there; until the test ends. */
export async function deploy(options: DeploymentOptions = {}): Promise<Deployment> {
  const deployment = await startDeployment(options)
  onTestFinished(() => deployment.stop())
  return deployment
}

/** The same, until it is stopped, for tests that share it. */
export async function startDeployment(
  options: DeploymentOptions = {},
): Promise<Deployment & { readonly stop: () => Promise<void> }> {
  const { flags = [], idTokenSeconds = 3600, isBroker = false, clientId = 'depot-ui' } = options
  // If a later program cannot start, the earlier ones are stopped.
  await using starting = new AsyncDisposableStack()
  const port = options.port ?? (await freePort())
  const baseUrl = `http://127.0.0.1:${port}`
  const registry = new Registry()
  starting.defer(() => registry.remove())
  registry.write('network.yaml', [
    ...moduleObjects({ name: 'network', versions: [{ version: '1.0.0', fileName: 'a.zip' }] }),
    ...moduleObjects({ name: 'secret', versions: [{ version: '1.0.0', fileName: 'b.zip' }] }),
    binding,
  ])
  const provider = await SignInProvider.start({
    callbacks: [`${baseUrl}/auth/callback`, `${baseUrl}/sign-in/done`],
    origins: [baseUrl],
    idTokenSeconds,
    endsSessions: options.endsSessions ?? true,
    ...(isBroker && { issuer: `${baseUrl}/broker` }),
  })
  starting.defer(() => provider.stop())
  const issuer = isBroker ? `${baseUrl}/broker` : provider.url
  const server = await startAs(
    registry,
    '--manifests',
    registry.manifests,
    '--oidc-issuer-url',
    issuer,
    '--oidc-client-id',
    'depot',
    '--oidc-ui-client-id',
    options.accepted ?? clientId,
    ...(isBroker ? ['--broker-proxy-url', provider.url] : []),
    ...(options.serverFlags ?? []),
  )
  starting.defer(() => void server.stop())
  // Until the issuer's keys are fetched, its tokens get 503.
  await vi.waitFor(async () => {
    const readiness = await (await fetch(`${server.adminUrl}/readyz`)).text()
    expect(readiness).not.toContain('impaired')
  })
  const start = async (more: DeploymentOptions, at: number, until: AsyncDisposableStack) => {
    const explorer = await startExplorer({
      serverUrl: server.url,
      port: at,
      environment: {
        ...(clientId === 'depot-ui' && { DEPOT_OIDC_CLIENT_SECRET: clientSecret }),
        ...more.environment,
      },
      flags: [
        ...(options.isBuilt === true
          ? []
          : ['--dist-path', writeBarePages(join(registry.dir, 'pages'))]),
        '--base-url',
        baseUrl,
        '--oidc-issuer-url',
        issuer,
        '--oidc-client-id',
        clientId,
        ...flags,
        ...(more.flags ?? []),
      ],
    })
    until.defer(() => void explorer.stop())
    return { ...explorer, baseUrl }
  }
  const at = options.isSplit ? 0 : port
  const explorer = await start({ ...options, flags: [] }, at, starting)
  const ingress = options.isSplit
    ? await startIngress(port, { server: server.url, explorer: explorer.url })
    : undefined
  starting.defer(() => ingress?.stop())
  const started = starting.move()
  return {
    registry,
    server,
    provider,
    explorer,
    ingress,
    another: (more = {}) => start(more, more.port ?? 0, started),
    stop: () => started.disposeAsync(),
  }
}
