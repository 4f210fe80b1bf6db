import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { lessGarbage } from '../less-garbage.ts'

/** A server process that is started, asked to stop or killed, by its process id. */
export interface Supervised {
  readonly pid: number
  /** True from the end of the process on. */
  exited(): boolean
  /** Asks it to end, and kills it if it does not. */
  stop(): Promise<void>
  kill(): Promise<void>
}

const stopTimeoutMs = 10_000

/** Above this, etcd and API servers collect garbage as often as they have to. */
const mostMemory = { GOMEMLIMIT: '512MiB' }

/**
 * Starts a process whose output goes to a file. It is ended when this process ends, and by its guard, a shell, when this
 * one is killed without a chance to say so; then the guard also removes the directory.
 */
export function supervise(
  binary: string,
  args: readonly string[],
  { logFile, directory }: { readonly logFile: string; readonly directory: string },
): Supervised {
  const log = openSync(logFile, 'a')
  const child = spawn(binary, args, {
    stdio: ['ignore', log, log],
    env: { ...process.env, ...lessGarbage, ...mostMemory },
  })
  closeSync(log)
  const { pid } = child
  if (pid === undefined) throw new Error(`could not start ${binary}`)
  const guard = guardOf(pid, directory)
  const endOfUs = () => child.kill('SIGKILL')
  process.once('exit', endOfUs)
  const exited = () => child.exitCode !== null || child.signalCode !== null
  child.once('exit', () => {
    process.off('exit', endOfUs)
    guard.kill('SIGKILL')
  })
  const end = async (signal: 'SIGTERM' | 'SIGKILL') => {
    if (exited()) return
    const gone = once(child, 'exit')
    child.kill(signal)
    const late = setTimeout(() => child.kill('SIGKILL'), stopTimeoutMs)
    await gone
    clearTimeout(late)
  }
  return { pid, exited, stop: () => end('SIGTERM'), kill: () => end('SIGKILL') }
}

/** A shell whose input closes when this process ends for any reason. */
function guardOf(pid: number, directory: string): ChildProcess {
  const script = `cat >/dev/null; kill -9 ${pid} 2>/dev/null; sleep 1; rm -rf -- "$0"`
  const guard = spawn('sh', ['-c', script, directory], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  })
  guard.unref()
  return guard
}

/** Waits until a probe succeeds. The error says why it does not, or that the process has ended. */
export async function untilReady(
  name: string,
  process: Supervised,
  probe: () => Promise<boolean>,
  logFile: string,
  timeoutMs: number,
): Promise<void> {
  const deadline = performance.now() + timeoutMs
  while (!(await probe().catch(() => false))) {
    const late = performance.now() > deadline
    if (process.exited() || late) {
      const tail = (await readFile(logFile, 'utf8')).split('\n').slice(-20).join('\n')
      throw new Error(
        `${name} ${late ? 'is not ready' : 'has ended'}; the end of ${logFile}:\n${tail}`,
      )
    }
    await sleep(50)
  }
}
