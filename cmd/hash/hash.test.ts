import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { runProgram } from '../../hack/testbed/program/program.ts'
import { inspectProvider } from '../../pkg/archives/archive/archive.ts'
import { zipOf } from '../../pkg/archives/archive/packed.fixture.ts'

const dir = mkdtempSync(join(tmpdir(), 'depot-hash-'))
afterAll(() => rmSync(dir, { recursive: true }))

it('prints the digests that lock files contain', async () => {
  const file = join(dir, 'provider.zip')
  writeFileSync(file, await zipOf([{ path: 'terraform-provider-dns_v1.0.0', content: 'binary' }]))
  const { sha256, h1 } = await inspectProvider({ file, type: 'dns' })
  const { status, stdout } = await runProgram(dir, ['hash', 'provider.zip'])
  expect({ status, stdout }).toEqual({ status: 0, stdout: `zh:${sha256}\n${h1}\n` })
})

it('says why a file has no digests', async () => {
  writeFileSync(join(dir, 'module.zip'), await zipOf([{ path: 'main.tf' }]))
  expect(await runProgram(dir, ['hash', 'module.zip'])).toMatchObject({
    status: 1,
    stderr: expect.stringContaining('the zip does not contain "terraform-provider-*"'),
  })
  expect((await runProgram(dir, ['hash', 'missing.zip'])).stderr).toContain('missing.zip: ENOENT')
})
