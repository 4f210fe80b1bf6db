import { type ChildProcess, execFile, fork, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { type IncomingMessage, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { allocatorEnvironment, nodeOptions } from '../../pkg/base/fast/fast.ts'
import { bundle } from '../image/bundle.ts'
import { createAuthority } from '../testbed/control-plane/certificates.ts'
import { freePort } from '../testbed/ports.ts'
import type { Answer } from './bare.ts'
import { mainThreadNanoseconds } from './cpu.ts'
import type { Load, LoadResult } from './load.ts'

const startDeadlineMs = 120_000
/** A load takes seconds. Probes in quick succession took a tenth of its CPU time. */
const loadProbeMs = 100

/** A server that is measured. */
export interface Target {
  readonly port: number
  readonly pid: number
  /** Address of its metrics; the bare server has none. */
  readonly adminUrl?: string
  stop(): void
}

const forked = (file: string, args: readonly string[] = [], isDepot = false): ChildProcess =>
  // Their logs go nowhere: what counts is what it costs to write them.
  fork(resolve(import.meta.dirname, file), args, {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    ...(isDepot && { execArgv: [...nodeOptions], env: depotEnvironment() }),
  })

/** Environment with which the image starts Node. */
const depotEnvironment = () => ({ ...process.env, ...allocatorEnvironment })

const entryFiles = {
  depot: '../../cmd/depot/main.ts',
  auth: 'auth-server.ts',
} as const
let bundles: Promise<string> | undefined

/** A program as the image has it: to read TypeScript takes memory that users do not see. */
async function bundled(name: keyof typeof entryFiles): Promise<string> {
  bundles ??= bundleAll()
  return join(await bundles, `${name}.mjs`)
}

async function bundleAll(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'depot-bench-'))
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
  const files = Object.entries(entryFiles)
  await bundle(
    Object.fromEntries(files.map(([name, file]) => [name, join(import.meta.dirname, file)])),
    folder,
  )
  return folder
}

/** Sends a message, if any, and waits for the next one that comes back. */
async function ask<T>(child: ChildProcess, message?: object): Promise<T> {
  const controller = new AbortController()
  const { signal } = controller
  const died = once(child, 'exit', { signal }).then(([code]) => {
    throw new Error(`${child.spawnargs.at(1)} ended with code ${String(code)}`)
  })
  died.catch(() => {})
  try {
    const answer = once(child, 'message', { signal })
    if (message !== undefined) child.send(message)
    const [first] = (await Promise.race([answer, died])) as [T]
    return first
  } finally {
    controller.abort()
  }
}

export async function startLoad(): Promise<{ run(load: Load): Promise<LoadResult>; stop(): void }> {
  const child = forked('load.ts')
  return {
    async run(load) {
      const result = await ask<LoadResult>(child, load)
      if (result.problem !== undefined) throw new Error(result.problem)
      return result
    },
    stop: () => child.kill(),
  }
}

/** The bare server; it gives the answers that it was taught. */
export async function startBare(): Promise<Target & { teach(answer: Answer): Promise<unknown> }> {
  const child = forked('bare.ts')
  const port = await ask<number>(child)
  return {
    port,
    pid: child.pid ?? 0,
    teach: (answer) => ask(child, answer),
    stop: () => child.kill(),
  }
}

/** Depot in OIDC mode, with a small registry and as many GroupBindings as asked for. */
export async function startAuthServer(options: {
  readonly issuer: string
  readonly bindings: number
}): Promise<Target> {
  const { issuer, bindings } = options
  const args = [`--issuer=${issuer}`, `--bindings=${bindings}`]
  const child = forked(await bundled('auth'), args, true)
  const port = await ask<number>(child)
  return { port, pid: child.pid ?? 0, stop: () => child.kill() }
}

/** Depot over a folder, as the image starts it. */
export function startDepot(folders: {
  readonly manifests: string
  readonly archives: string
  readonly signingKeyPath: string
}): Promise<Target> {
  return startServer([
    `--manifests=${folders.manifests}`,
    `--archives=${folders.archives}`,
    `--gpg-private-key-path=${folders.signingKeyPath}`,
    // Not where servers that were stopped before have left events to count.
    `--stats-path=${join(folders.manifests, '../stats.db')}`,
  ])
}

export interface Loaded {
  /** CPU time of the server's main thread from listening to being ready. */
  readonly loadSeconds: number
  /** CPU time of the main thread of a client that streams the same text, finds its lines and reads them as JSON. */
  readonly leastSeconds: number
}

/**
 * Depot in a pod of a cluster with so many Versions. The API server streams lists from files. The service account is where
 * pods have it, in a mount namespace of the server's own, which needs root.
 */
