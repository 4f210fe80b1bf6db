import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { constants, readdirSync, readFileSync } from 'node:fs'
import { access } from 'node:fs/promises'
import { basename } from 'node:path'
import { codeOf, hasMoreValues, jsonOf, printable } from '../../base/errors/errors.ts'
import { isTimeout } from '../../base/http/http.ts'
import { endsWithin } from '../../base/pacing/pacing.ts'
import { ScanError } from './scanner.ts'

interface ScannerRun {
  readonly command: string
  readonly args: readonly string[]
  /** Whether it must reach nothing. It gets a network of its own, where the system allows that. */
  readonly isOffline?: boolean
  /** Folder for whatever it writes. No other process has it in its environment. */
  readonly home: string
  readonly deadlineMs: number
  readonly maxOutputBytes: number
  readonly signal: AbortSignal
}

/** Scanners that run now. */
const children = new Set<number>()
const lastWordsBytes = 4096
/** Reading them stops everything else for about two seconds. */
const maxValues = 1_000_000

/** How scanners get a network of their own. Looked up once, because it does not change while the process runs. */
let lookedUp: { readonly isolation: ReturnType<typeof findIsolation> } | undefined
export const isolation = (): ReturnType<typeof findIsolation> => {
  lookedUp ??= { isolation: findIsolation() }
  return lookedUp.isolation
}

/**
 * Runs a scanner without a shell and without the environment of this process: programs such as git are not on its PATH. When
 * it ends, what it started ends too.
 *
 * @returns what it wrote to standard output
 * @throws ScanError, or the reason of the signal
 */
export async function runScanner(run: ScannerRun): Promise<Buffer> {
  const { command, home, signal, deadlineMs, maxOutputBytes } = run
  signal.throwIfAborted()
  // In a network of its own, another program starts it, which only ends with a status.
  await access(command, constants.X_OK).catch((error: unknown) => {
    throw cannotStart(command, error)
  })
  const limit = new AbortController()
  const stop = AbortSignal.any([signal, limit.signal, AbortSignal.timeout(deadlineMs)])
  const child = start(run)
  if (child.pid !== undefined) children.add(child.pid)
  const kill = () => killGroup(child)
  stop.addEventListener('abort', kill, { once: true })
  const chunks: Buffer[] = []
  let outputBytes = 0
  let lastWords = ''
  child.stdout.on('data', (chunk: Buffer) => {
    outputBytes += chunk.length
    if (outputBytes <= maxOutputBytes) chunks.push(chunk)
    else limit.abort()
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    lastWords = (lastWords + text).slice(-lastWordsBytes)
  })
  const closed = new Promise<void>((resolve) => child.once('close', () => resolve()))
  try {
    await new Promise<void>((resolve, reject) => {
      child.once('error', (error) => reject(cannotStart(command, error)))
      child.once('exit', () => resolve())
    })
    // A process that it left behind may hold the pipe open.
    kill()
    endStrays(`${home}\0`)
    if (!(await endsWithin(closed, 30_000))) {
      throw failed(`${basename(command)} left a process that holds its output open`)
    }
  } finally {
    stop.removeEventListener('abort', kill)
    if (child.pid !== undefined) children.delete(child.pid)
    child.stdout.destroy()
    child.stderr.destroy()
  }
  signal.throwIfAborted()
  const why = failureOf(child, { stop, limit: limit.signal, run })
  if (why === undefined) return Buffer.concat(chunks)
  const words = printable(lastWords.trim().slice(-300), 300)
  throw failed(`${basename(command)} ${why}${words === '' ? '' : `: ${words}`}`)
}

function start({ command, args, home, isOffline }: ScannerRun) {
  const isolated = isOffline === true ? isolation() : undefined
  const [program, ...before] = isolated ?? [command]
  return spawn(program, isolated === undefined ? args : [...before, command, ...args], {
    cwd: home,
    env: {
      PATH: `${home}/no-programs`,
      HOME: home,
      TMPDIR: home,
      LC_ALL: 'C.UTF-8',
      ...(isOffline === true && deadProxies),
    },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  })
}

