import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { bareEnvironment } from '../../hack/testbed/environment.ts'
import { checkSigningKey } from '../../pkg/archives/signing/signing.ts'

const dir = mkdtempSync(join(tmpdir(), 'depot-keygen-'))
afterAll(() => rmSync(dir, { recursive: true }))

const keygen = (...args: readonly string[]) =>
  spawnSync(process.execPath, [join(import.meta.dirname, '../depot/main.ts'), 'keygen', ...args], {
    encoding: 'utf8',
    env: bareEnvironment,
    timeout: 60_000,
  })

it('writes a key that the server can use, readable by this user only, and never replaces a file', async () => {
  const out = join(dir, 'key.asc')
  expect(keygen('--out', out, '--name', 'Platform', '--email', 'p@example.com').status).toBe(0)
  expect(statSync(out).mode & 0o777).toBe(0o600)
  await checkSigningKey(out, undefined)
  const first = readFileSync(out, 'utf8')
  const again = keygen('--out', out)
  expect([again.status, again.stderr]).toEqual([
    2,
    expect.stringContaining('exists and is not replaced'),
  ])
  expect(readFileSync(out, 'utf8')).toBe(first)
})

it('prints the key if no file is named', () => {
  expect(keygen().stdout).toMatch(/^-----BEGIN PGP PRIVATE KEY BLOCK-----/)
})

it('names the mistake in an address', () => {
  const { status, stderr } = keygen('--email', 'nowhere')
  expect([status, stderr]).toEqual([2, expect.stringContaining('is not an e-mail address')])
})
