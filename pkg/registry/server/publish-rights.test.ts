import { afterAll, describe, expect, it } from 'vitest'
import type { Auth } from '../auth/auth.ts'
import { oidcOptions, TestIssuer } from '../auth/issuer.fixture.ts'
import { AccessFixture, TestCluster } from './access.fixture.ts'

const fixture = new AccessFixture()
const issuer = await TestIssuer.start()
const cluster = await TestCluster.start()
const auths: Auth[] = []
afterAll(async () => {
  for (const auth of auths) await auth.close()
  fixture[Symbol.dispose]()
  issuer.stop()
  cluster.stop()
})

const open = (options: Parameters<AccessFixture['auth']>[0]): Auth => {
  const auth = fixture.auth({
    cluster: {
      apiGroup: 'depot.internal',
      ttlMs: 60_000,
      address: async () => ({ server: cluster.url, ca: cluster.ca }),
    },
    ...options,
  })
  auths.push(auth)
  return auth
}

fixture.bind('platform', {
  expression: '"platform" in groups',
  moduleResources: ['*'],
  providerResources: ['*'],
  publishNamespaces: ['network'],
  publishModules: ['vpc-*', '[z'],
  publishProviders: ['cmdb'],
})
fixture.bind('readers', { expression: '"readers" in groups', moduleResources: ['*'] })

describe('a caller of the issuer', async () => {
  const auth = open({ mode: 'oidc', oidc: oidcOptions(issuer.url, { allowGuests: true }) })
  await auth.started

  it.each([
    ['platform', 'Module', 'network', 'vpc-core', true],
    ['platform', 'Module', 'network', 'dns', false],
    ['platform', 'Module', 'other', 'vpc-core', false],
    ['platform', 'Module', 'network-2', 'vpc-core', false],
    ['platform', 'Provider', 'network', 'cmdb', true],
    ['platform', 'Provider', 'network', 'vpc-core', false],
    ['readers', 'Module', 'network', 'vpc-core', false],
    ['none', 'Module', 'network', 'vpc-core', false],
  ] as const)('lets group %s publish %s %s/%s: %s', async (group, kind, namespace, name, may) => {
    const authorization = `Bearer ${await issuer.sign({ groups: [group] })}`
    expect(await auth.publishers.mayPublish({ authorization }, kind, namespace, name)).toBe(may)
  })

  it.each([
    ['platform', [{ namespace: 'network', modules: ['vpc-*', '[z'], providers: ['cmdb'] }]],
    ['readers', []],
    ['none', []],
  ])('lists where group %s may publish', async (group, items) => {
    const authorization = `Bearer ${await issuer.sign({ groups: [group] })}`
    expect(await auth.publishers.rightsOf({ authorization }, ['other'])).toEqual(items)
  })

  it('publishes nothing as a guest', async () => {
    const guest = { authorization: undefined }
    expect(await auth.publishers.mayPublish(guest, 'Module', 'network', 'vpc-core')).toBe(false)
    expect(await auth.publishers.rightsOf(guest, ['network'])).toEqual([])
  })
})

it('publishes nothing where callers are not identified', async () => {
  const auth = open({ mode: 'anonymous' })
  const anybody = { authorization: undefined }
  expect(await auth.publishers.mayPublish(anybody, 'Module', 'network', 'vpc-core')).toBe(false)
  expect(await auth.publishers.rightsOf(anybody, ['network'])).toEqual([])
})

it('leaves callers of the cluster to its RBAC rules, and remembers what they said', async () => {
  const auth = open({ mode: 'bearer' })
  const reviews = '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews'
  cluster.tokens.set('writer', (path) => (path === reviews ? 201 : 403))
  const ask = (token: string, namespace: string) =>
    auth.publishers.mayPublish({ authorization: `Bearer ${token}` }, 'Module', namespace, 'vpc')
  expect(await ask('writer', 'network')).toBe(true)
  expect(await ask('writer', 'network')).toBe(true)
  expect(cluster.requests.map(({ path }) => path)).toEqual([reviews])
  expect(await ask('writer', '../x')).toBe(false)
  await expect(ask('stranger', 'network')).rejects.toMatchObject({ reason: 'Unauthenticated' })
})

it('asks the cluster about the namespaces of the registry, for those who may publish there', async () => {
  const auth = open({ mode: 'bearer' })
  cluster.tokens.set('all', (path) => (path === '/api' ? 200 : 201))
  cluster.tokens.set('none', () => 200)
  const routes = fixture.app({ auth })
  fixture.add(
    'Module',
    'vpc',
    { spec: { moduleConfig: { provider: 'aws' } } },
    { namespace: 'network' },
  )
  fixture.add('Provider', 'cmdb', { spec: { providerConfig: {} } }, { namespace: 'assets' })
  const ask = async (headers: Record<string, string>) => {
    const answer = await routes.request('/depot/ui/v1/publish-rights', { headers })
    return { status: answer.status, body: await answer.json() }
  }
  const any = { modules: ['*'], providers: ['*'] }
  expect(await ask({ authorization: 'Bearer all' })).toEqual({
    status: 200,
    body: {
      overHttp: false,
      items: [
        { namespace: 'assets', ...any },
        { namespace: 'network', ...any },
      ],
    },
  })
  expect((await ask({ authorization: 'Bearer none' })).body).toEqual({ overHttp: false, items: [] })
  expect((await ask({})).body).toEqual({ overHttp: false, items: [] })
  expect((await ask({ authorization: 'Bearer stranger' })).status).toBe(401)
})
