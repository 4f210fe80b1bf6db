import { beforeAll, expect, it } from 'vitest'
import { type Seen, Visitor } from '../../hack/testbed/explorer/visitor.ts'
import { apply, kind, namespace, until } from './cluster.fixture.ts'
import { get, install, makeNamespace, podsOf, prepare, url } from './release.fixture.ts'

/* The explorer in front of the registry: who answers which path, and signing in with two replicas. */

const ui = `http://127.0.0.1:${kind.ports[1]}`
const issuer = `${ui}/broker`

beforeAll(async () => {
  await makeNamespace()
  const secret = (name: string, stringData: object): object => ({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name, namespace },
    stringData,
  })
  await apply([
    secret('session', { sessionPassword: 'a password of the suite with more than 32 characters' }),
    secret('ui-client', { clientSecret: 'the secret of the explorer' }),
    secret('broker-client', { clientSecret: 'the secret of the machines' }),
  ])
  await install({
    server: {
      anonymousAuth: true,
      oidc: {
        enabled: true,
        issuerUrl: issuer,
        clientSecretName: 'broker-client',
        brokerProxy: { enabled: true },
      },
    },
    ui: {
      enabled: true,
      replicaCount: 2,
      baseUrl: ui,
      sessionPasswordSecretName: 'session',
      service: { type: 'NodePort', nodePort: 30_001 },
      oidc: { enabled: true, clientSecretName: 'ui-client' },
    },
    broker: {
      enabled: true,
      config: { connectors: [{ type: 'mockCallback', id: 'mock', name: 'Mock' }] },
    },
  })
  await prepare()
  await apply([
    {
      apiVersion: 'depot.internal/v1alpha1',
      kind: 'GroupBinding',
      metadata: { name: 'authors', namespace },
      spec: { expression: '"authors" in groups', moduleResources: ['labels'] },
    },
  ])
})

it.each([
  ['/.well-known/terraform.json', 'server'],
  ['/depot/modules/v1/platform/network/aws/versions', 'server'],
  ['/depot/ui/v1/stats', 'server'],
  ['/depot/nothing%2Fhere', 'server'],
  ['/broker/.well-known/openid-configuration', 'server'],
  ['/', 'ui'],
  ['/depots', 'ui'],
  ['/depotx', 'ui'],
  ['/brokers', 'ui'],
])('%s is answered by the %s', async (path, component) => {
  const { headers } = await get(`${ui}${path}`)
  const isPage = String(headers['content-type']).startsWith('text/html')
  expect(isPage ? 'ui' : 'server').toBe(component)
})

it('what passes through the explorer is what the server says', async () => {
  const path = '/depot/modules/v1/platform/network/aws/versions'
  const [through, directly] = [await get(`${ui}${path}`), await get(`${url}${path}`)]
  expect(through).toMatchObject({ status: 200, text: directly.text })
})

it('a person who has signed in is known to both replicas', async () => {
  expect(await podsOf('ui')).toHaveLength(2)
  const visitor = new Visitor()
  await until(
    () => visitor.signIn(`${ui}/auth/login`),
    ({ status, url: ended }: Seen) => status === 200 && ended.startsWith(ui),
  )
  const cookie = Array.from(visitor.cookies(ui), ([name, value]) => `${name}=${value}`).join('; ')
  // Each over a new connection, so that either replica may be asked.
  for (let count = 0; count < 20; count += 1) {
    const headers = { cookie, 'sec-fetch-site': 'same-origin', 'sec-fetch-mode': 'cors' }
    const { status, text } = await get(`${ui}/-/api/whoami`, headers)
    expect([status, JSON.parse(text)]).toEqual([
      200,
      expect.objectContaining({ kind: 'user', groups: ['authors'] }),
    ])
  }
})
