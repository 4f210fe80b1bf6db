import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { zipOf } from '../pkg/archives/archive/packed.fixture.ts'

/* The scanner is the first process of a container, and shares its namespaces with the program: no pod may make its own. */

const dir = mkdtempSync(join(tmpdir(), 'depot-strays-'))
const container = ['--map-root-user', '--pid', '--fork', '--kill-child', '--mount-proc', '--']
const canContain = spawnSync('unshare', [...container, 'true']).status === 0

beforeAll(async () => {
  const storageConfig = { fileSystem: { directoryPath: 'stored' } }
  for (const name of ['first', 'second']) {
    mkdirSync(join(dir, 'archives/stored', name), { recursive: true })
    mkdirSync(join(dir, 'manifests'), { recursive: true })
    writeFileSync(
      join(dir, 'archives/stored', name, `${name}.zip`),
      await zipOf([{ path: 'main.tf', content: name }]),
    )
    const version = {
      apiVersion: 'depot.internal/v1alpha1',
      kind: 'Version',
      metadata: { name, namespace: 'team' },
      spec: {
        type: 'Module',
        version: '1.0.0',
        fileName: `${name}.zip`,
        moduleConfigRef: { name, provider: 'aws', storageConfig },
      },
    }
    writeFileSync(join(dir, `manifests/${name}.json`), JSON.stringify(version))
  }
})
afterAll(() => rmSync(dir, { recursive: true }))

it.skipIf(!canContain)(
  'ends processes that left the scanner and emptied their environment',
  async () => {
    const beats = JSON.stringify(join(dir, 'beats'))
    const beat = `setInterval(() => require('node:fs').appendFileSync(${beats}, 'x'), 10)`
    // The first scan leaves a process. The second one fails if that still writes.
    writeFileSync(
      join(dir, 'scanner'),
      `#!${process.execPath}
const fs = require('node:fs')
const { spawn } = require('node:child_process')
const size = () => fs.existsSync(${beats}) ? fs.statSync(${beats}).size : 0
const isFirst = size() === 0
if (isFirst) spawn(process.execPath, ['-e', ${JSON.stringify(beat)}], { env: {}, cwd: '/', detached: true, stdio: 'ignore' }).unref()
const before = size()
const end = () => {
  if (isFirst && size() === 0) return
  fs.writeSync(1, '[]')
  process.exit(!isFirst && size() > before ? 3 : 0)
}
setInterval(end, isFirst ? 20 : 500)
`,
    )
    chmodSync(join(dir, 'scanner'), 0o755)
    const flags = ['manifests', 'archives'].map((name) => `--${name}=${join(dir, name)}`)
    const program = [process.execPath, 'cmd/scanner/main.ts', ...flags]
    const options = [`--work-dir=${join(dir, 'work')}`, '--scanner=exec', '--scanner-offline=false']
    const command = [
      ...container,
      ...program,
      ...options,
      `--scanner-command=${join(dir, 'scanner')}`,
    ]
    const child = spawn('unshare', command, { stdio: ['ignore', 'pipe', 'inherit'] })
    const exited = once(child, 'exit') as Promise<[number]>
    expect(await text(child.stdout)).toBe('2 archives scanned, 0 failures\n')
    expect(await exited).toEqual([0, null])
  },
)
