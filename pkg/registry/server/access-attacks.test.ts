import { createHmac, generateKeyPairSync } from 'node:crypto'
import { Writable } from 'node:stream'
import { type CryptoKey, exportSPKI, importJWK } from 'jose'
import { generate } from 'selfsigned'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createLogger, createMetrics } from '../../base/telemetry/telemetry.ts'
import type { Auth } from '../auth/auth.ts'
import { issuerKey, oidcOptions, TestIssuer } from '../auth/issuer.fixture.ts'
import { AccessFixture, asToken, kubeconfigOf, TestCluster } from './access.fixture.ts'
import type { App } from './app.ts'

type Routes = App['routes']

/*
 * Requests of people who should not get in, or not so far. Each row names the answer; for all of them the tests check that
 * no part of a request is sent back or stored.
 */

const fixture = new AccessFixture()
const issuer = await TestIssuer.start()
const cluster = await TestCluster.start()
afterAll(() => {
  fixture[Symbol.dispose]()
  issuer.stop()
  cluster.stop()
})

fixture.publicNamespace('platform')
fixture.module('vpc-core')
fixture.version('Module', 'vpc-core', '1.0.0')
fixture.module('secret')
fixture.provider('tool')
fixture.bind('platform', {
  expression: '"platform" in groups',
  moduleResources: ['vpc-*'],
  providerResources: ['tool'],
})
fixture.bind('program', { expression: '"client:ci" in groups', moduleResources: ['*'] })
// In a namespace that does not count.
fixture.bind('tenant', { expression: 'true', moduleResources: ['*'] }, 'platform')

/** Marks all secrets, so that it is found wherever it leaks to. */
const mark = 'hunter2hunter2'
const rogue = await issuerKey('first')
const unknown = await issuerKey('unknown')
const elliptic = await issuerKey('first', 'ES256')
const publicPem = await exportSPKI((await importJWK(issuer.key.jwk, 'RS256')) as CryptoKey)
const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
const now = Math.floor(Date.now() / 1000)
const good = {
  iss: issuer.url,
  sub: mark,
  aud: 'depot',
  exp: now + 3600,
  groups: ['platform'],
}
const unsigned = (header: object, claims: object = good, signature = mark) =>
  `${part(header)}.${part(claims)}.${signature && Buffer.from(signature).toString('base64url')}`
const hmac = (key: string, alg: 'HS256' | 'HS512' = 'HS256') => {
  const start = `${part({ alg, kid: 'first', typ: 'JWT' })}.${part(good)}`
  const hash = alg === 'HS256' ? 'sha256' : 'sha512'
  return `${start}.${createHmac(hash, key).update(start).digest('base64url')}`
}
const sign = (claims: object = {}, options: Parameters<typeof issuer.sign>[1] = {}) =>
  // Old enough that a missing key would not exist later either.
  issuer.sign({ sub: mark, iat: now - 600, ...claims }, options)
const valid = await sign()
const [head = '', body = '', signature = ''] = valid.split('.')
const groupsOf = (count: number) => Array.from({ length: count }, (_, index) => `g${index}`)

type Row = readonly [what: string, status: number, token: string]

