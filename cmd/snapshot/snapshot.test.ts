import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { bareEnvironment } from '../../hack/testbed/environment.ts'
import { startExplorer } from '../../hack/testbed/explorer/explorer.ts'
import { writeBarePages } from '../../hack/testbed/explorer/pages.ts'

const dir = mkdtempSync(join(tmpdir(), 'depot-snapshot-'))
let explorer: Awaited<ReturnType<typeof startExplorer>>
beforeAll(async () => {
  const pages = writeBarePages(join(dir, 'pages'))
  explorer = await startExplorer({
    serverUrl: 'http://127.0.0.1:9',
    flags: ['--dist-path', pages],
  })
})
afterAll(async () => {
  await explorer.stop()
  rmSync(dir, { recursive: true })
})

const snapshot = (...args: readonly string[]) =>
  spawnSync(
    process.execPath,
    [join(import.meta.dirname, '../depot/main.ts'), 'snapshot', '--heap', ...args],
    { encoding: 'utf8', env: bareEnvironment, timeout: 60_000, maxBuffer: 2 ** 30 },
  )

it('writes the heap of a running process to standard output, or to a file of this user', () => {
  const { stdout, ...ended } = snapshot('--admin-url', explorer.adminUrl)
  expect(ended).toMatchObject({ status: 0, stderr: '' })
  expect(JSON.parse(stdout)).toMatchObject({ snapshot: { node_count: expect.any(Number) } })
  const out = join(dir, 'ui.heapsnapshot')
  expect(snapshot('--admin-url', explorer.adminUrl, '--out', out).stdout).toContain(out)
  expect(JSON.parse(readFileSync(out, 'utf8'))).toHaveProperty('nodes')
  expect(statSync(out).mode & 0o777).toBe(0o600)
})

it('says that no process answers', () => {
  const { status, stderr } = snapshot('--admin-url', 'http://127.0.0.1:9')
  expect(status).toBe(2)
  expect(stderr).toContain('--admin-url: http://127.0.0.1:9 does not answer')
})
