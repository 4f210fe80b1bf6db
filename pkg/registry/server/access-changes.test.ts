import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { cpuTimeMs } from '../../../hack/testbed/cpu-time.ts'
import { createLogger, createMetrics } from '../../base/telemetry/telemetry.ts'
import type { Auth, ClusterAddress } from '../auth/auth.ts'
import { issuerKey, oidcOptions, TestIssuer } from '../auth/issuer.fixture.ts'
import { AccessFixture, TestCluster } from './access.fixture.ts'
import type { App } from './app.ts'
import { startServer } from './server.ts'

type Routes = App['routes']

/* Changes between two requests: bindings, keys, providers and clusters that change, come and go. */

let fixture: AccessFixture
let issuer: TestIssuer
const auths: Auth[] = []

beforeEach(async () => {
  fixture = new AccessFixture()
  issuer = await TestIssuer.start()
  fixture.publicNamespace('platform')
  fixture.module('vpc')
  fixture.version('Module', 'vpc', '1.0.0')
})
afterEach(async () => {
  for (const auth of auths.splice(0)) await auth.close()
  issuer.stop()
  fixture[Symbol.dispose]()
})

const oidc = () => oidcOptions(issuer.url)

function open(options: Partial<Parameters<AccessFixture['auth']>[0]> = {}): [Routes, Auth] {
  const auth = fixture.auth({ mode: 'oidc', oidc: oidc(), ...options })
  auths.push(auth)
  return [fixture.app({ auth }), auth]
}

const path = '/depot/modules/v1/platform/vpc/aws/versions'

async function statusOf(app: Routes, token: string, at = path): Promise<number> {
  return (await app.request(at, { headers: { authorization: `Bearer ${token}` } })).status
}

describe('GroupBindings', () => {
  const everything = { expression: '"platform" in groups', moduleResources: ['*'] }

  it('take effect at once when they come, change, break, are fixed and go', async () => {
    const [app, auth] = open()
    await auth.started
    const token = await issuer.sign()
    const list = '/depot/ui/v1/resources/platform/module/vpc'
    const both = async () => [await statusOf(app, token), await statusOf(app, token, list)]
    expect(await both()).toEqual([403, 404])
    fixture.bind('platform', everything)
    expect(await both()).toEqual([200, 200])
    fixture.bind('platform', { ...everything, moduleResources: ['other'] })
    expect(await both()).toEqual([404, 404])
    fixture.bind('platform', { ...everything, expression: '"platform" in' })
    expect(await both()).toEqual([403, 403])
    fixture.bind('platform', everything)
    expect(await both()).toEqual([200, 200])
    fixture.unbind('platform')
    expect(await both()).toEqual([403, 404])
  })

  it('are asked by name, and the first that matches decides', async () => {
    const [app, auth] = open()
    await auth.started
    fixture.bind('b', everything)
    fixture.bind('a', { ...everything, moduleResources: [] })
    expect(await statusOf(app, await issuer.sign())).toBe(404)
    fixture.bind('c', { expression: 'groups[' })
    expect(await statusOf(app, await issuer.sign())).toBe(404)
    fixture.bind('0', { expression: 'groups[' })
    expect(await statusOf(app, await issuer.sign())).toBe(403)
  })

  it.each([
    [
      'matches with itself',
      'groups[0] matches "(a+)+$"',
      ['aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!'],
    ],
    ['loops in loops', 'all(1..2000, all(1..2000, # > 0))', ['x']],
    ['a list that is not long enough', 'groups[1000] == "x"', ['x']],
    ['text that grows', 'repeat("x", 100000000) == ""', ['x']],
    ['no truth value', '1 + 1', ['x']],
    ['an unknown name', 'user == "x"', ['x']],
    ['half an expression', '"x" in', ['x']],
  ])('%s: never lets anybody in, and never takes long', async (_, expression, groups) => {
    const [app, auth] = open()
    await auth.started
    fixture.bind('bad', { expression, moduleResources: ['*'] })
    const start = cpuTimeMs()
    expect(await statusOf(app, await issuer.sign({ groups }))).toBe(403)
    expect(cpuTimeMs() - start).toBeLessThan(5000)
  })

  it('are counted if they do not compile', async () => {
    const { metrics } = fixture
    const invalid = async () =>
      /^depot_groupbindings_invalid (\d+)/m.exec(await metrics.metrics())?.[1]
    fixture.bind('bad', { expression: 'groups[' })
    fixture.bind('worse', { expression: 'true', moduleResources: ['[a'] })
    fixture.bind('good', { expression: 'true' })
    expect(await invalid()).toBe('2')
    fixture.bind('bad', { expression: 'true' })
    fixture.unbind('worse')
    expect(await invalid()).toBe('0')
  })
})

