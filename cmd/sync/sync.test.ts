import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { runProgram } from '../../hack/testbed/program/program.ts'

const dir = mkdtempSync(join(tmpdir(), 'depot-sync-mistakes-'))
beforeAll(() => {
  for (const name of ['empty', 'mistaken', 'tmp']) mkdirSync(join(dir, name))
  writeFileSync(join(dir, 'file'), '')
  writeFileSync(join(dir, 'mistaken/depot.yaml'), 'kind: [')
})
afterAll(() => rmSync(dir, { recursive: true }))

const sync = (...args: readonly string[]) => runProgram(dir, ['sync', ...args])

it('lists every folder and file that it cannot use', async () => {
  const folders = await sync('--manifests', 'missing', '--archives', 'file')
  expect(folders).toEqual({
    status: 2,
    stdout: '',
    stderr: `depot: --manifests: the folder missing does not exist: create it, or name another
depot: --archives: file is not a folder; name a folder, or a path that is free
depot: see depot sync --help for all options
`,
  })
  const flags = '--spool-dir file --egress-ca-path file --egress-private-cidrs here'.split(' ')
  const others = await sync('--manifests', 'empty', '--archives', 'archives', ...flags)
  expect(others.status).toBe(2)
  expect(others.stderr).toContain('--spool-dir: file is not a folder')
  expect(others.stderr).toContain('--egress-ca-path: file holds no certificate; write PEM')
  expect(others.stderr).toContain('"here" is not a network: write it as 10.0.0.0/8')
})

it('says that there is nothing to do in a folder', async () => {
  expect(await sync('--manifests', 'empty', '--archives', 'archives')).toEqual({
    status: 0,
    stdout: 'nothing to do: no Depot, Module or Provider is in the folder\n',
    stderr: '',
  })
})

it('names a file with a mistake, and exits with 1', async () => {
  const { status, stdout } = await sync('--manifests', 'mistaken', '--archives', 'archives')
  expect(status).toBe(1)
  expect(stdout).toMatch(/^depot.yaml:1: Flow sequence in block collection/m)
  expect(stdout).toContain('no archive was removed, because not everything can be read\n')
})

it.each(['sync', 'import'])('depot %s lists its environment variables', async (command) => {
  const { stdout } = await runProgram(dir, [command, '--help'])
  const variables = ['DEPOT_S3_ENDPOINT', 'AWS_…', 'AZURE_…', 'GOOGLE_…', 'HTTPS_PROXY, NO_PROXY']
  for (const name of variables) expect(stdout).toMatch(new RegExp(`^  ${name} `, 'm'))
  expect(stdout).toContain('1 if something failed, 2 for wrong options, 130 or 143')
})
