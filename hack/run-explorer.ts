import { type ChildProcess, spawn } from 'node:child_process'
import { createServer } from 'node:net'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'

const repository = dirname(import.meta.dirname)

export interface RunningPages {
  /** The address of the pages; undefined if the explorer failed to start and said why. */
  readonly url: string | undefined
  readonly process: ChildProcess
}

/** Resolves to the error code of listening on a port of 127.0.0.1, or to undefined if the port is free. */
export const listenError = (port: number): Promise<string | undefined> =>
  new Promise((done) => {
    const probe = createServer()
    probe.once('error', (err: NodeJS.ErrnoException) => done(err.code))
    probe.listen(port, '127.0.0.1', () => probe.close(() => done(undefined)))
  })

/**
 * Starts the explorer of a server, at the wanted port or, if that is in use, at a free one.
 *
 * @param onLine gets its log, without the line of each request
 */
export async function startPages(
  serverUrl: string,
  wantedPort: number,
  onLine: (line: string) => void,
): Promise<RunningPages> {
  const error = await listenError(wantedPort)
  if (error !== undefined) {
    const problem = error === 'EADDRINUSE' ? 'is in use' : `cannot be had (${error})`
    console.log(
      `depot: port ${wantedPort} ${problem}; the pages take another (UI_PORT chooses one)`,
    )
  }
  const port = error === undefined ? wantedPort : 0
  const child = spawn(
    process.execPath,
    [
      join(repository, 'cmd/depot/main.ts'),
      'ui',
      '--server-url',
      serverUrl,
      '--listen',
      `127.0.0.1:${port}`,
      '--admin-listen',
      '127.0.0.1:0',
    ],
    { stdio: ['ignore', 'pipe', 'inherit'], detached: true },
  )
  const started = Promise.withResolvers<string | undefined>()
  child.once('exit', () => started.resolve(undefined))
  createInterface({ input: child.stdout }).on('line', (line) => {
    const { msg, url } = parse(line)
    if (msg === 'listening') started.resolve(url)
    if (msg !== 'request') onLine(line)
  })
  return { url: await started.promise, process: child }
}

function parse(line: string): { msg?: string; url?: string } {
  try {
    return JSON.parse(line) as object
  } catch {
    return {}
  }
}
