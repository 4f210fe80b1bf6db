import { readFileSync } from 'node:fs'
import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished, vi } from 'vitest'
import { createLogger, createMetrics } from '../../pkg/base/telemetry/telemetry.ts'
import { openPublishIssuers, publishIssuersIn } from './publish-issuers.ts'

const gha = {
  alias: 'gha',
  issuer: 'https://token.actions.githubusercontent.com',
  audience: 'https://depot.example.com',
  claims: ['repository_id'],
}
const mainIssuer = 'https://login.example.com'
const read = (value: unknown) =>
  publishIssuersIn(typeof value === 'string' ? value : JSON.stringify(value), 'i.yaml', mainIssuer)

it('reads issuers, including one on this machine', () => {
  const local = { ...gha, alias: 'a-1', issuer: 'http://127.0.0.1:8080/broker' }
  expect(read([gha, local])).toEqual([gha, local])
})

it.each([
  ['nothing', '', 'i.yaml:1: is not a list'],
  ['a mapping', gha, 'i.yaml:1: is not a list'],
  ['two documents', '[]\n---\n[]\n', 'i.yaml:'],
  ['a field that does not exist', [{ ...gha, claim: 'sub' }], 'claim'],
  ['no claims', [{ ...gha, claims: [] }], '0.claims is empty: name the claims'],
  ['no audience', [{ ...gha, audience: '' }], '0.audience is empty'],
  ['a claim with a colon', [{ ...gha, claims: ['a:b'] }], '0.claims.0 must be the name'],
  ['an alias with a colon', [{ ...gha, alias: 'gha:ref' }], '0.alias must be'],
  ['the alias of programs', [{ ...gha, alias: 'client' }], '0.alias is reserved'],
  ['an issuer without TLS', [{ ...gha, issuer: 'http://ci.example.com' }], '0.issuer must be'],
  [
    'one that looks like this machine',
    [{ ...gha, issuer: 'http://localhost@ci.test' }],
    '0.issuer must be',
  ],
  [
    'an alias of two',
    [gha, { ...gha, issuer: 'https://gitlab.com' }],
    'i.yaml:1: 1.alias gha is the alias of two',
  ],
  [
    'an issuer of two',
    [gha, { ...gha, alias: 'b' }],
    '1.issuer https://token.actions.githubusercontent.com has two',
  ],
  [
    'the issuer of people',
    [{ ...gha, issuer: mainIssuer }],
    '0.issuer https://login.example.com is the issuer of people',
  ],
])('refuses %s', (_, value, message) => {
  expect(() => read(value)).toThrow(message)
})

it('reads the example of the documentation', () => {
  const page = readFileSync('docs/authentication.md', 'utf8')
  const [, text = ''] = /```yaml issuers\n(.*?)```/s.exec(page) ?? []
  expect(read(text).map(({ alias }) => alias)).toEqual(['gha', 'gitlab'])
})

it('names the line', () => {
  expect(() =>
    read('# CI\n- alias: gha\n  issuer: https://ci.test\n  audience: a\n  claims: []\n'),
  ).toThrow('i.yaml:5: 0.claims is empty')
})

it('applies changes of the file, and keeps the previous issuers if the file is broken', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'depot-issuers-'))
  onTestFinished(() => rm(dir, { recursive: true }))
  const path = join(dir, 'issuers.yaml')
  const write = async (value: unknown) => {
    await writeFile(`${path}.new`, JSON.stringify(value))
    await rename(`${path}.new`, path)
  }
  const log = createLogger('silent')
  const metrics = createMetrics({ version: 'test' })
  const open = () => openPublishIssuers({ path, mainIssuer, log, metrics, lookMs: 5 })
  await expect(open()).rejects.toThrow(`--publish-issuers: the file ${path} does not exist`)
  await write([gha])
  const file = await open()
  onTestFinished(() => file.close())
  const isValid = async () =>
    /^depot_publish_issuers_file_valid (\d)$/m.exec(await metrics.metrics())?.[1]
  const changed = vi.fn<() => void>()
  file.onChange(changed)
  await write([{ ...gha, claims: [] }])
  await vi.waitUntil(async () => (await isValid()) === '0')
  expect(file.current).toEqual([gha])
  await write([{ ...gha, alias: 'other' }])
  await vi.waitUntil(() => changed.mock.calls.length === 1)
  expect(file.current).toEqual([{ ...gha, alias: 'other' }])
  expect(await isValid()).toBe('1')
  // An empty list trusts nobody.
  await write([])
  await vi.waitUntil(() => changed.mock.calls.length === 2)
  expect(file.current).toEqual([])
  expect(await isValid()).toBe('1')
})
