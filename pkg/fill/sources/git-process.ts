import { type ChildProcess, spawn } from 'node:child_process'
import { PassThrough, type Readable } from 'node:stream'
import { SourceError } from './errors.ts'

/** A git that runs. */
export interface RunningGit {
  readonly stdout: Readable
  /** Resolves when it has ended well. @throws SourceError, or the reason of the signal */
  readonly ended: Promise<void>
}

export interface GitOptions {
  readonly command: string
  /** Passed by environment, so that none of it shows in the list of processes. */
  readonly config: Readonly<Record<string, string>>
  readonly signal: AbortSignal
}

/**
 * Runs git without a shell, without the configuration of this machine, and with no way out but https to the given host.
 *
 * @param args data stands after `--`
 */
export function runGit(args: readonly string[], options: GitOptions): RunningGit {
  const { command, config, signal } = options
  signal.throwIfAborted()
  const child = spawn(command, args, {
    env: environment(config),
    stdio: ['ignore', 'pipe', 'pipe'],
    // A group of its own, so that its children end with it.
    detached: true,
  })
  const stop = () => killGroup(child)
  signal.addEventListener('abort', stop, { once: true })
  let said = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said = (said + text).slice(-4096)
  })
  const ended = new Promise<void>((resolve, reject) => {
    child.once('error', (error) => reject(cannotRun(error)))
    child.once('close', (code) => {
      if (signal.aborted) reject(signal.reason)
      else if (code === 0) resolve()
      else reject(failure(said, code))
    })
  }).finally(() => {
    signal.removeEventListener('abort', stop)
    stop()
  })
  ended.catch(() => undefined)
  // What is left in the pipe of a process that ended is thrown away where it is not being read at that moment.
  return { stdout: child.stdout.pipe(new PassThrough()), ended }
}

/** Only for what git needs: what else is in the environment of this process could change what it does. */
function environment(config: GitOptions['config']): Record<string, string> {
  const entries = Object.entries({ ...hardened, ...config })
  return {
    PATH: process.env['PATH'] ?? '/usr/bin:/bin',
    // Not there: a .netrc of this machine would open what the Secret does not.
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
    // It ended this moment.
  }
}

function cannotRun(error: Error): SourceError {
  const code = 'code' in error ? error.code : undefined
  if (code !== 'ENOENT' && code !== 'EACCES') {
    // Too many processes or files at this moment.
    return new SourceError('FetchFailed', `git could not be started (${String(code)})`, {
      cause: error,
    })
  }
  return new SourceError(
    'GitUnavailable',
    'git is not installed where the controller runs: use another source, or an image with git',
    { cause: error },
  )
}

/** What the last lines mean. Servers choose some of the words, so that only known ones say what it was. */
function failure(said: string, code: number | null): SourceError {
  const lines = said
    .split('\n')
    .map((line) => line.replaceAll(/https:\/\/[^\s']*/g, 'the URL').trim())
  const last = lines.findLast((line) => /^(fatal|error):/.test(line)) ?? `status ${code}`
  const cause = new Error(last)
  if (/Authentication failed|could not read (Username|Password)|error: 40[13]/.test(said)) {
    const message = `git was refused (${last}): check the Secret of the source`
    return new SourceError('AccessDenied', message, { cause })
  }
  if (/repository .*not found|couldn't find remote ref|error: 404|not our ref/i.test(said)) {
    return new SourceError('NotFound', `git found nothing (${last}): check the URL and the tag`, {
      cause,
    })
  }
  return new SourceError('FetchFailed', `git failed: ${last}`, { cause })
}