const signatures: readonly Row[] = [
  ['a good token', 200, valid],
  ['alg none', 401, unsigned({ alg: 'none' }, good, '')],
  ['alg none with a signature', 401, unsigned({ alg: 'none', kid: 'first' })],
  ['alg None', 401, unsigned({ alg: 'None', kid: 'first' })],
  ['alg NONE without a key id', 401, unsigned({ alg: 'NONE' })],
  ['alg missing', 401, unsigned({ kid: 'first' })],
  ['alg a number', 401, unsigned({ alg: 256, kid: 'first' })],
  ['alg a list', 401, unsigned({ alg: ['RS256'], kid: 'first' })],
  ['alg unheard of', 401, unsigned({ alg: 'XX999', kid: 'first' })],
  ['HS256 with the public key as PEM', 401, hmac(publicPem)],
  ['HS256 with the trimmed PEM', 401, hmac(publicPem.trim())],
  ['HS256 with the modulus', 401, hmac(String(issuer.key.jwk.n))],
  ['HS512 with the public key', 401, hmac(publicPem, 'HS512')],
  ['HS256 with an empty key', 401, hmac('')],
  ['another key under the same id', 401, await sign({}, { key: rogue })],
  ['an unknown key', 401, await sign({}, { key: unknown })],
  ['another kind of key under the same id', 401, await sign({}, { key: elliptic })],
  [
    'a key of its own in the header',
    401,
    await sign({}, { key: rogue, header: { jwk: rogue.jwk } }),
  ],
  [
    'a place to fetch the key from',
    401,
    await sign({}, { key: rogue, header: { jku: 'http://127.0.0.1:1/keys' } }),
  ],
  [
    'a certificate of its own',
    401,
    await sign({}, { key: rogue, header: { x5c: [Buffer.from(publicPem).toString('base64')] } }),
  ],
  ['a path as key id', 401, await sign({}, { key: rogue, header: { kid: '../../etc/passwd' } })],
  ['a query as key id', 401, await sign({}, { key: rogue, header: { kid: "' OR '1'='1" } })],
  ['an object as key id', 401, unsigned({ alg: 'RS256', kid: { first: 1 } })],
  ['an unknown critical header', 401, unsigned({ alg: 'RS256', kid: 'first', crit: ['x'], x: 1 })],
  [
    'an unencoded payload',
    401,
    unsigned({ alg: 'RS256', kid: 'first', crit: ['b64'], b64: false }),
  ],
  ['an empty signature', 401, `${head}.${body}.`],
  ['no signature', 401, `${head}.${body}`],
  ['half of a signature', 401, `${head}.${body}.${signature.slice(0, 100)}`],
  [
    'a signature turned around',
    401,
    `${head}.${body}.${signature.split('').toReversed().join('')}`,
  ],
  ['the signature of another token', 401, `${head}.${part({ ...good, sub: 'x' })}.${signature}`],
  ['another header', 401, `${part({ alg: 'PS256', kid: 'first' })}.${body}.${signature}`],
  ['an encrypted token', 401, `${part({ alg: 'dir', enc: 'A256GCM' })}..iv.text.tag`],
  ['a logout token', 401, await sign({}, { header: { typ: 'logout+jwt' } })],
  ['a type that is a number', 401, await sign({}, { header: { typ: 7 } })],
]

