import { describe, expect, it } from 'vitest'
import { notes, type Values } from './helm.fixture.ts'
import { profiles } from './profiles.fixture.ts'

const brokerWithSecret: Values = {
  broker: {
    enabled: true,
    config: { enablePasswordDB: true, staticClients: [{ id: 'depot', secret: 'x' }] },
  },
  server: { oidc: { enabled: true, clientSecretName: 'c' } },
}

describe('notes after an install', () => {
  it('show a first request without an ingress, and end with a command', () => {
    const text = notes({})
    expect(text).toContain('port-forward service/depot-server 8080:80')
    expect(text).toContain('host "depot.test" {')
    expect(text).toContain('"modules.v1"   = "http://localhost:8080/depot/modules/v1/"')
    expect(text).toContain('credentials "depot.test"')
    expect(text.trim().split('\n').at(-1)?.trim()).toBe(
      'curl --fail http://localhost:8080/.well-known/terraform.json',
    )
  })

  it('end with a command that uses TLS if the pod serves TLS', () => {
    const last = (tls: object) =>
      notes({ server: { tls: { enabled: true, ...tls } } })
        .trim()
        .split('\n')
        .at(-1)
        ?.trim()
    expect(last({ secretName: 'server-tls' })).toBe(
      'curl --fail --insecure https://localhost:8080/.well-known/terraform.json',
    )
    const certManager = { enabled: true, issuerRef: { name: 'x' }, dnsNames: ['depot.example.com'] }
    expect(last({ certManager })).toBe(
      'curl --fail https://depot.example.com/.well-known/terraform.json',
    )
  })

  it('name the address of an ingress', () => {
    const text = notes(profiles['ui'] ?? {})
    expect(text).toContain('Its address: https://depot.example.com')
    expect(text).toContain('curl --fail https://depot.example.com/.well-known/terraform.json')
    expect(text).not.toContain('Nothing serves TLS')
  })

  it('say how to log in', () => {
    expect(notes(profiles['broker'] ?? {})).toContain('terraform login depot.example.com')
    expect(notes({ server: { useBearerToken: false } })).toContain('base64 -w0 of a kubeconfig')
    expect(notes({ server: { baseUrl: 'https://example.com/terraform' } })).toContain(
      'credentials "example.com"',
    )
  })

  it('promise no login at an issuer that browsers cannot reach', () => {
    const text = notes({ ...brokerWithSecret, ui: { enabled: false } })
    expect(text).not.toContain('terraform login depot')
    expect(text).toContain('http://depot-broker.depot-system.svc.cluster.local:5556/broker')
    expect(text).toContain('server.oidc.brokerProxy.enabled')
  })

  it('explain how to fill the registry, if the controller is enabled', () => {
    expect(notes({})).toContain('apply a Depot')
    expect(notes({})).toContain('storage.filesystem.enabled=true')
    expect(notes({ storage: { filesystem: { enabled: true } } })).not.toContain('on a volume need')
    expect(notes({ controller: { enabled: false } })).not.toContain('apply a Depot')
  })

  it.each([
    ['Nothing serves TLS', {}],
    ['everyone who can reach the server can read everything', { server: { anonymousAuth: true } }],
    [
      'Do not use it in production',
      {
        ui: {
          enabled: true,
          sessionPasswordSecretName: 's',
          auth: { devTokenInput: { enabled: true } },
        },
      },
    ],
    ['lost with the pod of Valkey', { valkey: { dataStorage: { enabled: false } } }],
    ['lost with the pod of the server', { valkey: { enabled: false } }],
    [
      'server.ingress is not rendered',
      {
        ui: { enabled: true, sessionPasswordSecretName: 's' },
        server: { ingress: { enabled: true, hosts: [{ host: 'a' }] } },
      },
    ],
    ['One replica', {}],
    ['can read each Secret of the cluster', { controller: { secretNamespaces: ['*'] } }],
    ['server.gpg.secretName is empty', {}],
    ['has a secret', brokerWithSecret],
    ['no redirect URI http://localhost:10000/login', brokerWithSecret],
    [
      'must belong to user 65532',
      { storage: { filesystem: { enabled: true, hostPath: '/srv', singleNode: true } } },
    ],
    ['Helm does not create the second namespace', { global: { namespace: 'other' } }],
  ])('warn: %s', (warning, values) => {
    expect(notes(values)).toContain(warning)
    expect(
      notes({
        server: { replicaCount: 2, baseUrl: 'https://x', gpg: { secretName: 's' } },
      }),
    ).not.toContain(warning)
  })
})
