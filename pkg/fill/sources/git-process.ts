import { type ChildProcess, spawn } from 'node:child_process'
import { PassThrough, type Readable } from 'node:stream'
import { FillError } from './errors.ts'

/** A running git process. */
export interface RunningGit {
  readonly stdout: Readable
  /** Resolves after exit status 0. @throws FillError, or the reason of the signal */
  readonly ended: Promise<void>
}

export interface GitOptions {
  readonly command: string
  /** Passed in the environment, which the list of processes does not show. */
  readonly config: Readonly<Record<string, string>>
  readonly signal: AbortSignal
}

/**
 * Runs git without a shell, without the configuration of this machine, and with https as its only protocol.
 *
 * @param args data has to come after `--`
 */
export function runGit(args: readonly string[], options: GitOptions): RunningGit {
  const { command, config, signal } = options
  signal.throwIfAborted()
  const child = spawn(command, args, {
    env: environment(config),
    stdio: ['ignore', 'pipe', 'pipe'],
    // In a process group of its own, so that its children can be killed with it.
    detached: true,
  })
  const stop = () => killGroup(child)
  signal.addEventListener('abort', stop, { once: true })
  let output = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    output = (output + text).slice(-4096)
  })
  const ended = new Promise<void>((resolve, reject) => {
    child.once('error', (error) => reject(cannotRun(error)))
    child.once('close', (code) => {
      if (signal.aborted) reject(signal.reason)
      else if (code === 0) resolve()
      else reject(failure(output, code))
    })
  }).finally(() => {
    signal.removeEventListener('abort', stop)
    stop()
  })
  ended.catch(() => undefined)
  // Node discards the rest of a pipe when its process has ended and nobody is reading.
  return { stdout: child.stdout.pipe(new PassThrough()), ended }
}

/** Holds only what git needs: other variables of this process could change what git does. */
function environment(config: GitOptions['config']): Record<string, string> {
  const entries = Object.entries({ ...hardened, ...config })
  return {
    PATH: process.env['PATH'] ?? '/usr/bin:/bin',
    // A folder that does not exist: a .netrc of this machine must not add credentials to those of the Secret.
    HOME: '/nonexistent',
    LC_ALL: 'C',
    GIT_TERMINAL_PROMPT: '0',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_SYSTEM: '/dev/null',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_ATTR_NOSYSTEM: '1',
    GIT_CONFIG_COUNT: String(entries.length),
    ...Object.fromEntries(
      entries.flatMap(([key, value], index) => [
        [`GIT_CONFIG_KEY_${index}`, key],
        [`GIT_CONFIG_VALUE_${index}`, value],
      ]),
    ),
  }
}

const hardened = {
  'protocol.allow': 'never',
  'protocol.https.allow': 'always',
  'http.followRedirects': 'false',
  'http.lowSpeedLimit': '8000',
  'http.lowSpeedTime': '60',
  'core.hooksPath': '/dev/null',
  'core.fsmonitor': 'false',
  'core.askPass': '',
  'core.attributesFile': '/dev/null',
  'credential.helper': '',
  'submodule.recurse': 'false',
  'fetch.recurseSubmodules': 'false',
  'transfer.fsckObjects': 'true',
  'transfer.unpackLimit': '1',
  'transfer.bundleURI': 'false',
  'gc.auto': '0',
  'maintenance.auto': 'false',
}

function killGroup({ pid, exitCode, signalCode }: ChildProcess): void {
  if (pid === undefined || exitCode !== null || signalCode !== null) return
  try {
    process.kill(-pid, 'SIGKILL')
  } catch {
    // It has just ended.
  }
}

function cannotRun(error: Error): FillError {
  const code = 'code' in error ? error.code : undefined
  if (code !== 'ENOENT' && code !== 'EACCES') {
    // For example too many processes or open files.
    const message = `git could not be started (${String(code)})`
    return new FillError('FetchFailed', message, { cause: error })
  }
  const message =
    'git is not installed here: install it, or run the controller with the image whose tag ends in -git'
  return new FillError('GitUnavailable', message, { cause: error })
}

/** Reads the reason from git's last lines. Servers choose some of the words, so only known words count. */
function failure(output: string, code: number | null): FillError {
  const lines = output
    .split('\n')
    .map((line) => line.replaceAll(/https:\/\/[^\s']*/g, 'the URL').trim())
  const last = lines.findLast((line) => /^(fatal|error):/.test(line)) ?? `status ${code}`
  const cause = new Error(last)
  if (/Authentication failed|could not read (Username|Password)|error: 40[13]/.test(output)) {
    const message = `git was refused (${last}): check that its credential is valid and may read it`
    return new FillError('AccessDenied', message, { cause })
  }
  if (/repository .*not found|couldn't find remote ref|error: 404|not our ref/i.test(output)) {
    const message = `git found nothing (${last}): check the URL and the tag`
    return new FillError('UpstreamNotFound', message, { cause })
  }
  return new FillError('FetchFailed', `git failed: ${last}`, { cause })
}
