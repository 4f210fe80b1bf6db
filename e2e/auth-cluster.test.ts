import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { stringify } from 'yaml'
import {
  type ControlPlane,
  startControlPlane,
} from '../hack/testbed/control-plane/control-plane.ts'
import { applyManifests } from '../hack/testbed/control-plane/manifests.ts'
import { Registry } from '../hack/testbed/registry/registry.ts'
import { type Server, startAs } from '../hack/testbed/server/server.ts'
import { TestIssuer } from '../pkg/registry/auth/issuer.fixture.ts'

/*
 * Callers that only the cluster knows, against a real API server: its RBAC rules decide, its messages are returned, and its
 * audit log shows each read with the identity of its caller.
 */

const registry = new Registry()
let cluster: ControlPlane
let bearer: Server
let kubeconfig: Server
let mixed: Server
let issuer: TestIssuer
const tokens: Record<string, string> = {}

const ttlMs = 300
const rules = {
  reader: [rule(['get'], ['modules', 'providers']), rule(['list'], ['versions'])],
  'no-versions': [rule(['get', 'list'], ['modules', 'providers'])],
  'one-module': [rule(['get'], ['modules'], ['network']), rule(['list'], ['versions'])],
  nobody: [],
}

function rule(verbs: string[], resources: string[], resourceNames?: string[]) {
  return {
    apiGroups: ['depot.internal'],
    verbs,
    resources,
    ...(resourceNames && { resourceNames }),
  }
}

beforeAll(async () => {
  cluster = await startControlPlane({ users: { carol: [] } })
  await applyManifests(cluster.admin, 'config/crd/bases', 'config/rbac', 'config/samples')
  for (const [name, granted] of Object.entries(rules)) {
    await cluster.admin.apply(`/api/v1/namespaces/platform/serviceaccounts/${name}`, {
      apiVersion: 'v1',
      kind: 'ServiceAccount',
      metadata: { name, namespace: 'platform' },
    })
    await grant(name, granted, [{ kind: 'ServiceAccount', name, namespace: 'platform' }])
    tokens[name] = await cluster.serviceAccountToken('platform', name)
  }
  const people = ['carol', 'dave'].map((name) => ({ kind: 'User', name }))
  await grant(
    'people',
    rules.reader,
    people.map((person) => ({ ...person, apiGroup: 'rbac.authorization.k8s.io' })),
  )
  const own = await cluster.serviceAccountToken('depot-system', 'depot-server')
  const flags = [
    '--kubeconfig',
    await cluster.kubeconfig({ token: own }),
    '--passthrough-cache-ttl',
    `${ttlMs}ms`,
  ]
  bearer = await startAs(registry, ...flags, '--use-bearer-token')
  kubeconfig = await startAs(registry, ...flags)
  issuer = await TestIssuer.start()
  mixed = await startAs(
    registry,
    ...flags,
    '--oidc-issuer-url',
    issuer.url,
    '--oidc-client-id',
    'depot',
    '--oidc-allow-sa-fallback',
  )
})
afterAll(async () => {
  await bearer?.stop()
  await kubeconfig?.stop()
  await mixed?.stop()
  issuer?.stop()
  await cluster?.stop()
  registry.remove()
})

async function grant(name: string, granted: object[], subjects: object[]): Promise<void> {
  const root = '/apis/rbac.authorization.k8s.io/v1/namespaces/platform'
  const apiVersion = 'rbac.authorization.k8s.io/v1'
  const metadata = { name, namespace: 'platform' }
  await cluster.admin.apply(`${root}/roles/${name}`, {
    apiVersion,
    kind: 'Role',
    metadata,
    rules: granted,
  })
  await cluster.admin.apply(`${root}/rolebindings/${name}`, {
    apiVersion,
    kind: 'RoleBinding',
    metadata,
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name },
    subjects,
  })
}

async function ask(server: Server, path: string, token: string) {
  const response = await fetch(`${server.url}/depot/${path}`, {
    headers: { authorization: `Bearer ${token}` },
  })
  const { errors = [] } = (await response.json()) as { errors?: string[] }
  return { status: response.status, error: errors[0] ?? '' }
}

const network = 'modules/v1/platform/network/aws/versions'
const labels = 'modules/v1/payments/labels/generic/versions'
const hello = 'providers/v1/platform/hello/versions'

