import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Workspace } from '../../hack/testbed/cli/cli.ts'
import { terraformLogin } from '../../hack/testbed/cli/login.ts'
import { Client } from '../../hack/testbed/oidc/oidc.ts'
import { writeCertificate } from '../../hack/testbed/server/certificate.ts'
import { type Between, startTunnel } from '../../hack/testbed/server/tunnel.ts'
import { apply, kind, kubectl, kubectlHere, must, namespace, until } from './cluster.fixture.ts'
import {
  install,
  makeNamespace,
  metricOf,
  podsOf,
  prepare,
  stopAll,
  tokenOf,
  url,
  versionsOf,
} from './release.fixture.ts'

/* Every way of logging in, by the values that enable it. */

const shared = 'platform/network/aws'
const secret = 'payments/labels/generic'

beforeAll(async () => {
  await makeNamespace()
})

describe('anonymous', () => {
  beforeAll(async () => {
    await install({ server: { anonymousAuth: true } })
    await prepare()
  })

  it.each(['terraform', 'tofu'] as const)('%s installs without any credentials', async (cli) => {
    const source = `module "network" {\n  source = "depot.test/${shared}"\n}\n`
    const workspace = new Workspace(kind.tools[cli], url, source)
    await workspace.must('init')
    expect(workspace.modules()['network']?.version).toBe('2.0.0')
  })
})

describe('the cluster decides', () => {
  beforeAll(async () => {
    await apply([
      { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'reader', namespace } },
      { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'stranger', namespace } },
      {
        apiVersion: 'rbac.authorization.k8s.io/v1',
        kind: 'ClusterRoleBinding',
        metadata: { name: 'reader' },
        roleRef: {
          apiGroup: 'rbac.authorization.k8s.io',
          kind: 'ClusterRole',
          name: 'depot-reader',
        },
        subjects: [{ kind: 'ServiceAccount', name: 'reader', namespace }],
      },
    ])
  })

  it('bearer: a token of a service account may read what its roles allow', async () => {
    await install({})
    expect(await versionsOf(shared, await tokenOf('reader'))).toHaveLength(3)
    expect(await versionsOf(shared, await tokenOf('stranger'))).toBe(403)
    expect(await versionsOf(shared, 'not-a-token')).toBe(401)
  })

  it('kubeconfig: one of this cluster may read what its user may read', async () => {
    await install({ server: { useBearerToken: false } })
    const kubeconfig = await kubectl('config', 'view', '--raw', '--minify', '--flatten')
    const packed = Buffer.from(kubeconfig).toString('base64')
    expect(await versionsOf(shared, packed)).toHaveLength(3)
    const foreign = kubeconfig
      .replace(/certificate-authority-data: .*/, '')
      .replace(/server: .*/, 'server: https://elsewhere.test')
    expect(await versionsOf(shared, Buffer.from(foreign).toString('base64'))).toBe(401)
  })
})

