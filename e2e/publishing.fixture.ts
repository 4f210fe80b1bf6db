import { createHash } from 'node:crypto'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { vi } from 'vitest'
import { depot, put as write } from '../cmd/import/import.fixture.ts'
import { Registry } from '../hack/testbed/registry/registry.ts'
import { type Server, startAs } from '../hack/testbed/server/server.ts'
import { TestIssuer } from '../pkg/registry/auth/issuer.fixture.ts'
import { ControlledCluster } from './sync/controlled-cluster.fixture.ts'

interface Answer {
  readonly sha256: string
  readonly errors: readonly string[]
  readonly missing: readonly string[]
}

interface Sent {
  readonly method?: 'PUT' | 'POST'
  readonly headers?: Readonly<Record<string, string>>
  /** A token. Default: a publisher's. */
  readonly as?: string
  /** A server. Default: the first one. */
  readonly to?: Server
}

export const digestOf = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex')

/** A server that forwards to a controller with the rights of the chart, which asks an issuer or the cluster. */
export class PublishingRegistry {
  readonly registry = new Registry()
  cluster!: ControlledCluster
  issuer!: TestIssuer
  controller!: Server
  server!: Server
  #flags: readonly string[] = []
  #shared: readonly string[] = []

  /** @param prepare runs before the controller starts, and returns further flags for it */
  async start(
    prepare: (cluster: ControlledCluster) => Promise<readonly string[]> = async () => [],
  ): Promise<void> {
    this.cluster = await ControlledCluster.start('team')
    this.cluster.archives = this.registry.archives
    this.issuer = await TestIssuer.start()
    const callers = ['--oidc-issuer-url', this.issuer.url, '--oidc-client-id', 'depot']
    this.#shared = [...callers, '--oidc-allow-sa-fallback']
    this.#flags = [...this.#shared, ...(await prepare(this.cluster))]
    await this.cluster.apply('GroupBinding', 'depot-system', 'network', {
      spec: {
        expression: '"network" in groups',
        moduleResources: ['*'],
        providerResources: ['*'],
        publishNamespaces: ['team'],
        publishModules: ['vpc*'],
        publishProviders: ['*'],
      },
    })
    ;({ controller: this.controller, server: this.server } = await this.startReplica())
    await this.#untilLoaded()
  }

  /** Starts another controller, and a server that forwards to it. */
  async startReplica(): Promise<{ readonly controller: Server; readonly server: Server }> {
    const listen = ['--listen', '127.0.0.1:0']
    const controller = await this.cluster.startController(...listen, ...this.#flags)
    const kubeconfig = ['--kubeconfig', this.cluster.plane.kubeconfigFile]
    const to = ['--sync-url', controller.url]
    const server = await startAs(this.registry, ...kubeconfig, ...this.#shared, ...to)
    return { controller, server }
  }

  /** Replaces the running controller by another one. */
  async restartController(): Promise<void> {
    const { host } = new URL(this.controller.url)
    await this.controller.stop()
    this.controller = await this.cluster.startController('--listen', host, ...this.#flags)
    await this.#untilLoaded()
  }

  async #untilLoaded(): Promise<void> {
    const isLoading = async () =>
      (await this.put('modules/none/none/aws/1.0.0', Buffer.alloc(0))).status >= 500
    await vi.waitUntil(async () => !(await isLoading()), { timeout: 30_000 })
  }

  async stop(): Promise<void> {
    await this.server?.stop()
    await this.controller?.stop()
    await this.cluster?.stop()
    this.issuer?.stop()
    this.registry.remove()
  }

  token(groups: readonly string[] = ['network'], sub = 'publisher'): Promise<string> {
    return this.issuer.sign({ groups, sub })
  }

  /** Sends bytes to a path below that of publishing. */
  async put(path: string, body: Buffer, { method = 'PUT', headers = {}, as, to }: Sent = {}) {
    const authorization = `Bearer ${as ?? (await this.token())}`
    const sent = { 'x-depot-sha256': digestOf(body), 'content-type': 'application/gzip' }
    const answer = await fetch(`${(to ?? this.server).url}/depot/publish/v1/${path}`, {
      method,
      body,
      headers: { ...sent, authorization, ...headers },
    })
    return { status: answer.status, body: (await answer.json()) as Answer }
  }

  /** Runs `depot publish` in a folder, to the host `depot.test`, which the configuration of the CLIs maps to the server. */
  publish(cwd: string, ...args: readonly string[]) {
    return depot(cwd, ['publish', ...args], this.cliEnvironment(cwd))
  }

  /** Environment in which the configuration of the CLIs maps `depot.test`. */
  cliEnvironment(cwd: string): Readonly<Record<string, string>> {
    const services = ['modules', 'providers'].map(
      (kind) => `    "${kind}.v1" = "${this.server.url}/depot/${kind}/v1/"\n`,
    )
    const config = join(cwd, 'config.tfrc')
    const text = `host "depot.test" {\n  services = {\n${services.join('')}  }\n}\n`
    write(config, text)
    mkdirSync(join(cwd, 'tmp'), { recursive: true })
    return { TF_CLI_CONFIG_FILE: config }
  }

  /** Bytes of complete files from callers. */
  async receivedBytes(kind: 'Module' | 'Provider'): Promise<number> {
    const text = await (await fetch(`${this.controller.adminUrl}/metrics`)).text()
    const found = text
      .split('\n')
      .find((line) => line.startsWith(`depot_publish_received_bytes_total{kind="${kind}"} `))
    return Number(found?.split(' ')[1])
  }

  /** Reads from the server as a publisher. */
  async get(path: string) {
    const authorization = `Bearer ${await this.token()}`
    return fetch(`${this.server.url}${path}`, { headers: { authorization } })
  }
}
