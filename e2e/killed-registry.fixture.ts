import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { vi } from 'vitest'
import { depotCommand } from '../cmd/import/import.fixture.ts'
import { bareEnvironment } from '../hack/testbed/environment.ts'
import { freePorts } from '../hack/testbed/ports.ts'
import { depotArguments } from '../hack/testbed/program/command.ts'
import { Registry } from '../hack/testbed/registry/registry.ts'
import { launchProgram, type Server } from '../hack/testbed/server/server.ts'
import { TestIssuer } from '../pkg/registry/auth/issuer.fixture.ts'
import { ControlledCluster } from './sync/controlled-cluster.fixture.ts'
import { Random } from './sync/edits/random.fixture.ts'

const callers = ['--oidc-client-id', 'depot', '--oidc-issuer-url']

/** `DEPOT_E2E_SEED` decides which process to kill, and when. */
export const seed = Number(process.env['DEPOT_E2E_SEED'] || Date.now() % 1_000_000)

export const digestOf = (bytes: Uint8Array): string =>
  createHash('sha256').update(bytes).digest('hex')

/** Reproducible bytes for each name and seed. */
export function bytesOf(name: string, size: number): Buffer {
  const own = new Random(seed + createHash('sha256').update(name).digest().readUInt32LE())
  const bytes = Buffer.alloc(size)
  for (let at = 0; at + 4 <= size; at += 4) bytes.writeUInt32LE(own.below(2 ** 32), at)
  return bytes
}

/** A Version as it is stored. */
export interface Published {
  readonly metadata: { readonly name: string }
  readonly spec: {
    readonly version: string
    readonly upload: {
      readonly fileName: string
      readonly sha256: string
      readonly docs?: { readonly sha256: string }
    }
  }
}

export const victims = ['client', 'server', 'controller'] as const

/** A server and a controller that can be killed while somebody publishes. */
export class KilledRegistry {
  readonly registry = new Registry()
  readonly cwd = this.registry.dir
  readonly random = new Random(seed)
  cluster!: ControlledCluster
  #issuer!: TestIssuer
  #controllerPort = 0
  #serverPort = 0
  #controller: Server | undefined
  #server: Server | undefined

  async start(): Promise<void> {
    this.cluster = await ControlledCluster.start('team')
    this.cluster.archives = this.registry.archives
    this.#issuer = await TestIssuer.start()
    const [controllerPort = 0, serverPort = 0] = await freePorts(2)
    this.#controllerPort = controllerPort
    this.#serverPort = serverPort
    await this.cluster.apply('GroupBinding', 'depot-system', 'all', {
      spec: {
        expression: 'true',
        moduleResources: ['*'],
        providerResources: ['*'],
        publishNamespaces: ['team'],
        publishModules: ['*'],
        publishProviders: ['*'],
      },
    })
    const storageConfig = { fileSystem: { directoryPath: 'team' } }
    await this.cluster.apply('Module', 'team', 'vpc', {
      spec: { moduleConfig: { name: 'vpc', provider: 'aws', storageConfig } },
    })
    await this.cluster.apply('Provider', 'team', 'cmdb', {
      spec: { providerConfig: { name: 'cmdb', storageConfig } },
    })
    mkdirSync(join(this.cwd, 'tmp'))
    writeFileSync(join(this.cwd, 'token'), await this.#issuer.sign())
    const services = ['modules', 'providers'].map(
      (kind) => `    "${kind}.v1" = "${this.url}/depot/${kind}/v1/"\n`,
    )
    const config = `host "depot.test" {\n  services = {\n${services.join('')}  }\n}\n`
    writeFileSync(join(this.cwd, 'cli.tfrc'), config)
    await Promise.all([this.#startController(), this.#startServer()])
  }

  async stop(): Promise<void> {
    await this.#server?.stop()
    await this.#controller?.stop()
    await this.cluster?.stop()
    this.#issuer?.stop()
    this.registry.remove()
  }

  /** The address of the server. */
  get url(): string {
    return `http://127.0.0.1:${this.#serverPort}`
  }

  async #startController(): Promise<void> {
    const listen = `127.0.0.1:${this.#controllerPort}`
    this.#controller = await this.cluster.startController(
      '--listen',
      listen,
      ...callers,
      this.#issuer.url,
    )
  }

  async #startServer(): Promise<void> {
    this.#server = await launchProgram(
      depotArguments('server'),
      [
        '--archives',
        this.registry.archives,
        '--storage-grants',
        '*=*',
        '--listen',
        `127.0.0.1:${this.#serverPort}`,
        '--admin-listen',
        '127.0.0.1:0',
        '--kubeconfig',
        this.cluster.plane.kubeconfigFile,
        ...callers,
        this.#issuer.url,
        '--sync-url',
        `http://127.0.0.1:${this.#controllerPort}`,
      ],
      {},
    )
  }

  async killAndRestart(victim: 'server' | 'controller'): Promise<void> {
    const killed = victim === 'server' ? this.#server : this.#controller
    process.kill(killed?.pid ?? 0, 'SIGKILL')
    await killed?.stop()
    if (victim === 'server') return this.#startServer()
    await this.cluster.forgetLease()
    return this.#startController()
  }

  /** Runs `depot publish`. */
  publish(...words: readonly string[]) {
    const [node, program] = depotCommand
    const child = spawn(node, [program, 'publish', ...words, '--token-file', 'token'], {
      cwd: this.cwd,
      env: {
        ...bareEnvironment,
        TMPDIR: join(this.cwd, 'tmp'),
        TF_CLI_CONFIG_FILE: join(this.cwd, 'cli.tfrc'),
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const ended = (async () => {
      const exited = once(child, 'exit') as Promise<[number | null]>
      const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)])
      const [status] = await exited
      return { status, stdout, stderr }
    })()
    // Returns false, and throws nothing, if the command has just ended.
    return { kill: () => child.kill('SIGKILL'), ended }
  }

  /** Runs the command until both processes answer again, as its exit status 3 asks for. */
  finish(...words: readonly string[]) {
    return vi.waitFor(
      async () => {
        const run = await this.publish(...words).ended
        if (run.status === 3) throw new Error(run.stderr)
        return run
      },
      { timeout: 120_000, interval: 250 },
    )
  }

  /** Requests a path of the server as a caller who may read everything. */
  async get(path: string): Promise<Response> {
    const authorization = `Bearer ${await this.#issuer.sign()}`
    return fetch(new URL(path, this.url), { headers: { authorization } })
  }

  async versions(): Promise<readonly Published[]> {
    return (await this.cluster.list('Version', 'team')) as unknown as readonly Published[]
  }

  /** The Versions of a number. Their archives and documentation must be complete in storage. */
  async versionsOf(number: string): Promise<readonly Published[]> {
    const found = (await this.versions()).filter(({ spec }) => spec.version === number)
    const stored = this.cluster.stored('team')
    const digestAt = (path: string) =>
      digestOf(readFileSync(join(this.registry.archives, 'team', path)))
    for (const { spec } of found) {
      const { fileName, sha256, docs } = spec.upload
      assert.equal(digestAt(stored.find((path) => path.endsWith(fileName)) ?? ''), sha256)
      const written = stored.filter((path) => path.endsWith('.docs.json.gz')).map(digestAt)
      assert.ok(docs === undefined || written.includes(docs.sha256), `${fileName} has no docs`)
    }
    return found
  }

  /** Files of uploads that the controller still has. */
  spooled() {
    return readdirSync(join(this.cluster.dir, 'spool'), {
      recursive: true,
      withFileTypes: true,
    }).filter((entry) => entry.isFile())
  }
}