describe('service-account tokens', () => {
  it.each([
    ['reader', network, 200, ''],
    ['reader', hello, 200, ''],
    ['reader', 'modules/v1/platform/nothing/aws/versions', 404, 'not found'],
    ['reader', labels, 403, 'cannot get resource "modules"'],
    ['no-versions', network, 403, 'cannot list resource "versions"'],
    ['one-module', network, 200, ''],
    ['one-module', 'modules/v1/platform/nothing/aws/versions', 403, 'cannot get resource'],
    ['one-module', hello, 403, 'cannot get resource "providers"'],
    ['nobody', network, 403, 'cannot get resource "modules"'],
    ['nobody', 'modules/v1/platform/nothing/aws/versions', 403, 'cannot get resource "modules"'],
  ])('%s: %s is %i %s', async (account, path, status, words) => {
    const answer = await ask(bearer, path, tokens[account] ?? '')
    expect(answer).toEqual({ status, error: expect.stringContaining(words) })
  })

  it('answers 401 with the message of the cluster for an unknown token', async () => {
    const { status, error } = await ask(bearer, network, 'nonsense')
    expect([status, error]).toEqual([401, expect.stringContaining('Unauthorized')])
  })

  it('asks the cluster only in the name of the caller, as the audit log shows', async () => {
    const token = await cluster.serviceAccountToken('platform', 'one-module')
    const seen = () =>
      readFileSync(cluster.auditLogFile, 'utf8')
        .split('\n')
        .filter((line) => line.includes('"system:serviceaccount:platform:one-module"'))
        .map((line) => JSON.parse(line) as { verb: string; requestURI: string; userAgent: string })
    const before = seen().length
    expect((await ask(bearer, network, token)).status).toBe(200)
    await vi.waitFor(() => expect(seen().length - before).toBe(3))
    const root = '/apis/depot.internal/v1alpha1/namespaces/platform'
    const reads = seen().slice(before)
    expect(reads.map(({ verb, requestURI }) => `${verb} ${requestURI}`).toSorted()).toEqual([
      'create /apis/authentication.k8s.io/v1/selfsubjectreviews',
      `get ${root}/modules/network`,
      `list ${root}/versions?limit=1`,
    ])
    expect(new Set(reads.map(({ userAgent }) => userAgent))).toEqual(new Set(['depot']))
  })

  it('ends a withdrawn permission when the cached answer expires', async () => {
    const token = tokens['no-versions'] ?? ''
    await grant('no-versions', rules.reader, [
      { kind: 'ServiceAccount', name: 'no-versions', namespace: 'platform' },
    ])
    const becomes = (status: number) =>
      vi.waitFor(
        async () => expect((await ask(bearer, network, token)).status).toBe(status),
        10_000,
      )
    await becomes(200)
    await grant(
      'no-versions',
      [],
      [{ kind: 'ServiceAccount', name: 'no-versions', namespace: 'platform' }],
    )
    await becomes(403)
  })
})

describe('kubeconfigs', () => {
  const config = (user: object, server = cluster.url) =>
    Buffer.from(
      stringify({
        apiVersion: 'v1',
        kind: 'Config',
        'current-context': 'it',
        contexts: [{ name: 'it', context: { cluster: 'it', user: 'me' } }],
        clusters: [
          {
            name: 'it',
            cluster: {
              server,
              'certificate-authority-data': Buffer.from(cluster.ca).toString('base64'),
            },
          },
        ],
        users: [{ name: 'me', user }],
      }),
    ).toString('base64')
  const certificate = (name: string) => {
    const { cert, key } = cluster.authority.client(name)
    return {
      'client-certificate-data': Buffer.from(cert).toString('base64'),
      'client-key-data': Buffer.from(key).toString('base64'),
    }
  }

  it.each([
    ['a token with permission', 200, () => config({ token: cluster.tokens['carol'] })],
    [
      'the same from outside, if the cluster has a different address there',
      200,
      () => config({ token: cluster.tokens['carol'] }, 'https://k8s.example:6443'),
    ],
    ['a certificate with permission', 200, () => config(certificate('dave'))],
    ['a certificate without permission', 403, () => config(certificate('mallory'))],
    ['a service account with permission', 200, () => config({ token: tokens['reader'] })],
    ['a service account without permission', 403, () => config({ token: tokens['nobody'] })],
    ['a token of no account', 401, () => config({ token: 'nonsense' })],
    ['a program to run', 401, () => config({ exec: { command: 'touch', args: ['/tmp/x'] } })],
  ])('%s: %i', async (_, status, token) => {
    expect((await ask(kubeconfig, network, token())).status).toBe(status)
    expect((await ask(kubeconfig, hello, token())).status).toBe(status)
  })
})

describe('an OIDC provider in addition to service accounts', () => {
  const groups = ['payments']

  it('checks people by GroupBindings and service accounts by RBAC', async () => {
    const person = await issuer.sign({ groups })
    expect((await ask(mixed, labels, person)).status).toBe(200)
    expect((await ask(mixed, labels, tokens['reader'] ?? '')).status).toBe(403)
    expect((await ask(mixed, network, tokens['reader'] ?? '')).status).toBe(200)
    expect((await ask(mixed, network, tokens['nobody'] ?? '')).status).toBe(403)
    expect((await ask(mixed, 'ui/v1/resources', tokens['nobody'] ?? '')).status).toBe(200)
  })

  it('never sends the cluster a bad token of the issuer, or a request without a token', async () => {
    const audited = () => readFileSync(cluster.auditLogFile, 'utf8').split('"code":401').length
    const before = audited()
    const expired = await issuer.sign({ groups, exp: 1000 })
    for (const token of [expired, `${expired.slice(0, -8)}AAAAAAAA`, 'nonsense']) {
      expect((await ask(mixed, network, token)).status).toBe(401)
      expect((await ask(mixed, 'ui/v1/resources', token)).status).toBe(401)
    }
    expect(audited()).toBe(before)
    const strange = await issuer.sign({ iss: 'https://elsewhere.example' })
    expect((await ask(mixed, network, strange)).status).toBe(401)
    expect((await ask(mixed, 'ui/v1/resources', strange)).status).toBe(401)
    await vi.waitFor(() => expect(audited()).toBeGreaterThan(before))
  })
})

it('answers callers with 503 while the API server is unreachable, and serves everything that does not need it', async () => {
  await cluster.stopApiServer('kill')
  await sleep(ttlMs)
  expect(await ask(bearer, network, tokens['reader'] ?? '')).toEqual({
    status: 503,
    error: expect.stringContaining('cluster'),
  })
  expect((await ask(bearer, 'ui/v1/resources', '')).status).toBe(200)
  await cluster.startApiServer()
  await vi.waitFor(
    async () => expect((await ask(bearer, network, tokens['reader'] ?? '')).status).toBe(200),
    20_000,
  )
})
