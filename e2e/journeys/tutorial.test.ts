import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, expect, inject, it } from 'vitest'
import { buildSamples } from '../../hack/samples.ts'
import { freePorts } from '../../hack/testbed/ports.ts'

const repository = join(import.meta.dirname, '../..')
const page = readFileSync(join(repository, 'docs/tutorial.md'), 'utf8')
const run = promisify(execFile)

const folders: string[] = []
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true })
})

/** Every block of the page as one shell script. The second terminal is a background process. */
function scriptOf(cli: string, port: number, adminPort: number): string {
  const blocks = [...page.matchAll(/^```sh( server)?\n(.*?)^```/gms)].map(
    ([, server, text = '']) => {
      const own = text
        .replace('$HOME/depot   # your checkout', `'${repository}'`)
        .replaceAll('127.0.0.1:8080', `127.0.0.1:${port}`)
        .replaceAll('127.0.0.1:9090', `127.0.0.1:${adminPort}`)
      return server === undefined
        ? own
        : `(exec ${own.trim()} >server.log 2>&1) &
server=$!
trap 'kill $server; wait $server' EXIT
until curl -fs http://127.0.0.1:${adminPort}/readyz >/dev/null; do kill -0 $server; sleep 0.1; done
`
    },
  )
  return ['set -eu', `terraform() { '${cli}' "$@"; }`, ...blocks].join('\n')
}

it.each(['terraform', 'tofu'] as const)(
  'every block of docs/tutorial.md works as printed, with %s',
  async (name) => {
    const cli = inject(name)
    if (cli === undefined) return
    await buildSamples(join(repository, '.depot/archives'))
    const folder = mkdtempSync(join(tmpdir(), 'depot-tutorial-'))
    folders.push(folder)
    const [port = 0, adminPort = 0] = await freePorts(2)
    const { stdout } = await run('sh', ['-c', scriptOf(cli, port, adminPort)], {
      cwd: folder,
      env: {
        PATH: process.env['PATH'] ?? '',
        HOME: process.env['HOME'] ?? '',
        CHECKPOINT_DISABLE: '1',
      },
    })
    expect(stdout).toContain('0 errors, 0 warnings in 4 objects of 2 files')
    expect(stdout).toContain('prefix = "acme-platform"')
    expect(stdout).toContain('platform/naming/generic 1.1.0')
    expect(stdout).toContain('compared: with 1.0.0, compatible')
  },
)