const claims: readonly Row[] = [
  ['another issuer', 401, await sign({ iss: 'https://evil.example' })],
  ['issuer with a slash', 401, await sign({ iss: `${issuer.url}/` })],
  ['issuer in capitals', 401, await sign({ iss: issuer.url.toUpperCase() })],
  ['issuer with more behind it', 401, await sign({ iss: `${issuer.url}.evil.example` })],
  ['issuer in a list', 401, await sign({ iss: [issuer.url] })],
  ['issuer a number', 401, await sign({ iss: 1 })],
  ['issuer null', 401, await sign({ iss: null })],
  ['issuer missing', 401, await sign({ iss: undefined })],
  ['another audience', 401, await sign({ aud: 'other' })],
  ['audience in capitals', 401, await sign({ aud: 'DEPOT' })],
  ['audience with a blank', 401, await sign({ aud: 'depot ' })],
  ['audience part of a word', 401, await sign({ aud: 'depot-admin' })],
  ['audience missing', 401, await sign({ aud: undefined })],
  ['audience an empty list', 401, await sign({ aud: [] })],
  ['audience a list of others', 401, await sign({ aud: ['a', 'b'] })],
  ['audience a list in a list', 401, await sign({ aud: [['depot']] })],
  ['audience an object', 401, await sign({ aud: { depot: true } })],
  ['audience a number', 401, await sign({ aud: 1 })],
  ['audience a list with ours', 200, await sign({ aud: ['other', 'depot'] })],
  ['expired', 401, await sign({ exp: now - 60 })],
  ['expired for long', 401, await sign({ exp: 1 })],
  ['expiry zero', 401, await sign({ exp: 0 })],
  ['expiry negative', 401, await sign({ exp: -1 })],
  ['expiry missing', 401, await sign({ exp: undefined })],
  ['expiry null', 401, await sign({ exp: null })],
  ['expiry as text', 401, await sign({ exp: String(now + 3600) })],
  ['expiry in a list', 401, await sign({ exp: [now + 3600] })],
  ['not yet valid', 401, await sign({ nbf: now + 3600 })],
  ['validity begins with a text', 401, await sign({ nbf: 'now' })],
  ['clocks that differ by seconds', 200, await sign({ nbf: now + 10 })],
  ['issued at a text', 401, await sign({ iat: 'now' })],
  ['subject missing', 401, await issuer.sign({ sub: undefined })],
  ['subject empty', 401, await issuer.sign({ sub: '' })],
  ['subject a number', 401, await issuer.sign({ sub: 0 })],
  ['subject an object', 401, await issuer.sign({ sub: {} })],
  ['groups missing', 403, await sign({ groups: undefined })],
  ['groups null', 403, await sign({ groups: null })],
  ['groups one text', 200, await sign({ groups: 'platform' })],
  ['groups one text with a comma', 403, await sign({ groups: 'platform,dev' })],
  ['groups a number', 403, await sign({ groups: 7 })],
  ['groups true', 403, await sign({ groups: true })],
  ['groups an object', 403, await sign({ groups: { platform: true } })],
  ['groups in a list in a list', 403, await sign({ groups: [['platform']] })],
  ['groups with a number', 403, await sign({ groups: ['platform', 7] })],
  ['groups with null', 403, await sign({ groups: ['platform', null] })],
  ['groups under another name', 403, await sign({ groups: undefined, roles: ['platform'] })],
  ['no groups at all', 403, await sign({ groups: [] })],
  ['a group in capitals', 403, await sign({ groups: ['PLATFORM'] })],
  ['a group with a blank', 403, await sign({ groups: ['platform '] })],
  ['a group that is an expression', 403, await sign({ groups: ['"platform" in groups'] })],
  ['a group called __proto__', 403, await sign({ groups: ['__proto__'] })],
  ['the group of a program', 403, await sign({ groups: ['client:ci'] })],
  ['3,000 groups, none of them right', 403, await sign({ groups: groupsOf(3000) })],
  ['10,000 groups', 401, await sign({ groups: groupsOf(10_000) })],
]

const authorizations: readonly (readonly [what: string, status: number, header: string])[] = [
  ['no scheme', 401, valid],
  ['an empty header', 401, ''],
  ['a scheme alone', 401, 'Bearer'],
  ['a scheme and blanks', 401, 'Bearer   '],
  ['Basic', 401, `Basic ${Buffer.from(`me:${mark}`).toString('base64')}`],
  ['Digest', 401, `Digest username="${mark}"`],
  ['Negotiate', 401, `Negotiate ${mark}`],
  ['Token', 401, `Token ${valid}`],
  ['Bearer: with a colon', 401, `Bearer: ${valid}`],
  ['a tab after the scheme', 401, `Bearer\t${valid}`],
  ['bearer in small letters', 200, `bearer ${valid}`],
  ['two blanks', 200, `Bearer  ${valid}`],
  ['two tokens', 401, `Bearer ${valid} ${valid}`],
  ['two headers with the same token', 401, `Bearer ${valid}, Bearer ${valid}`],
  ['two headers with different tokens', 401, `Bearer ${valid}, Bearer ${mark}`],
  ['a token in quotes', 401, `Bearer "${valid}"`],
  ['a token in braces', 401, `Bearer {${valid}}`],
  ['a text of one letter', 401, 'Bearer a'],
  ['dots alone', 401, 'Bearer ..'],
  ['thousands of dots', 401, `Bearer ${'.'.repeat(40_000)}`],
  ['three words', 401, `Bearer ${mark}.${mark}.${mark}`],
  ['a giant token', 401, `Bearer ${mark}${'a'.repeat(60_000)}`],
  ['a giant JWT', 401, `Bearer ${unsigned({ alg: 'RS256' }, { ...good, x: 'a'.repeat(50_000) })}`],
  ['JSON that is not an object', 401, `Bearer ${part(1)}.${part([])}.${mark}`],
  [
    'nested JSON',
    401,
    `Bearer ${Buffer.from('['.repeat(20_000)).toString('base64url')}.e30.${mark}`,
  ],
]