export async function startPod(
  versions: number,
  signingKeyPath: string,
): Promise<Target & { readonly loaded: Loaded }> {
  const directory = mkdtempSync(join(tmpdir(), 'depot-pod-'))
  const authority = createAuthority(directory)
  authority.server('server')
  writeFileSync(join(directory, 'ca.crt'), authority.cert)
  writeFileSync(join(directory, 'token'), 'none')
  const source = forked('cluster-source.ts', [directory, String(versions)])
  const stop = (): void => {
    source.kill()
    rmSync(directory, { recursive: true, force: true })
  }
  try {
    const port = await ask<number>(source)
    const client = join(import.meta.dirname, 'cluster-client.ts')
    const args = [client, 'bare', `https://127.0.0.1:${port}`, directory]
    const { stdout } = await promisify(execFile)(process.execPath, args)
    const { threadSeconds: leastSeconds } = JSON.parse(stdout) as { threadSeconds: number }
    const mount =
      'mount -t tmpfs none /run && mkdir -p "$0" && mount --bind "$1" "$0" && shift && exec "$@"'
    const account = '/run/secrets/kubernetes.io/serviceaccount'
    const server = await startServer(
      [`--gpg-private-key-path=${signingKeyPath}`, `--stats-path=${join(directory, 'stats.db')}`],
      {
        command: ['unshare', '--mount', 'sh', '-c', mount, account, directory],
        env: { KUBERNETES_SERVICE_HOST: '127.0.0.1', KUBERNETES_SERVICE_PORT: String(port) },
      },
    )
    return {
      ...server,
      loaded: { loadSeconds: server.loadNanoseconds / 1e9, leastSeconds },
      stop() {
        server.stop()
        stop()
      },
    }
  } catch (error) {
    stop()
    throw error
  }
}

/** @param wrapped what runs the program, and what it needs in its environment */
async function startServer(
  options: readonly string[],
  wrapped: {
    readonly command: readonly string[]
    readonly env: Readonly<Record<string, string>>
  } = { command: [], env: {} },
): Promise<Target & { readonly loadNanoseconds: number }> {
  const [port, adminPort] = await Promise.all([freePort(), freePort()])
  const server = [
    process.execPath,
    ...nodeOptions,
    await bundled('depot'),
    'server',
    '--anonymous-auth',
  ]
  const listen = [`--listen=127.0.0.1:${port}`, `--admin-listen=127.0.0.1:${adminPort}`]
  const [program = '', ...args] = [...wrapped.command, ...server, ...options, ...listen]
  const child = spawn(program, args, {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: { ...depotEnvironment(), ...wrapped.env },
  })
  const adminUrl = `http://127.0.0.1:${adminPort}`
  const pid = child.pid ?? 0
  const deadline = performance.now() + startDeadlineMs
  const until = async (probe: string, everyMs: number): Promise<number> => {
    while (!(await answers(adminUrl + probe))) {
      if (child.exitCode !== null) throw new Error('Depot did not start')
      if (performance.now() > deadline) {
        child.kill()
        throw new Error(`Depot does not answer ${probe}`)
      }
      await sleep(everyMs)
    }
    return mainThreadNanoseconds(pid)
  }
  const listening = await until('/livez', 10)
  const loadNanoseconds = (await until('/readyz', loadProbeMs)) - listening
  return { port, pid, adminUrl, loadNanoseconds, stop: () => child.kill() }
}

const answers = (url: string): Promise<boolean> =>
  fetch(url).then(
    (response) => response.ok,
    () => false,
  )

/** Memory of a process, in MB of 10^6 bytes, as its own metrics tell. */
export async function memoryOf(adminUrl: string): Promise<{ rssMb: number; heapUsedMb: number }> {
  const text = await (await fetch(`${adminUrl}/metrics`)).text()
  const megabytes = (name: string) =>
    Number(new RegExp(`^${name} (\\S+)`, 'm').exec(text)?.[1]) / 1e6
  return {
    rssMb: megabytes('process_resident_memory_bytes'),
    heapUsedMb: megabytes('nodejs_heap_size_used_bytes'),
  }
}

/** Headers that Node adds to every answer. */
const hopHeaders: ReadonlySet<string> = new Set(['date', 'connection', 'keep-alive'])

/** The answer of a server, for the bare one to repeat. */
export async function record(
  port: number,
  path: string,
  authorization?: string,
): Promise<Answer & { body: string }> {
  const headersSent = { Host: 'depot.test', ...(authorization && { Authorization: authorization }) }
  const asked = request({ port, path, host: '127.0.0.1', headers: headersSent }).end()
  const [response] = (await once(asked, 'response')) as [IncomingMessage]
  const chunks: Buffer[] = []
  for await (const chunk of response) chunks.push(chunk as Buffer)
  if (response.statusCode !== 200) throw new Error(`GET ${path}: ${response.statusCode}`)
  const { rawHeaders } = response
  const headers: Record<string, string> = {}
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const [name = '', value = ''] = rawHeaders.slice(index, index + 2)
    if (!hopHeaders.has(name.toLowerCase())) headers[name] = value
  }
  return { path, headers, body: Buffer.concat(chunks).toString('base64') }
}
