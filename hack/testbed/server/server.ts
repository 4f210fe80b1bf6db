import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { allocatorEnvironment, nodeOptions } from '../../../pkg/base/fast/fast.ts'
import { depotArguments } from '../program/command.ts'
import type { Registry } from '../registry/registry.ts'

/** A server process of its own, as an operator runs it. */
export interface Server {
  readonly url: string
  readonly adminUrl: string
  readonly pid: number
  /** Every line that it logged so far. */
  readonly log: readonly string[]
  /** Asks it to end. Resolves to its exit code, or to null if a signal had to end it. */
  readonly stop: () => Promise<number | null>
}

/**
 * Starts `cmd/server` on free ports and waits until it is ready.
 *
 * @param flags more flags than those that every test needs
 * @throws Error with the log if it does not become ready within a minute
 */
export function startServer(registry: Registry, ...flags: readonly string[]): Promise<Server> {
  return startAs(registry, '--anonymous-auth', '--manifests', registry.manifests, ...flags)
}

/** The same, but where resources come from and how callers are recognized is for the flags to say. */
export async function startAs(registry: Registry, ...flags: readonly string[]): Promise<Server> {
  const { failed, ...server } = await launch(registry, ...flags)
  try {
    await Promise.race([untilReady(server.adminUrl), failed])
  } catch (cause) {
    await server.stop()
    throw new Error(`cmd/server did not become ready:\n${server.log.join('\n')}`, { cause })
  }
  return server
}

/** Waits only until it listens, for one that will not be ready; `failed` rejects when it ends. */
export async function launch(
  registry: Registry,
  ...flags: readonly string[]
): Promise<Server & { readonly failed: Promise<never> }> {
  return launchProgram(
    depotArguments('server'),
    [
      '--archives',
      registry.archives,
      '--stats-path',
      join(registry.dir, 'stats.db'),
      ...(flags.includes('--storage-grants') ? [] : ['--storage-grants', '*=*']),
      '--listen',
      '127.0.0.1:0',
      '--admin-listen',
      '127.0.0.1:0',
      ...(registry.signingKey === undefined ? [] : ['--gpg-private-key-path', registry.signingKey]),
      ...flags,
    ],
    registry.environment,
  )
}

/**
 * Starts a program that logs its addresses, with the options of Node that the image has.
 *
 * @param program its file and its command, such as those of {@link depotArguments}
 * @param environment variables besides those of this process
 */
export async function launchProgram(
  program: readonly string[],
  flags: readonly string[],
  environment: Readonly<Record<string, string>>,
): Promise<Server & { readonly failed: Promise<never> }> {
  const child = spawn(process.execPath, [...nodeOptions, ...program, ...flags], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...allocatorEnvironment, ...environment },
  })
  const exited = once(child, 'exit') as Promise<[number | null]>
  const log: string[] = []
  const listening = Promise.withResolvers<{ url: string; adminUrl: string }>()
  createInterface({ input: child.stderr }).on('line', (line) => log.push(line))
  createInterface({ input: child.stdout }).on('line', (line) => {
    log.push(line)
    if (line.includes('"msg":"listening"')) listening.resolve(JSON.parse(line))
  })
  const failed = exited.then(([code]): never => {
    throw new Error(`${program.join(' ')} ended with ${code}:\n${log.join('\n')}`)
  })
  failed.catch(() => undefined)

  const { url, adminUrl } = await Promise.race([listening.promise, failed])
  return {
    failed,
    url,
    adminUrl,
    pid: child.pid ?? 0,
    log,
    stop: async () => {
      if (child.exitCode === null) child.kill('SIGTERM')
      const overdue = setTimeout(() => child.kill('SIGKILL'), 60_000)
      const [code] = await exited
      clearTimeout(overdue)
      return code
    },
  }
}

async function untilReady(adminUrl: string): Promise<void> {
  const deadline = AbortSignal.timeout(150_000)
  while (!(await fetch(`${adminUrl}/readyz`, { signal: deadline })).ok) {
    await new Promise((done) => setTimeout(done, 50))
  }
}
