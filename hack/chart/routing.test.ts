import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { find, type Rendered, render } from './helm.fixture.ts'
import { type Mesh, startMesh } from './virtual-service.fixture.ts'

const host = 'depot.example.com'
const hosts = [{ host }]

/** The target of each path, in every object that routes. */
const paths: readonly (readonly [path: string, to: 'server' | 'ui'])[] = [
  ['/depot', 'server'],
  ['/depot/', 'server'],
  ['/depot/modules/v1/platform/vpc/aws/versions', 'server'],
  ['/depot/x%2Fy/z', 'server'],
  ['/v1/modules/platform/vpc/aws/versions', 'server'],
  ['/v1/providers/platform/hello/versions', 'server'],
  ['/.well-known', 'server'],
  ['/.well-known/terraform.json', 'server'],
  ['/broker/auth', 'server'],
  ['/broker', 'server'],
  ['/', 'ui'],
  ['/depots', 'ui'],
  ['/depotx', 'ui'],
  ['/depots/graph', 'ui'],
  ['/brokers', 'ui'],
  ['/.well-knownx', 'ui'],
  ['/v1', 'ui'],
  ['/v1/modulesx', 'ui'],
  ['/platform/module/vpc', 'ui'],
]

const proxied = {
  broker: { enabled: true, config: { enablePasswordDB: true } },
  crds: { install: false },
  server: {
    oidc: {
      enabled: true,
      issuerUrl: `https://${host}/broker`,
      clientSecretName: 'client',
      brokerProxy: { enabled: true },
    },
  },
}
const explorer = { enabled: true, sessionPasswordSecretName: 'session' }

/** `pathType: Prefix` and `PathPrefix` match whole elements. The longest match wins. */
function byElements(
  rules: readonly (readonly [prefix: string, to: string])[],
  path: string,
): string {
  const matching = rules.filter(([prefix]) => {
    const bare = prefix.replace(/\/$/, '')
    return path === bare || path.startsWith(`${bare}/`)
  })
  const [longest] = matching.toSorted(([a], [b]) => b.length - a.length)
  return longest?.[1] ?? 'nowhere'
}

function ofIngress(ingress: Rendered, path: string): string {
  const rules = ingress.spec?.rules?.[0]?.http?.paths ?? []
  expect(rules.every(({ pathType }) => pathType === 'Prefix')).toBe(true)
  return byElements(
    rules.map(({ path: prefix, backend }) => [prefix, backend.service.name]),
    path,
  )
}

function ofRoute(route: Rendered, path: string): string {
  const rules = (route.spec?.rules ?? []).flatMap(({ matches = [], backendRefs = [] }) =>
    matches.map(({ path: { value } }) => [value, backendRefs[0]?.name ?? ''] as const),
  )
  return byElements(rules, path)
}

/** Asks Envoy, while the tests of a block run. */
function meshOf(objects: readonly Rendered[]): (path: string) => Promise<string> {
  let mesh: Mesh | undefined
  beforeAll(async () => {
    mesh = await startMesh(find(objects, 'VirtualService', 'depot-server'))
  })
  afterAll(() => mesh?.close())
  return async (path) => (await mesh?.to(path)) ?? 'nowhere'
}

describe('with the explorer', () => {
  const objects = render({
    ...proxied,
    server: {
      ...proxied.server,
      ingress: { enabled: true, hosts, istio: { enabled: true, hosts: [host], gateway: 'public' } },
      route: { enabled: true, parentRefs: [{ name: 'public' }], hostnames: [host] },
    },
    ui: {
      ...explorer,
      ingress: { enabled: true, hosts },
      route: { enabled: true, parentRefs: [{ name: 'public' }], hostnames: [host] },
    },
  })

  const throughMesh = meshOf(objects)

  it.each(paths)('%s leads to the %s', async (path, to) => {
    expect({
      ingress: ofIngress(find(objects, 'Ingress', 'depot-ui'), path),
      route: ofRoute(find(objects, 'HTTPRoute', 'depot-ui'), path),
      istio: await throughMesh(path),
    }).toEqual({ ingress: `depot-${to}`, route: `depot-${to}`, istio: `depot-${to}` })
  })

  it('an encoded letter makes a different path, except for Istio, which decodes it', async () => {
    const path = '/%64epot'
    expect(ofIngress(find(objects, 'Ingress', 'depot-ui'), path)).toBe('depot-ui')
    expect(ofRoute(find(objects, 'HTTPRoute', 'depot-ui'), path)).toBe('depot-ui')
    expect(await throughMesh(path)).toBe('depot-server')
  })

  it('the ingress and the route of the server are not rendered', () => {
    const kinds = objects.map(({ kind, metadata }) => `${kind} ${metadata.name}`)
    expect(kinds).not.toContain('Ingress depot-server')
    expect(kinds).not.toContain('HTTPRoute depot-server')
  })
})

describe('without the explorer', () => {
  const objects = render({
    ...proxied,
    server: {
      ...proxied.server,
      ingress: { enabled: true, hosts, istio: { enabled: true, hosts: [host], gateway: 'public' } },
      route: { enabled: true, parentRefs: [{ name: 'public' }], hostnames: [host] },
    },
  })

  const throughMesh = meshOf(objects)

  it.each(paths)('%s leads to the server', async (path) => {
    expect([
      ofIngress(find(objects, 'Ingress', 'depot-server'), path),
      ofRoute(find(objects, 'HTTPRoute', 'depot-server'), path),
      await throughMesh(path),
    ]).toEqual(['depot-server', 'depot-server', 'depot-server'])
  })
})

describe('if the server does not forward the paths of the broker', () => {
  const objects = render({
    crds: { install: false },
    ui: { ...explorer, ingress: { enabled: true, hosts } },
    server: { ingress: { istio: { enabled: true, hosts: [host], gateway: 'public' } } },
  })
  const throughMesh = meshOf(objects)

  it('they lead to the explorer', async () => {
    expect(ofIngress(find(objects, 'Ingress', 'depot-ui'), '/broker/auth')).toBe('depot-ui')
    expect(await throughMesh('/broker/auth')).toBe('depot-ui')
  })
})