const me = { token: 'kube-allowed' }
const withUser = (user: object) => asToken(kubeconfigOf(user))
const withCluster = (of: object) => asToken(kubeconfigOf(me, of))
const { private: strangeKey, cert: strangeCert } = await generate(undefined, {
  keyType: 'ec',
  algorithm: 'sha256',
})
const otherKey = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({
  type: 'pkcs8',
  format: 'pem',
})
const b64 = (text: string) => Buffer.from(text).toString('base64')
const twoContexts = {
  ...kubeconfigOf(me),
  users: [
    { name: 'me', user: me },
    { name: 'other', user: { exec: { command: 'sh' } } },
  ],
  contexts: [
    { name: 'it', context: { cluster: 'it', user: 'me' } },
    { name: 'other', context: { cluster: 'it', user: 'other' } },
  ],
}
const bomb = `a: &a [x,x,x,x,x,x,x,x,x]\n${'bcdefghi'
  .split('')
  .map((name, index) => `${name}: &${name} [${`*${'abcdefgh'[index]},`.repeat(9)}]\n`)
  .join('')}current-context: it\n`

const kubeconfigs: readonly Row[] = [
  ['credentials alone', 200, withUser(me)],
  ['JSON', 200, asToken(JSON.stringify(kubeconfigOf(me)))],
  ['base64url without padding', 200, asToken(kubeconfigOf(me)).replaceAll('=', '')],
  ['our own server', 200, withCluster({ server: cluster.url })],
  [
    'another address of our own cluster',
    200,
    withCluster({
      server: 'https://k8s.example',
      'certificate-authority-data': b64(cluster.ca),
    }),
  ],
  ['a second context with exec, not current', 200, asToken(twoContexts)],
  ['that context made current', 401, asToken({ ...twoContexts, 'current-context': 'other' })],
  ['exec', 401, withUser({ ...me, exec: { command: 'sh', args: ['-c', mark] } })],
  ['auth-provider', 401, withUser({ ...me, 'auth-provider': { name: 'gcp' } })],
  ['tokenFile', 401, withUser({ tokenFile: '/etc/passwd' })],
  ['tokenFile beside a token', 401, withUser({ ...me, tokenFile: '/etc/passwd' })],
  ['a path of a certificate', 401, withUser({ 'client-certificate': '/a', 'client-key': '/b' })],
  ['a path of a key', 401, withUser({ ...me, 'client-key': '/etc/ssl/key.pem' })],
  ['a password', 401, withUser({ username: 'admin', password: mark })],
  ['impersonation', 401, withUser({ ...me, as: 'system:admin' })],
  ['impersonation of groups', 401, withUser({ ...me, 'as-groups': ['system:masters'] })],
  ['impersonation by uid', 401, withUser({ ...me, 'as-uid': '0' })],
  ['impersonation with extras', 401, withUser({ ...me, 'as-user-extra': { a: ['b'] } })],
  ['impersonation that is empty', 200, withUser({ ...me, as: '', 'as-groups': [] })],
  ['another server', 401, withCluster({ server: 'https://evil.example' })],
  [
    'another server with an authority of its own',
    401,
    withCluster({
      server: 'https://evil.example',
      'certificate-authority-data': b64(strangeCert),
    }),
  ],
  [
    'another server with both authorities',
    401,
    withCluster({
      server: 'https://evil.example',
      'certificate-authority-data': b64(cluster.ca + strangeCert),
    }),
  ],
  ['our server without TLS', 401, withCluster({ server: cluster.url.replace('https', 'http') })],
  ['our server as a user of another', 401, withCluster({ server: `${cluster.url}@evil.example` })],
  ['a server that is not a URL', 401, withCluster({ server: 'evil' })],
  ['a server that is a list', 401, withCluster({ server: [cluster.url] })],
  ['proxy-url', 401, withCluster({ server: cluster.url, 'proxy-url': 'http://evil.example' })],
  ['no TLS check', 401, withCluster({ server: cluster.url, 'insecure-skip-tls-verify': true })],
  [
    'a path of an authority',
    401,
    withCluster({ server: cluster.url, 'certificate-authority': '/a' }),
  ],
  ['no current context', 401, asToken({ ...kubeconfigOf(me), 'current-context': undefined })],
  [
    'a current context that is not there',
    401,
    asToken({ ...kubeconfigOf(me), 'current-context': 'x' }),
  ],
  [
    'a current context that is a list',
    401,
    asToken({ ...kubeconfigOf(me), 'current-context': ['it'] }),
  ],
  [
    'two contexts of one name',
    401,
    asToken({ ...twoContexts, contexts: [twoContexts.contexts[0], twoContexts.contexts[0]] }),
  ],
  [
    'two users of one name',
    401,
    asToken({ ...twoContexts, users: [twoContexts.users[0], { name: 'me', user: {} }] }),
  ],
  ['contexts as a map', 401, asToken({ ...kubeconfigOf(me), contexts: { it: { user: 'me' } } })],
  ['no user', 401, asToken({ ...kubeconfigOf(me), users: [] })],
  ['a user without credentials', 401, withUser({})],
  ['an empty token', 401, withUser({ token: '' })],
  ['a token that is a number', 401, withUser({ token: 7 })],
  ['a token that is a list', 401, withUser({ token: [mark] })],
  ['a token with a line break', 401, withUser({ token: `a\r\nX-Evil: ${mark}` })],
  ['a token that is not ASCII', 401, withUser({ token: 'тайна' })],
  ['a token that the cluster does not know', 401, withUser({ token: mark })],
  ['a certificate without a key', 401, withUser({ 'client-certificate-data': b64(strangeCert) })],
  ['a key without a certificate', 401, withUser({ 'client-key-data': b64(strangeKey) })],
  [
    'a key that is a path in base64',
    401,
    withUser({
      'client-certificate-data': b64(strangeCert),
      'client-key-data': b64('/etc/ssl/key.pem'),
    }),
  ],
  [
    'a key of another certificate',
    401,
    withUser({
      'client-certificate-data': b64(strangeCert),
      'client-key-data': b64(otherKey as string),
    }),
  ],
  [
    'a key that is broken',
    401,
    withUser({
      'client-certificate-data': b64(strangeCert),
      'client-key-data': b64(`-----BEGIN PRIVATE KEY-----\n${mark}\n-----END PRIVATE KEY-----\n`),
    }),
  ],
  [
    'a certificate that the cluster does not know',
    401,
    withUser({
      'client-certificate-data': b64(strangeCert),
      'client-key-data': b64(strangeKey),
    }),
  ],
  ['a YAML bomb', 401, asToken(bomb)],
  [
    'an anchor that is used',
    401,
    asToken(`x: &x {token: ${mark}}\nusers: [{name: me, user: *x}]\n`),
  ],
  ['a merge key', 401, asToken(`x: &x {current-context: it}\n<<: *x\n`)],
  ['a tag', 401, asToken('current-context: !!js/function "function () {}"\n')],
  ['two documents', 401, asToken(`a: 1\n---\nb: ${mark}\n`)],
  ['a key twice', 401, asToken(`current-context: it\ncurrent-context: ${mark}\n`)],
  ['thousands of brackets', 401, asToken('['.repeat(20_000))],
  ['thousands of levels', 401, asToken('- '.repeat(10_000))],
  ['thousands of entries', 401, asToken('a: b\n'.repeat(5000))],
  ['a list', 401, asToken('[]')],
  ['a number', 401, asToken('7')],
  ['nothing', 401, asToken(' ')],
  ['bytes that are not text', 401, Buffer.from([0, 255, 254, 0, 1]).toString('base64')],
  ['no base64', 401, `${mark}~~~`],
  ['half a kubeconfig', 401, asToken(kubeconfigOf(me)).slice(0, 96)],
  ['a giant one', 401, asToken({ ...kubeconfigOf(me), x: 'a'.repeat(37_000) })],
  ['a JWT', 401, valid],
]

