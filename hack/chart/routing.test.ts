import { describe, expect, it } from 'vitest'
import { find, type Rendered, render } from './helm.fixture.ts'

const host = 'depot.example.com'
const hosts = [{ host }]

/** What each path must lead to, in every place that routes. */
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
  ['/%64epot', 'ui'],
]

const proxied = {
  broker: { enabled: true },
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

/** `pathType: Prefix` and `PathPrefix` match whole elements; the longest match wins. */
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

/** Istio compares text, and the first rule that matches wins. */
function ofVirtualService(service: Rendered, path: string): string {
  const rule = service.spec?.http?.find(
    ({ match }) =>
      match === undefined ||
      match.some(({ uri: { exact, prefix = path } }) =>
        exact === undefined ? path.startsWith(prefix) : path === exact,
      ),
  )
  return rule?.route[0]?.destination.host.split('.', 1)[0] ?? 'nowhere'
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

  it.each(paths)('%s leads to the %s', (path, to) => {
    expect({
      ingress: ofIngress(find(objects, 'Ingress', 'depot-ui'), path),
      route: ofRoute(find(objects, 'HTTPRoute', 'depot-ui'), path),
      istio: ofVirtualService(find(objects, 'VirtualService', 'depot-server'), path),
    }).toEqual({ ingress: `depot-${to}`, route: `depot-${to}`, istio: `depot-${to}` })
  })

  it('the ingress and the route of the server are left out', () => {
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

  it.each(paths)('%s leads to the server', (path) => {
    expect([
      ofIngress(find(objects, 'Ingress', 'depot-server'), path),
      ofRoute(find(objects, 'HTTPRoute', 'depot-server'), path),
      ofVirtualService(find(objects, 'VirtualService', 'depot-server'), path),
    ]).toEqual(['depot-server', 'depot-server', 'depot-server'])
  })
})

it('paths of the broker lead to the explorer where the server does not pass them on', () => {
  const objects = render({
    crds: { install: false },
    ui: { ...explorer, ingress: { enabled: true, hosts } },
    server: { ingress: { istio: { enabled: true, hosts: [host], gateway: 'public' } } },
  })
  expect(ofIngress(find(objects, 'Ingress', 'depot-ui'), '/broker/auth')).toBe('depot-ui')
  const istio = find(objects, 'VirtualService', 'depot-server')
  expect(ofVirtualService(istio, '/broker/auth')).toBe('depot-ui')
})