describe('OIDC through the broker, with TLS', () => {
  const host = 'depot.example'
  const issuer = `https://${host}/broker`
  const dir = mkdtempSync(join(tmpdir(), 'depot-e2e-modes-'))
  const https = url.replace('http:', 'https:')
  const client = new Client(https)
  let tunnel: Between
  let tokenOfPerson: string

  const ask = async (path: string, token?: string) => {
    const headers = token === undefined ? {} : { authorization: `Bearer ${token}` }
    const { status, text } = await client.send(`https://${host}${path}`, undefined, headers)
    return { status, body: JSON.parse(text) as Record<string, unknown> }
  }
  /** The status of a list of versions. */
  const listed = async (module: string, token?: string): Promise<number> =>
    (await ask(`/depot/modules/v1/${module}/versions`, token)).status

  beforeAll(async () => {
    const inside = `depot-server.${namespace}.svc.cluster.local`
    const own = await writeCertificate(dir, host, inside)
    await apply([
      {
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { name: 'server-tls', namespace },
        type: 'kubernetes.io/tls',
        stringData: { 'tls.crt': own.cert, 'tls.key': own.key, 'ca.crt': own.cert },
      },
      {
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { name: 'broker-client', namespace },
        stringData: { clientSecret: 'the secret of the machines' },
      },
      {
        apiVersion: 'depot.internal/v1alpha1',
        kind: 'GroupBinding',
        metadata: { name: 'authors', namespace },
        spec: { expression: '"authors" in groups', moduleResources: ['labels'] },
      },
    ])
    await install({
      server: {
        anonymousAuth: true,
        tls: { enabled: true, secretName: 'server-tls' },
        oidc: {
          enabled: true,
          issuerUrl: issuer,
          clientSecretName: 'broker-client',
          allowServiceAccountFallback: true,
          brokerProxy: { enabled: true },
        },
      },
      broker: {
        enabled: true,
        config: { connectors: [{ type: 'mockCallback', id: 'mock', name: 'Mock' }] },
      },
    })
    tunnel = await startTunnel(https)
    await until(
      () => listed(shared),
      (status) => status === 200,
    )
    // The server knows the login address once it has reached the broker, whose pod may start last.
    await until(
      () => ask('/.well-known/terraform.json'),
      ({ body }) => 'login.v1' in body,
    )
  })
  afterAll(async () => {
    tunnel?.close()
    await client.close()
    rmSync(dir, { recursive: true, force: true })
  })

  it('a guest sees only public resources', async () => {
    expect(await listed(shared)).toBe(200)
    expect(await listed(secret)).toBe(403)
  })

  it('terraform login through /broker gives access to what the groups of a person are bound to', async () => {
    const environment = {
      SSL_CERT_FILE: join(dir, 'cert.pem'),
      HTTPS_PROXY: tunnel.url,
      TF_CLI_CONFIG_FILE: '',
    }
    const source = `module "labels" {\n  source  = "${host}/${secret}"\n  version = "0.1.0"\n}\n`
    const workspace = new Workspace(kind.tools.terraform, https, source, environment)
    expect((await workspace.run('init')).code).toBe(1)
    const login = await terraformLogin({
      terraform: kind.tools.terraform,
      host,
      home: dirname(workspace.dir),
      environment,
      browse: (page) => client.browse(page),
    })
    if (login.code !== 0) throw new Error(login.output)
    await workspace.must('init')
    expect(Object.keys(workspace.modules())).toEqual(['labels'])
    const saved = join(dirname(workspace.dir), '.terraform.d/credentials.tfrc.json')
    const { credentials } = JSON.parse(readFileSync(saved, 'utf8')) as {
      credentials: Record<string, { token: string }>
    }
    tokenOfPerson = credentials[host]?.token ?? ''
  })

  it('a service account is accepted in addition to them', async () => {
    expect(await listed(secret, await tokenOf('reader'))).toBe(200)
    expect(await listed(secret, await tokenOf('stranger'))).toBe(403)
  })

  it('helm test passes', async () => {
    const helmTest = ['test', 'depot', '-n', namespace, '--timeout', '90s']
    expect(await must(kind.tools.helm, helmTest)).toContain('Succeeded')
  })

  it('tokens are accepted while the broker is unavailable, and logins fail', async () => {
    const token = tokenOfPerson
    expect(await listed(secret, token)).toBe(200)
    await stopAll('deployment/depot-broker', 'broker')
    expect(await listed(secret, token)).toBe(200)
    const { status } = await client.send(`${issuer}/token`, { grant_type: 'authorization_code' })
    expect(status).toBeGreaterThanOrEqual(500)
    const [pod = ''] = await podsOf('server')
    expect(await metricOf(pod, 'broker_proxy_requests_total', `code="${status}"`)).toBe(1)
    await kubectlHere('scale', 'deployment/depot-broker', '--replicas=1')
  })
})