describe('keys', () => {
  beforeEach(() => fixture.bind('all', { expression: 'true', moduleResources: ['*'] }))

  it('are fetched when the first token names a new one, and known ones need no fetch', async () => {
    const timings = { unknownKeyMs: 0 }
    const [app, auth] = open({ oidc: { ...oidc(), timings } })
    await auth.started
    const before = await issuer.sign()
    const next = await issuerKey('second')
    issuer.published.push(next.jwk)
    expect(await statusOf(app, await issuer.sign({}, { key: next }))).toBe(200)
    issuer.unreachable = true
    expect(await statusOf(app, before)).toBe(200)
    expect(await statusOf(app, await issuer.sign({ sub: 'bob' }))).toBe(200)
    const third = await issuerKey('third')
    expect(await statusOf(app, await issuer.sign({}, { key: third }))).toBe(503)
    expect(await statusOf(app, await issuer.sign({ iat: 1 }, { key: third }))).toBe(401)
    expect(await statusOf(app, before)).toBe(200)
  })

  it('are not fetched again and again for key ids that do not exist', async () => {
    const [app, auth] = open()
    await auth.started
    for (let count = 0; count < 5; count++) {
      const key = await issuerKey(`made-up-${count}`, 'ES256')
      expect(await statusOf(app, await issuer.sign({ iat: 1 }, { key }))).toBe(401)
      expect(await statusOf(app, await issuer.sign({}, { key }))).toBe(503)
    }
    expect(issuer.keyFetches).toBe(1)
  })

  it('end the tokens that they signed when they are withdrawn', async () => {
    const [app, auth] = open({ oidc: { ...oidc(), timings: { refreshMs: 20 } } })
    await auth.started
    const token = await issuer.sign()
    expect(await statusOf(app, token)).toBe(200)
    issuer.published = [(await issuerKey('second')).jwk]
    await vi.waitFor(async () => expect(await statusOf(app, token)).not.toBe(200), 5000)
  })

  it('make a token valid until it expires, and no longer', async () => {
    let nowMs = Date.now()
    const [app, auth] = open({ clock: () => nowMs })
    await auth.started
    const token = await issuer.sign({ exp: Math.floor(nowMs / 1000) + 60 })
    expect(await statusOf(app, token)).toBe(200)
    nowMs += 80_000
    expect(await statusOf(app, token)).toBe(200)
    nowMs += 20_000
    expect(await statusOf(app, token)).toBe(401)
  })
})

