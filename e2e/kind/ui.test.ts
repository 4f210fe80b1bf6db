import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Workspace } from '../../hack/testbed/cli/cli.ts'
import { type Seen, Visitor } from '../../hack/testbed/explorer/visitor.ts'
import { writeCertificate } from '../../hack/testbed/server/certificate.ts'
import { apply, kind, kubectlHere, namespace, until } from './cluster.fixture.ts'
import { gateway, ingressClass, startIngress, stopIngress } from './ingress.fixture.ts'
import {
  type Answer,
  get,
  install,
  makeNamespace,
  podsOf,
  prepare,
  url,
} from './release.fixture.ts'

/*
 * The explorer in front of the registry: which of them answers each path, for every way in, and signing in with two replicas.
 * A VirtualService is not among the ways, because Istio is not available here without a registry of images. Envoy is tested
 * with its rules in hack/chart/routing.test.ts.
 */

const ui = `http://127.0.0.1:${kind.ports[1]}`
const issuer = `${ui}/broker`
const proxy = `http://localhost:${kind.ports[3]}`

/** Hosts of the Ingress, which `proxy` shares, and of the HTTPRoute. */
const [ofIngress, ofRoute] = ['localhost', 'route.depot.test']

/** Each way to reach the explorer or the registry. */
const ways: Readonly<Record<string, (path: string) => Promise<Answer>>> = {
  'its own port': (path) => get(`${ui}${path}`),
  'an Ingress': (path) => get(`${proxy}${path}`),
  'an HTTPRoute': (path) => get(`${proxy}${path}`, { host: ofRoute }),
}
const entrances = {
  ingress: { enabled: true, className: ingressClass, hosts: [{ host: ofIngress }] },
  route: { enabled: true, parentRefs: [gateway], hostnames: [ofRoute] },
}

const network =
  'module "network" {\n  source  = "depot.test/platform/network/aws"\n  version = "2.0.0"\n}\n'

beforeAll(async () => {
  await makeNamespace()
  await startIngress(30_003)
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
      ...entrances,
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

afterAll(async () => {
  await stopIngress()
})

describe.each(Object.entries(ways))('through %s', (_, through) => {
  beforeAll(async () => {
    for (const path of ['/', '/depot/ui/v1/stats'])
      await until(
        () => through(path),
        ({ status }) => status === 200,
      )
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
    const { headers } = await through(path)
    const isPage = String(headers['content-type']).startsWith('text/html')
    expect(isPage ? 'ui' : 'server').toBe(component)
  })
})

it('terraform init through an Ingress installs a module', async () => {
  const workspace = new Workspace(kind.tools.terraform, proxy, network)
  await workspace.must('init')
  expect(workspace.modules()['network']?.version).toBe('2.0.0')
})

it('the explorer forwards the server’s answers unchanged', async () => {
  const path = '/depot/modules/v1/platform/network/aws/versions'
  const [through, directly] = [await get(`${ui}${path}`), await get(`${url}${path}`)]
  expect(through).toMatchObject({ status: 200, text: directly.text })
})

it('both replicas know a person who has signed in', async () => {
  expect(await podsOf('ui')).toHaveLength(2)
  const visitor = new Visitor()
  await until(
    () => visitor.signIn(`${ui}/auth/login`),
    ({ status, url: ended }: Seen) => status === 200 && ended.startsWith(ui),
  )
  const cookie = Array.from(visitor.cookies(ui), ([name, value]) => `${name}=${value}`).join('; ')
  // Each over a new connection, so that either replica may answer.
  for (let count = 0; count < 20; count += 1) {
    const headers = { cookie, 'sec-fetch-site': 'same-origin', 'sec-fetch-mode': 'cors' }
    const { status, text } = await get(`${ui}/-/api/whoami`, headers)
    expect([status, JSON.parse(text)]).toEqual([
      200,
      expect.objectContaining({ kind: 'user', groups: ['authors'] }),
    ])
  }
})

describe('without the explorer', () => {
  beforeAll(async () => {
    await install({ server: { anonymousAuth: true, ...entrances } })
  })

  it.each(Object.entries(ways).slice(1))('%s only leads to the server', async (_, through) => {
    const { text } = await until(
      () => through('/depots'),
      ({ headers }) => String(headers['content-type']).startsWith('application/json'),
    )
    expect(text).not.toContain('<html')
    expect((await through('/.well-known/terraform.json')).status).toBe(200)
  })

  it('tofu init through an Ingress installs a module', async () => {
    const workspace = new Workspace(kind.tools.tofu, proxy, network)
    await workspace.must('init')
    expect(workspace.modules()['network']?.version).toBe('2.0.0')
  })
})

it('works with a Secret of `kubectl create secret tls`, which has no ca.crt', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'depot-e2e-tls-'))
  const { certPath, keyPath } = await writeCertificate(
    dir,
    `depot-server.${namespace}.svc.cluster.local`,
  )
  await kubectlHere(
    'create',
    'secret',
    'tls',
    'plain-tls',
    `--cert=${certPath}`,
    `--key=${keyPath}`,
  )
  rmSync(dir, { recursive: true })
  await install({
    server: { anonymousAuth: true, tls: { enabled: true, secretName: 'plain-tls' } },
    ui: {
      enabled: true,
      sessionPasswordSecretName: 'session',
      service: { type: 'NodePort', nodePort: 30_001 },
      // An authority that the system trusts.
      extraEnv: [{ name: 'NODE_EXTRA_CA_CERTS', value: '/etc/trusted/tls.crt' }],
      extraVolumes: [{ name: 'trusted', secret: { secretName: 'plain-tls' } }],
      extraVolumeMounts: [{ name: 'trusted', mountPath: '/etc/trusted', readOnly: true }],
    },
  })
  await until(
    () => get(`${ui}/depot/modules/v1/platform/network/aws/versions`),
    ({ status }) => status === 200,
  )
  expect((await get(`${ui}/`)).status).toBe(200)
  await kubectlHere('delete', 'secret', 'plain-tls')
})
