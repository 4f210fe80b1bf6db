import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

const binary = ['valkey-server', 'redis-server'].find(
  (name) => spawnSync(name, ['--version']).status === 0,
)
const onCi = !['', '0', 'false'].includes(process.env['CI'] ?? '')
if (binary === undefined && onCi) throw new Error('these tests need valkey-server or redis-server')

/** Whether Valkey is missing on this machine, a laptop. */
export const noValkey = binary === undefined

/** A real Valkey, or Redis, with a folder of its own. */
export class TestValkey implements AsyncDisposable {
  readonly host = '127.0.0.1'
  readonly port: number
  readonly dir = mkdtempSync(join(tmpdir(), 'depot-valkey-'))
  readonly #flags: readonly string[]
  #process: ChildProcess | undefined

  private constructor(port: number, flags: readonly string[]) {
    this.port = port
    this.#flags = flags
  }

  static async start(...flags: readonly string[]): Promise<TestValkey> {
    const server = new TestValkey(await freePort(), flags)
    await server.start()
    return server
  }

  /** Resolves when it accepts connections with its saved data. */
  async start(): Promise<void> {
    const port = this.#flags.includes('--tls-port') ? [] : ['--port', String(this.port)]
    const flags = this.#flags.map((flag) => flag.replace('{port}', String(this.port)))
    this.#process = spawn(
      binary ?? '',
      [...port, '--bind', this.host, '--dir', this.dir, '--save', '', ...flags],
      { stdio: 'ignore' },
    )
    while (!(await accepts(this.port))) await sleep(20)
  }

  /** Like a power failure, except for the disk's own cache. */
  async kill(): Promise<void> {
    const child = this.#process
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return
    child.kill('SIGKILL')
    await once(child, 'exit')
  }

  signal(signal: 'SIGSTOP' | 'SIGCONT'): void {
    this.#process?.kill(signal)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill()
    rmSync(this.dir, { recursive: true, force: true })
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  await once(server, 'close')
  return typeof address === 'object' && address !== null ? address.port : 0
}

async function accepts(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1')
  try {
    await once(socket, 'connect')
    return true
  } catch {
    return false
  } finally {
    socket.destroy()
  }
}
