import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

const repository = join(import.meta.dirname, '../..')

/** An explorer as a process of its own. */
export interface Explorer {
  readonly url: string
  readonly adminUrl: string
  readonly pid: number
  readonly log: readonly string[]
  /** Milliseconds from its start until it listened. */
  readonly startMs: number
  readonly stop: () => Promise<void>
}

interface Options {
  readonly serverUrl: string
  readonly flags?: readonly string[]
  readonly environment?: Readonly<Record<string, string>>
}

/** Starts `cmd/ui` on free ports, unless flags say otherwise. @throws Error with its log where it ends */
export async function startExplorer(options: Options): Promise<Explorer> {
  const { serverUrl, flags = [], environment = {} } = options
  const began = performance.now()
  const child = spawn(
    process.execPath,
    [
      join(repository, 'cmd/ui/main.ts'),
      '--server-url',
      serverUrl,
      ...(flags.includes('--listen') ? [] : ['--listen', '127.0.0.1:0']),
      '--admin-listen',
      '127.0.0.1:0',
      ...flags,
    ],
    { stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, ...environment } },
  )
  const exited = once(child, 'exit') as Promise<[number | null]>
  const log: string[] = []
  const listening = Promise.withResolvers<{ url: string; adminUrl: string }>()
  createInterface({ input: child.stderr }).on('line', (line) => log.push(line))
  createInterface({ input: child.stdout }).on('line', (line) => {
    log.push(line)
    if (line.includes('"msg":"listening"')) listening.resolve(JSON.parse(line))
  })
  const failed = exited.then(([code]): never => {
    throw new Error(`the explorer ended with ${code}:\n${log.join('\n')}`)
  })
  failed.catch(() => undefined)
  const { url, adminUrl } = await Promise.race([listening.promise, failed])
  return {
    url,
    adminUrl,
    pid: child.pid ?? 0,
    log,
    startMs: performance.now() - began,
    stop: async () => {
      child.kill('SIGTERM')
      await exited
    },
  }
}
