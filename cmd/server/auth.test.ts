import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { bareEnvironment } from '../../hack/testbed/environment.ts'
import { runProgram } from '../../hack/testbed/program/program.ts'
import { TestIssuer } from '../../pkg/registry/auth/issuer.fixture.ts'

const dir = mkdtempSync(join(tmpdir(), 'depot-auth-'))
afterAll(() => rmSync(dir, { recursive: true }))
const main = join(import.meta.dirname, '../depot/main.ts')
const env = bareEnvironment

const start = (args: readonly string[], more: Readonly<Record<string, string>> = {}) =>
  runProgram(dir, ['server', ...args], more)

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
  ['an override that is not a URL', [...oidc, '--oidc-authz-url', 'login'], /--oidc-authz-url/],
  ['an override of another scheme', [...oidc, '--oidc-token-url', 'ftp://a/t'], /--oidc-token-url/],
  ['a broker with a path', [...oidc, '--broker-proxy-url', 'http://b:5556/broker'], /has a path/],
  [
    'a broker without encryption',
    [...oidc, '--broker-proxy-url', 'http://broker.example:5556'],
    /--broker-proxy-url.*without encryption/,
  ],
  ['a broker of another issuer', [...oidc, '--broker-proxy-url', 'http://b:5556'], /path \/broker/],
])('%s: exits with 2 and prints why', async (_, args, message) => {
  const { status, stderr } = await start([
    ...args,
    '--listen',
    '127.0.0.1:0',
    '--admin-listen',
    ':0',
  ])
  expect([status, stderr]).toEqual([2, expect.stringMatching(message)])
})

it('exits with 2 if the issuer names another issuer in its metadata', async () => {
  const issuer = await TestIssuer.start()
  issuer.metadata = { issuer: 'https://other.example', jwks_uri: 'https://other.example/keys' }
  const child = spawn(
    process.execPath,
    [
      main,
      'server',
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

it('exits with 2 for a malformed proxy address, without printing its credentials', async () => {
  const { status, stderr } = await start(
    [...manifests, '--anonymous-auth', '--listen', '127.0.0.1:0', '--admin-listen', ':0'],
    { HTTPS_PROXY: 'ftp://me:hunter2@h' },
  )
  expect([status, stderr]).toEqual([2, expect.stringContaining('HTTPS_PROXY is not the address')])
  expect(stderr).not.toContain('hunter2')
})

it('serves guests while the issuer is unreachable, and /readyz says why', async () => {
  const issuer = await TestIssuer.start()
  issuer.unreachable = true
  const args = [
    ...manifests,
    '--anonymous-auth',
    '--oidc-issuer-url',
    issuer.url,
    '--oidc-client-id',
    'depot',
    '--listen',
    '127.0.0.1:0',
    '--admin-listen',
    '127.0.0.1:0',
  ]
  const child = spawn(process.execPath, [main, 'server', ...args], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let out = ''
  child.stdout.on('data', (chunk) => {
    out += String(chunk)
  })
  const place = (name: string) => new RegExp(`"${name}":"([^"]+)"`).exec(out)?.[1] ?? ''
  const read = async (url: string, headers: Record<string, string> = {}) => {
    const answer = await fetch(url, { headers })
    return [answer.status, await answer.text()] as const
  }
  const patient = { timeout: 60_000 }
  const readyz = async () =>
    out.includes('"listening"') ? read(`${place('adminUrl')}/readyz`) : undefined
  await expect
    .poll(readyz, patient)
    .toEqual([200, expect.stringMatching(/^ok\nimpaired: tokens of the OIDC issuer .*: \S.*\n$/)])
  const resources = `${place('url')}/depot/ui/v1/resources`
  expect((await read(resources))[0]).toBe(200)
  const authorization = `Bearer ${await issuer.sign()}`
  expect(await read(resources, { authorization })).toEqual([
    503,
    expect.stringContaining('keys of the OIDC issuer'),
  ])
  await expect.poll(() => out, patient).toContain('"status":503')
  const line = out.split('\n').find((one) => one.includes('"status":503'))
  expect(JSON.parse(line ?? '{}')).toMatchObject({
    callerHash: expect.stringMatching(/^[\w-]{12}$/) as string,
    err: {
      reason: 'IssuerUnavailable',
      message: expect.stringContaining('not known yet') as string,
    },
  })
  issuer.unreachable = false
  await expect.poll(readyz, patient).toEqual([200, 'ok\n'])
  child.kill()
  await new Promise((done) => child.once('exit', done))
  issuer.stop()
}, 90_000)