describe('an issuer', () => {
  it('is retried if it is unreachable at start; discovery uses the options of the operator', async () => {
    issuer.unreachable = true
    const timings = { firstRetryMs: 20, maxRetryMs: 20 }
    const [authzUrl, tokenUrl] = ['https://login.example/a', 'https://login.example/t']
    const [app, auth] = open({ oidc: { ...oidc(), timings, authzUrl, tokenUrl } })
    const discovery = async () => (await app.request('/.well-known/terraform.json')).json()
    await vi.waitFor(() => expect(auth.impaired()).toEqual([expect.stringMatching(/fetched: \S/)]))
    expect(await discovery()).toMatchObject({ 'login.v1': { authz: authzUrl, token: tokenUrl } })
    expect(await statusOf(app, await issuer.sign())).toBe(503)
    issuer.unreachable = false
    await auth.started
    expect(auth.impaired()).toEqual([])
  })

  it('is asked where to log in, unless an option says it', async () => {
    const [app, auth] = open({ oidc: { ...oidc(), tokenUrl: 'https://login.example/t' } })
    await auth.started
    const answer = await (await app.request('/.well-known/registry.json')).json()
    expect(answer).toMatchObject({
      'login.v1': { authz: `${issuer.url}/auth`, token: 'https://login.example/t' },
    })
  })

  it('ends the start if its metadata has another name', async () => {
    issuer.metadata = { issuer: `${issuer.url}/`, jwks_uri: `${issuer.url}/keys` }
    const [, auth] = open()
    await expect(auth.started).rejects.toThrow(/calls itself .*write it exactly like that/)
  })

  it('is not needed: without OIDC discovery has no login', async () => {
    const [app] = open({ mode: 'anonymous' })
    expect(await (await app.request('/.well-known/terraform.json')).json()).not.toHaveProperty([
      'login.v1',
    ])
  })
})

describe('the cluster', () => {
  let cluster: TestCluster
  beforeEach(async () => {
    cluster = await TestCluster.start()
    cluster.tokens.set('good', () => 200)
  })
  afterEach(() => cluster.stop())

  const passthrough = (ttlMs: number, address?: () => Promise<ClusterAddress>) => ({
    apiGroup: 'depot.internal',
    ttlMs,
    address: address ?? (() => Promise.resolve({ server: cluster.url, ca: cluster.ca })),
  })

  it('is asked once for the same question of many callers, and again when the answer is old', async () => {
    let nowMs = 0
    const [app] = open({ mode: 'bearer', cluster: passthrough(1000), clock: () => nowMs })
    const many = Array.from({ length: 20 }, () => statusOf(app, 'good'))
    expect(new Set(await Promise.all(many))).toEqual(new Set([200]))
    expect(await statusOf(app, 'good')).toBe(200)
    expect(cluster.requests).toHaveLength(2)
    nowMs = 1500
    cluster.tokens.set('good', () => 403)
    expect(await statusOf(app, 'good')).toBe(403)
    expect(cluster.requests).toHaveLength(4)
  })

  it('is asked every time if nothing may be remembered', async () => {
    const [app] = open({ mode: 'bearer', cluster: passthrough(0) })
    for (let count = 0; count < 3; count++) expect(await statusOf(app, 'good')).toBe(200)
    expect(cluster.requests).toHaveLength(6)
  })

  it.each([500, 429, 302])(
    'has not decided with %i: callers get 503, and it is asked again',
    async (code) => {
      const [app] = open({ mode: 'bearer', cluster: passthrough(10_000) })
      cluster.tokens.set('good', () => code)
      expect(await statusOf(app, 'good')).toBe(503)
      cluster.tokens.set('good', () => 200)
      expect(await statusOf(app, 'good')).toBe(200)
    },
  )

  it('leads to 503 with Retry-After while it is unreachable, and its earlier answers stay valid', async () => {
    const [app] = open({ mode: 'bearer', cluster: passthrough(10_000) })
    expect(await statusOf(app, 'good')).toBe(200)
    cluster.stop()
    const other = await app.request('/depot/modules/v1/platform/other/aws/versions', {
      headers: { authorization: 'Bearer good' },
    })
    expect([other.status, other.headers.get('retry-after')]).toEqual([503, '5'])
    expect(await statusOf(app, 'good')).toBe(200)
  })

  it('leads to 503 if its address is unknown', async () => {
    const failing = () => Promise.reject(new Error('the plugin of the server failed'))
    const [app] = open({ mode: 'bearer', cluster: passthrough(10_000, failing) })
    expect(await statusOf(app, 'good')).toBe(503)
  })

  it('gets no credentials if its certificate is not trusted', async () => {
    const strange = await TestCluster.start()
    const address = { server: cluster.url, ca: strange.ca }
    const [app] = open({ mode: 'bearer', cluster: passthrough(0, () => Promise.resolve(address)) })
    expect(await statusOf(app, 'good')).toBe(503)
    expect(cluster.requests).toHaveLength(0)
    strange.stop()
  })
})