const lines: string[] = []
const log = createLogger(
  'trace',
  new Writable({
    write(chunk, _encoding, done) {
      lines.push(String(chunk))
      done()
    },
  }),
)
const metrics = {
  people: createMetrics({ version: 'test' }),
  kubeconfig: createMetrics({ version: 'test' }),
  bearer: createMetrics({ version: 'test' }),
}
const auths: Auth[] = []
const apps = {} as Record<keyof typeof metrics, Routes>

beforeAll(async () => {
  const passthrough = {
    apiGroup: 'depot.internal',
    address: () => Promise.resolve({ server: cluster.url, ca: cluster.ca }),
    ttlMs: 10_000,
  }
  cluster.tokens.set('kube-allowed', () => 200)
  const people = fixture.auth({
    mode: 'oidc',
    oidc: oidcOptions(issuer.url),
    log,
    metrics: metrics.people,
  })
  const shared = { cluster: passthrough, log }
  const kubeconfig = fixture.auth({ mode: 'kubeconfig', ...shared, metrics: metrics.kubeconfig })
  const bearer = fixture.auth({ mode: 'bearer', ...shared, metrics: metrics.bearer })
  await people.started
  auths.push(people, kubeconfig, bearer)
  apps.people = fixture.app({ auth: people, log })
  apps.kubeconfig = fixture.app({ auth: kubeconfig, log })
  apps.bearer = fixture.app({ auth: bearer, log })
  return async () => {
    for (const auth of auths) await auth.close()
  }
})

