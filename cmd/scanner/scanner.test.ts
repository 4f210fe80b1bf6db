import { spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { runProgram } from '../../hack/testbed/program/program.ts'
import { zipOf } from '../../pkg/archives/archive/packed.fixture.ts'
import { KernelLock } from '../../pkg/base/folderlock/folderlock.ts'
import { put } from '../import/import.fixture.ts'

const dir = mkdtempSync(join(tmpdir(), 'depot-scanner-'))
const program = (name: string, script: string) => {
  writeFileSync(join(dir, name), `#!${process.execPath}\n${script}\n`)
  chmodSync(join(dir, name), 0o755)
}
const version = (name: string) => ({
  apiVersion: 'depot.internal/v1alpha1',
  kind: 'Version',
  metadata: { name, namespace: 'team' },
  spec: {
    type: 'Module',
    version: '1.0.0',
    fileName: `${name}.zip`,
    moduleConfigRef: {
      name,
      provider: 'aws',
      storageConfig: { fileSystem: { directoryPath: 'stored' } },
    },
  },
})
const scanner = (...args: readonly string[]) =>
  runProgram(dir, [
    'scanner',
    '--manifests',
    'manifests',
    '--archives',
    'archives',
    '--scanner',
    'exec',
    ...args,
  ])

beforeAll(async () => {
  put(join(dir, 'tmp/none'), '')
  put(join(dir, 'manifests/network.json'), JSON.stringify(version('network')))
  const archive = await zipOf([{ path: 'main.tf', content: '' }])
  put(join(dir, 'archives/stored/network/network.zip'), archive)
  program('found', `process.stdout.write('[{"vulnerabilityID":"AWS-1","severity":"HIGH"}]')`)
  program('broken', `process.stderr.write('no database'); process.exit(1)`)
})
afterAll(() => rmSync(dir, { recursive: true }))

it('lists everything that it cannot use', async () => {
  const { status, stderr } = await scanner('--scan-slots', '0')
  expect(status).toBe(2)
  expect(stderr).toContain('--scanner-command (or DEPOT_SCANNER_COMMAND): name the program')
  expect(stderr).toContain('"0" is not a number: write 1 to 99')
})

it('writes the findings of a folder, and says how many archives it scanned', async () => {
  const flags = ['--work-dir', 'work', '--scanner-command', join(dir, 'found')]
  expect(await scanner(...flags)).toEqual({
    status: 0,
    stdout: '1 archive scanned, 0 failures\n',
    stderr: '',
  })
  const written = readFileSync(join(dir, 'manifests/network.status.yaml'), 'utf8')
  expect(written).toContain('vulnerabilityID: AWS-1')
  expect((await scanner(...flags, '-o', 'json')).stdout).toBe(
    `${JSON.stringify({ schema: 1, scanned: 0, failures: [] }, null, 2)}\n`,
  )
})

it('exits with 1 and the last words of a scanner that failed', async () => {
  put(join(dir, 'manifests/vpc.json'), JSON.stringify(version('vpc')))
  put(join(dir, 'archives/stored/vpc/vpc.zip'), await zipOf([{ path: 'main.tf', content: '' }]))
  expect(
    await scanner('--work-dir', 'work', '--scanner-command', join(dir, 'broken')),
  ).toMatchObject({
    status: 1,
    stdout: 'team/vpc: broken ended with status 1: no database\n0 archives scanned, 1 failure\n',
  })
})

it('reports a full disk, in the status too, and leaves nothing behind', async () => {
  put(join(dir, 'full/noise.json'), JSON.stringify(version('noise')))
  const entry = { path: 'main.tf', content: randomBytes(300_000) }
  put(join(dir, 'archives/stored/noise/noise.zip'), await zipOf([entry]))
  const options = ['--manifests=full', '--archives=archives', '--scanner=exec', '--work-dir=small']
  const scan = [process.execPath, join(import.meta.dirname, '../depot/main.ts'), 'scanner']
  const command = [...scan, ...options, `--scanner-command=${join(dir, 'found')}`]
  // Without the trap, the limit ends the process. A full disk gives it an error.
  const shell = `trap '' XFSZ; ulimit -f 100; exec "$@"`
  const { status, stdout } = spawnSync('bash', ['-c', shell, 'bash', ...command], {
    cwd: dir,
    encoding: 'utf8',
  })
  const message =
    '--work-dir cannot be written (EFBIG): it needs room for the largest archive and two copies of its content'
  expect({ status, stdout }).toEqual({
    status: 1,
    stdout: `team/noise: ${message}\n0 archives scanned, 1 failure\n`,
  })
  expect(readFileSync(join(dir, 'full/noise.status.yaml'), 'utf8')).toContain(message)
  expect(readdirSync(join(dir, 'small/unpacked'))).toEqual([])
})

it('refuses a work folder that another scanner uses', async () => {
  mkdirSync(join(dir, 'taken'))
  const lock = KernelLock.take(join(dir, 'taken'), '.depot-scanner.lock.db')
  put(join(dir, 'taken/unpacked/scan/file'), '')
  const { status, stderr } = await scanner(
    '--work-dir',
    'taken',
    '--scanner-command',
    join(dir, 'found'),
  )
  lock?.release()
  expect({ status, stderr }).toMatchObject({
    status: 2,
    stderr: expect.stringContaining('--work-dir: another scanner uses taken: give each a folder'),
  })
  expect(existsSync(join(dir, 'taken/unpacked/scan/file'))).toBe(true)
})

it('exits with 1 if another process has locked the folder in the meantime', async () => {
  const holder = JSON.stringify(join(dir, 'manifests/.depot.lock'))
  program('slow', `require('node:fs').rmSync(${holder}); setInterval(() => {}, 1000)`)
  const { status, stdout, stderr } = await scanner(
    '--work-dir',
    'work',
    '--scanner-command',
    join(dir, 'slow'),
  )
  expect(stderr).toContain('manifests/.depot.lock is missing: the folder was moved or unmounted')
  expect({ status, stdout }).toMatchObject({
    status: 1,
    stdout: expect.stringContaining('so the rest was not scanned: run it again\n'),
  })
})