/** @throws ScanError if the output is empty, or larger than can be read @returns undefined if it is not JSON */
export function jsonIn(output: Buffer, name: string): unknown {
  if (output.length === 0) throw failed(`${name} ended with status 0 and wrote nothing`)
  if (hasMoreValues(output, maxValues)) {
    throw failed(`${name} wrote JSON of more than ${maxValues} values`)
  }
  return jsonOf(output.toString())
}

function failureOf(
  { exitCode, signalCode }: ChildProcess,
  { stop, limit, run }: { stop: AbortSignal; limit: AbortSignal; run: ScannerRun },
): string | undefined {
  if (limit.aborted) return `wrote more than ${run.maxOutputBytes} bytes`
  if (signalCode !== null && isTimeout(stop.reason)) {
    return `took longer than ${run.deadlineMs / 1000} s; --scan-deadline allows more`
  }
  if (signalCode !== null) return `was ended by ${signalCode}; SIGKILL may mean too little memory`
  return exitCode === 0 ? undefined : `ended with status ${exitCode}`
}

export const failed = (message: string, cause?: unknown): ScanError =>
  new ScanError('ScanFailed', message, { cause })

function cannotStart(command: string, error: unknown): ScanError {
  const message = `the scanner ${command} cannot be started (${codeOf(error)}): install it, or correct --scanner-command`
  return new ScanError('ScannerAbsent', message, { cause: error })
}

function killGroup({ pid }: ChildProcess): void {
  if (pid === undefined) return
  try {
    // Its processes may outlive it.
    process.kill(-pid, 'SIGKILL')
  } catch {
    // None is left.
  }
}

/** Whether a process that lost its parent was given to this one, and is still alive. */
function isOrphan(pid: string): boolean {
  const [, state, parent] = /\) (\S) (\d+) /.exec(readFileSync(`/proc/${pid}/stat`, 'latin1')) ?? []
  return parent === '1' && state !== 'Z' && !children.has(Number(pid))
}

/**
 * Ends processes that left their group, or whose parent was killed: they have the home of a scan in their environment. The
 * first process of a container is also given the processes that emptied it. Only Linux shows that.
 *
 * @param home the home and a zero, or the beginning of several
 */
export function endStrays(home: string): void {
  const mark = `HOME=${home}`
  const isStray = (pid: string) => {
    try {
      if (readFileSync(`/proc/${pid}/environ`, 'latin1').includes(mark)) return true
      return process.pid === 1 && isOrphan(pid)
    } catch {
      return false
    }
  }
  // One that forks meanwhile is found in the next round.
  for (let round = 0; round < 20; round += 1) {
    const pids = process.platform === 'linux' ? readdirSync('/proc') : []
    const found = pids.filter((pid) => /^\d+$/.test(pid) && isStray(pid))
    if (found.length === 0) return
    for (const pid of found) {
      try {
        process.kill(Number(pid), 'SIGKILL')
      } catch {
        // It has just ended.
      }
    }
  }
}

/** Processes in a namespace of their own end with the first of them, wherever they went. */
const unshare = ['--map-root-user', '--net', '--pid', '--fork', '--kill-child', '--'] as const

/**
 * How a program is started in namespaces of its own, with an empty network, where this process may make them.
 *
 * @returns what comes before the command and its arguments; undefined if the system refuses
 */
export function findIsolation(): readonly [string, ...string[]] | undefined {
  const path = '/usr/bin/unshare'
  // The image has no other program that does nothing.
  const tried = spawnSync(path, [...unshare, path, '--version'], {
    stdio: 'ignore',
    timeout: 10_000,
  })
  return tried.status === 0 ? [path, ...unshare] : undefined
}

/** Proxies that nobody listens on, for programs that share the network of this process. */
const deadProxies = {
  HTTP_PROXY: 'http://127.0.0.1:9',
  HTTPS_PROXY: 'http://127.0.0.1:9',
} as const