const path = '/depot/modules/v1/platform/vpc-core/aws/versions'

async function attack(app: Routes, authorization: string, secrets: readonly string[], at = path) {
  const response = await app.request(at, { headers: { authorization } })
  const text = await response.text()
  const returned = JSON.stringify([...response.headers])
  for (const secret of secrets) expect(text + returned + lines.join('')).not.toContain(secret)
  const refused = response.status >= 400 ? JSON.parse(text) : { errors: ['nothing'] }
  expect(refused).toEqual({ errors: [expect.stringMatching(/\w{3}/)] })
  const challenge = response.headers.get('www-authenticate') ?? ''
  expect(challenge.startsWith('Bearer realm="depot"')).toBe(response.status === 401)
  return response.status
}

/** Texts that must not be found anywhere: a word of the attacker's, and pieces of the request. */
const secretsOf = (sent: string): string[] => [
  mark,
  ...(sent.match(/[\w-]{40}/g) ?? []).slice(0, 5),
]

it.each(signatures)('signature: %s is %i', async (_, status, token) => {
  expect(await attack(apps.people, `Bearer ${token}`, secretsOf(token))).toBe(status)
})

it.each(claims)('claim: %s is %i', async (_, status, token) => {
  expect(await attack(apps.people, `Bearer ${token}`, secretsOf(token))).toBe(status)
})

it.each(authorizations)('header: %s is %i', async (_, status, header) => {
  expect(await attack(apps.people, header, secretsOf(header))).toBe(status)
})

it.each(kubeconfigs)('kubeconfig: %s is %i', async (_, status, token) => {
  expect(await attack(apps.kubeconfig, `Bearer ${token}`, secretsOf(token))).toBe(status)
})

