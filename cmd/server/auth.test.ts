import { spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { TestIssuer } from '../../pkg/auth/issuer.fixture.ts'

const dir = mkdtempSync(join(tmpdir(), 'depot-auth-'))
afterAll(() => rmSync(dir, { recursive: true }))
const main = join(import.meta.dirname, 'main.ts')
const env = { PATH: process.env['PATH'] ?? '' }

const start = (...args: readonly string[]) =>
  spawnSync(process.execPath, [main, ...args], { encoding: 'utf8', env, timeout: 30_000 })

const manifests = ['--manifests', dir]
const oidc = [...manifests, '--oidc-issuer-url', 'https://login.example', '--oidc-client-id', 'x']

it.each([
  ['bearer and OIDC', [...oidc, '--use-bearer-token'], /--use-bearer-token and --oidc-issuer-url/],
  ['bearer and anonymous', ['--use-bearer-token', '--anonymous-auth'], /exclude each other/],
  ['kubeconfig mode without a cluster', manifests, /--manifests needs/],
  ['bearer mode without a cluster', [...manifests, '--use-bearer-token'], /only a cluster/],
  ['fallback without a cluster', [...oidc, '--oidc-allow-sa-fallback'], /only a cluster/],
  ['an issuer without a client', [...manifests, '--oidc-issuer-url', 'https://a.b'], /set both/],
  [
    'an issuer without encryption',
    [...manifests, '--oidc-issuer-url', 'http://login.example', '--oidc-client-id', 'x'],
    /without encryption/,
  ],
  ['an override that is no URL', [...oidc, '--oidc-authz-url', 'login'], /--oidc-authz-url/],
  ['an override of another scheme', [...oidc, '--oidc-token-url', 'ftp://a/t'], /--oidc-token-url/],
  ['a broker with a path', [...oidc, '--broker-proxy-url', 'http://b:5556/broker'], /has a path/],
  [
    'a broker without encryption',
    [...oidc, '--broker-proxy-url', 'http://broker.example:5556'],
    /--broker-proxy-url.*without encryption/,
  ],
  ['a broker of another issuer', [...oidc, '--broker-proxy-url', 'http://b:5556'], /path \/broker/],
])('%s: ends with 2 and says why', (_, args, message) => {
  const { status, stderr } = start(...args, '--listen', '127.0.0.1:0', '--admin-listen', ':0')
  expect([status, stderr]).toEqual([2, expect.stringMatching(message)])
})

it('an issuer that calls itself otherwise ends the start with 2', async () => {
  const issuer = await TestIssuer.start()
  issuer.metadata = { issuer: 'https://other.example', jwks_uri: 'https://other.example/keys' }
  const child = spawn(
    process.execPath,
    [
      main,
      ...manifests,
      '--oidc-issuer-url',
      issuer.url,
      '--oidc-client-id',
      'depot',
      '--listen',
      '127.0.0.1:0',
      '--admin-listen',
      '127.0.0.1:0',
    ],
    { env, stdio: ['ignore', 'ignore', 'pipe'] },
  )
  let stderr = ''
  child.stderr.on('data', (chunk) => {
    stderr += String(chunk)
  })
  const code = await new Promise((done) => child.once('exit', done))
  issuer.stop()
  expect([code, stderr]).toEqual([2, expect.stringContaining('calls itself')])
})
