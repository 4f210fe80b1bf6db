import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { dirname, join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { parseArgs } from 'node:util'
import { nodeOptions } from '../pkg/base/fast/fast.ts'
import { readableLine } from '../pkg/base/telemetry/telemetry.ts'
import { portOf, preparePlayground, writeCliConfig } from './playground.ts'
import { listenError, type RunningPages, startPages } from './run-explorer.ts'

/*
 * `make run`: a registry of samples on this machine. Builds missing files below `.depot`, starts the server and
 * the explorer, prints what to type in another terminal, then shows the server's log until Ctrl-C or the server's end.
 */

const repository = dirname(import.meta.dirname)
const { values } = parseArgs({
  options: {
    port: { type: 'string', default: '8080' },
    'ui-port': { type: 'string', default: '3000' },
    dir: { type: 'string', default: join(repository, '.depot') },
  },
})
const [port, uiPort] = [portOf('PORT', values.port), portOf('UI_PORT', values['ui-port'])]

function fail(message: string, code = 1): never {
  console.error(`depot: ${message}`)
  process.exit(code)
}

function printNextSteps(pagesUrl: string | undefined): void {
  const pages = pagesUrl === undefined ? '' : `\nOpen ${pagesUrl} in a browser to look around.\n`
  console.log(`${pages}
Depot serves config/samples on http://127.0.0.1:${port}. In another terminal, type:

${linesToType.map((line) => `    ${line}`).join('\n')}

Ctrl-C stops it. The log:
`)
}

async function untilReady(adminUrl: string): Promise<void> {
  const deadline = AbortSignal.timeout(30_000)
  while (!(await fetch(`${adminUrl}/readyz`, { signal: deadline })).ok) {
    await new Promise((done) => setTimeout(done, 50))
  }
}

const error = await listenError(port)
if (error === 'EADDRINUSE')
  fail(`port ${port} is in use; choose another: make run PORT=${port === 65_535 ? 9000 : port + 1}`)
if (error !== undefined)
  fail(`cannot listen on port ${port} (${error}); choose another: make run PORT=9000`)

const { archives, manifests, signingKey, cliConfig, statsPath, linesToType } =
  await preparePlayground(resolve(values.dir), port)

const server = spawn(
  process.execPath,
  [
    ...nodeOptions,
    join(repository, 'cmd/depot/main.ts'),
    'server',
    '--anonymous-auth',
    '--manifests',
    manifests,
    '--archives',
    archives,
    // All namespaces are of the person who runs this.
    '--storage-grants',
    '*=*',
    '--gpg-private-key-path',
    signingKey,
    '--stats-path',
    statsPath,
    '--listen',
    `127.0.0.1:${port}`,
    '--admin-listen',
    '127.0.0.1:0',
  ],
  // A process group of its own: Ctrl-C reaches this process alone, which then ends the server once.
  {
    stdio: ['ignore', 'pipe', 'inherit'],
    detached: true,
    env: { ...process.env, NODE_COMPILE_CACHE: resolve(values.dir, 'compile-cache') },
  },
)
let pages: RunningPages | undefined
const stop = (): void => {
  server.kill('SIGTERM')
  pages?.process.kill('SIGTERM')
}
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, stop)
}
process.on('exit', stop)
const exited = once(server, 'exit') as Promise<[code: number | null, signal: string | null]>

for await (const line of createInterface({ input: server.stdout })) {
  const { msg, adminUrl } = parse(line)
  process.stdout.write(readableLine(line))
  if (msg === 'listening' && adminUrl !== undefined) {
    await untilReady(adminUrl).catch(() =>
      fail('the server is not ready after 30 s; its log says why'),
    )
    pages = await startPages(`http://127.0.0.1:${port}`, uiPort, (text) =>
      process.stdout.write(readableLine(text)),
    )
    writeCliConfig(cliConfig, port, pages.url)
    printNextSteps(pages.url)
  }
}
const [code, signal] = await exited
pages?.process.kill('SIGTERM')
if (code !== 0) fail(`the server ended with ${signal ?? `code ${code}`}`, code ?? 1)

function parse(line: string): { msg?: string; adminUrl?: string } {
  try {
    return JSON.parse(line) as object
  } catch {
    return {}
  }
}