describe('names that lead elsewhere in the API of the cluster', () => {
  it.each([
    ['..', '/depot/modules/v1/platform/%2e%2e%2fsecrets/aws/versions'],
    ['a slash', '/depot/modules/v1/platform/vpc-core%2Fstatus/aws/versions'],
    ['a query', '/depot/modules/v1/platform/vpc-core%3Fwatch=1/aws/versions'],
    ['a fragment', '/depot/modules/v1/platform/vpc-core%23/aws/versions'],
    ['a NUL', '/depot/modules/v1/platform/vpc-core%00/aws/versions'],
    ['a line break', '/depot/modules/v1/platform/vpc%0d%0aX-Evil:%201/aws/versions'],
    ['capitals', '/depot/modules/v1/platform/VPC-CORE/aws/versions'],
    ['a namespace with a slash', '/depot/modules/v1/kube-system%2Fsecrets/x/aws/versions'],
    ['a provider with a slash', '/depot/providers/v1/platform/..%2F..%2Fsecrets/versions'],
    ['a very long name', `/depot/modules/v1/platform/${'a'.repeat(300)}/aws/versions`],
  ])('%s is 404, and nothing of it is asked for', async (_, at) => {
    const before = cluster.requests.length
    expect(await attack(apps.bearer, 'Bearer kube-allowed', [], at)).toBe(404)
    const asked = cluster.requests.slice(before).map((request) => request.path)
    expect(asked.filter((asking) => asking !== '/api')).toEqual([])
    expect(await attack(apps.bearer, `Bearer ${mark}`, [mark], at)).toBe(401)
  })
})

describe('names that are almost right', () => {
  it.each([
    ['a module in capitals', 404, '/depot/modules/v1/platform/VPC-CORE/aws/versions'],
    ['a module with capitals', 404, '/depot/modules/v1/platform/vpc-Core/aws/versions'],
    ['a namespace in capitals', 404, '/depot/modules/v1/PLATFORM/vpc-core/aws/versions'],
    ['a provider in capitals', 404, '/depot/providers/v1/platform/TOOL/versions'],
    ['a module that the glob leaves out', 404, '/depot/modules/v1/platform/secret/aws/versions'],
    ['a module behind a slash', 404, '/depot/modules/v1/platform/vpc-core%2Fx/aws/versions'],
    ['another namespace', 404, '/depot/modules/v1/kube-system/vpc-core/aws/versions'],
    ['a star', 404, '/depot/providers/v1/platform/*/versions'],
  ])('%s is %i', async (_, status, at) => {
    expect(await attack(apps.people, `Bearer ${valid}`, [], at)).toBe(status)
  })

  it('gives the same answer for hidden and missing modules', async () => {
    const answers = ['secret', 'nothing'].map(async (name) => {
      const at = `/depot/modules/v1/platform/${name}/aws/versions`
      const headers = { authorization: `Bearer ${valid}` }
      const response = await apps.people.request(at, { headers })
      return { status: response.status, text: (await response.text()).replaceAll(name, 'NAME') }
    })
    const [one, other] = await Promise.all(answers)
    expect(one).toEqual(other)
  })
})

describe('a request to the cluster', () => {
  it('has the credentials of the caller, and no header of the request', async () => {
    const before = cluster.requests.length
    cluster.tokens.set('kube-new', () => 200)
    const config = asToken(kubeconfigOf({ token: 'kube-new' }, { server: cluster.url }))
    await apps.kubeconfig.request('/depot/providers/v1/platform/tool/versions', {
      headers: {
        authorization: `Bearer ${config}`,
        'impersonate-user': 'system:admin',
        'impersonate-group': 'system:masters',
        'x-remote-user': 'admin',
        cookie: 'a=b',
      },
    })
    const asked = cluster.requests.slice(before)
    expect(asked.map((request) => request.path).toSorted()).toEqual([
      '/apis/depot.internal/v1alpha1/namespaces/platform/providers/tool',
      '/apis/depot.internal/v1alpha1/namespaces/platform/versions?limit=1',
    ])
    for (const { headers, token } of asked) {
      expect(token).toBe('kube-new')
      expect(Object.keys(headers).toSorted()).toEqual(
        ['accept', 'authorization', 'connection', 'host', 'user-agent'].toSorted(),
      )
    }
  })
})

it('none of it is in a metric', async () => {
  for (const registry of Object.values(metrics)) {
    const text = await registry.metrics()
    expect(text).toContain('depot_auth_requests_total')
    expect(text).not.toContain(mark)
    expect(text.match(/^depot_auth_requests_total/gm)?.length).toBeLessThan(20)
  }
})
