import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { runProgram } from '../../hack/testbed/program/program.ts'
import { checkSigningKey } from '../../pkg/archives/signing/signing.ts'

const dir = mkdtempSync(join(tmpdir(), 'depot-keygen-'))
afterAll(() => rmSync(dir, { recursive: true }))

const keygen = (...args: readonly string[]) => runProgram(dir, ['keygen', ...args])

it('writes a key that the server can use and only this user can read, and never replaces a file', async () => {
  const out = join(dir, 'key.asc')
  expect(
    (await keygen('--out', out, '--name', 'Platform', '--email', 'p@example.com')).status,
  ).toBe(0)
  expect(statSync(out).mode & 0o777).toBe(0o600)
  await checkSigningKey(out, undefined)
  const first = readFileSync(out, 'utf8')
  const again = await keygen('--out', out)
  expect([again.status, again.stderr]).toEqual([
    2,
    expect.stringContaining('exists and is not replaced'),
  ])
  expect(readFileSync(out, 'utf8')).toBe(first)
})

it('prints the key without --out', async () => {
  expect((await keygen()).stdout).toMatch(/^-----BEGIN PGP PRIVATE KEY BLOCK-----/)
})

it('names the mistake in an address', async () => {
  const { status, stderr } = await keygen('--email', 'nowhere')
  expect([status, stderr]).toEqual([2, expect.stringContaining('is not an e-mail address')])
})