it('two Authorization headers are refused, and the log tells callers apart, not who they are', async () => {
  fixture.bind('all', { expression: 'true', moduleResources: ['*'] })
  const [, auth] = open()
  await auth.started
  const lines: string[] = []
  const anywhere = { host: '127.0.0.1', port: 0 }
  const server = await startServer({
    listen: anywhere,
    adminListen: anywhere,
    catalog: fixture.catalog,
    archives: fixture.archives,
    auth,
    log: createLogger('info', { write: (line) => void lines.push(line) }),
    metrics: createMetrics({ version: 'test' }),
    waitingFor: () => [],
  })
  const header = `Authorization: Bearer ${await issuer.sign()}\r\n`
  const ask = async (headers: string): Promise<string> => {
    const socket = connect(Number(new URL(server.url).port), '127.0.0.1')
    socket.write(`GET ${path} HTTP/1.1\r\nHost: it\r\nConnection: close\r\n${headers}\r\n`)
    return (await text(socket)).slice(0, 12)
  }
  expect(await ask(header)).toBe('HTTP/1.1 200')
  expect(await ask(header)).toBe('HTTP/1.1 200')
  expect(await ask(header + header)).toBe('HTTP/1.1 401')
  await server.stop(1000)
  await vi.waitFor(() => expect(lines.join('').match(/"msg":"request"/g)).toHaveLength(3))
  const entries = lines
    .join('')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as object)
  const known = {
    mode: 'oidc',
    view: 'binding all',
    callerHash: expect.stringMatching(/^[\w-]{12}$/),
  }
  expect(entries).toMatchObject([known, known, { mode: 'oidc', status: 401 }])
  expect(entries[0]).toHaveProperty('callerHash', Reflect.get(entries[1] ?? {}, 'callerHash'))
  expect(entries[2]).toMatchObject({
    callerHash: expect.stringMatching(/^[\w-]{12}$/),
    err: { reason: 'MalformedCredentials', message: expect.stringContaining('more than one') },
  })
  expect(lines.join('')).not.toMatch(/alice|eyJ/)
})

it('a slow API server fails none of those that wait: the deadline of a question starts when it is sent', async () => {
  const cluster = await TestCluster.start()
  // Six rounds of ten take longer than the 5 s that a question has, of which each leaves 4 s to a busy machine.
  cluster.delayMs = 1000
  const [app] = open({
    mode: 'bearer',
    cluster: {
      apiGroup: 'depot.internal',
      ttlMs: 600_000,
      connections: 10,
      address: () => Promise.resolve({ server: cluster.url, ca: cluster.ca }),
    },
  })
  const callers = Array.from({ length: 60 }, (_, index) => `caller-${index}`)
  for (const caller of callers) cluster.tokens.set(caller, () => 200)
  const statuses = await Promise.all(callers.map((caller) => statusOf(app, caller)))
  expect(statuses.filter((status) => status === 200)).toHaveLength(60)
  // The Versions of a namespace are asked for once a caller, whatever is read in it.
  fixture.module('other')
  fixture.version('Module', 'other', '1.0.0')
  const before = cluster.requests.length
  const other = '/depot/modules/v1/platform/other/aws/versions'
  expect(await statusOf(app, 'caller-0', other)).toBe(200)
  expect(cluster.requests.length - before).toBe(1)
  cluster.stop()
})
