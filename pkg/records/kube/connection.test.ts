import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { stringify } from 'yaml'
import { createAuthority } from '../../../hack/testbed/control-plane/certificates.ts'
import { FakeApiServer } from '../../../hack/testbed/control-plane/fake-api-server.ts'
import {
  moduleObject,
  paths,
  startFakeCluster,
} from '../../../hack/testbed/control-plane/fake-cluster.ts'
import { kubeconfigOf } from '../../../hack/testbed/control-plane/kubeconfig.ts'
import { loadConnection } from './connection.ts'
import { identityOf } from './transport.ts'

const directory = mkdtempSync(join(tmpdir(), 'depot-connection-'))
afterAll(() => rmSync(directory, { recursive: true }))

const kubeconfig = (cluster: object, user: object) =>
  stringify({
    clusters: [{ name: 'c', cluster }],
    users: [{ name: 'u', user }],
    contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
    'current-context': 'x',
  })

const write = (name: string, content: string) => {
  writeFileSync(join(directory, name), content)
  return join(directory, name)
}

describe('loadConnection', () => {
  it.each([
    {
      name: 'neither a cluster nor a kubeconfig',
      content: undefined,
      message: /--kubeconfig.*--manifests/,
    },
    { name: 'a file that is not YAML', content: '{', message: /cannot read the kubeconfig/ },
    { name: 'no current context', content: 'clusters: []', message: /no current context/ },
    {
      name: 'plain http',
      content: kubeconfig({ server: 'http://10.0.0.1' }, { token: 't' }),
      message: /is not https/,
    },
    {
      name: 'a SOCKS proxy',
      content: kubeconfig(
        { server: 'https://10.0.0.1', 'proxy-url': 'socks5://p' },
        { token: 't' },
      ),
      message: /http or https/,
    },
  ])('refuses $name', ({ content, message }) => {
    const file = content === undefined ? undefined : write('refused', content)
    expect(() => loadConnection({ kubeconfig: file, env: {} })).toThrow(message)
  })

  it('says which file is missing', () => {
    const file = join(directory, 'absent')
    expect(() => loadConnection({ kubeconfig: file, env: {} })).toThrow(/absent/)
  })

  it('takes the service account of a pod', async () => {
    write('token', 'pod-token\n')
    write('ca.crt', 'authority')
    const env = { KUBERNETES_SERVICE_HOST: 'fd00::1', KUBERNETES_SERVICE_PORT: '6443' }
    const connection = loadConnection({ env, serviceAccount: directory })
    expect(await connection.credentials()).toMatchObject({
      server: 'https://[fd00::1]:6443',
      headers: { Authorization: 'Bearer pod-token' },
      tls: { ca: Buffer.from('authority') },
    })
  })

  it('takes the kubeconfig of the environment, user name and password too', async () => {
    const content = kubeconfig({ server: 'https://host/base/' }, { username: 'me', password: 'p' })
    const connection = loadConnection({ env: { KUBECONFIG: write('basic', content) } })
    expect(await connection.credentials()).toMatchObject({
      server: 'https://host/base',
      headers: { Authorization: `Basic ${Buffer.from('me:p').toString('base64')}` },
    })
  })
})

it('a credential plugin that is asked for six times at once runs once', async () => {
  const script = 'echo called >> "$0/calls"; echo \'{"status":{"token":"t"}}\''
  const exec = { command: 'sh', args: ['-c', script, directory] }
  const file = write('plugin', kubeconfig({ server: 'https://host' }, { exec }))
  const connection = loadConnection({ kubeconfig: file, env: {} })
  const all = await Promise.all(Array.from({ length: 6 }, () => connection.credentials()))
  expect(all.map(({ headers }) => headers['Authorization'])).toEqual(Array(6).fill('Bearer t'))
  expect(readFileSync(join(directory, 'calls'), 'utf8')).toBe('called\n')
})

it.each([
  {
    name: 'the subject of a token',
    headers: { Authorization: `Bearer e30.${btoa('{"sub":"me"}')}.s` },
    identity: 'me',
  },
  {
    name: 'nothing but that there is a token',
    headers: { Authorization: 'Bearer opaque' },
    identity: 'the bearer of the token',
  },
  { name: 'that there is nothing', headers: {}, identity: 'anonymous' },
])('credentials tell $name', ({ headers, identity }) => {
  expect(identityOf({ server: '', headers, tls: {} })).toBe(identity)
})

it('returns the common name of a certificate', () => {
  const cert = Buffer.from(createAuthority(join(directory, 'pki')).client('jane', ['staff']).cert)
  expect(identityOf({ server: '', headers: {}, tls: { cert } })).toBe('jane')
})

describe('a watch continues', () => {
  it('when a token was rotated: it is read again when the old one is refused', async () => {
    await using fake = await startFakeCluster({
      kubeconfig: ({ url, ca, directory: files }) => {
        writeFileSync(join(files, 'token'), 'old')
        const authority = Buffer.from(ca).toString('base64')
        return kubeconfig(
          { server: url, 'certificate-authority-data': authority },
          { tokenFile: 'token' },
        )
      },
      prepare: (api) => api.put(paths.modules, moduleObject('a')),
    })
    await fake.cluster.ready
    fake.api.accepts = (authorization) => authorization === 'Bearer new'
    writeFileSync(join(fake.directory, 'token'), 'new')
    fake.api.endWatches()
    fake.api.put(paths.modules, moduleObject('b'))
    await vi.waitFor(() => expect(fake.sink.get('Module', 'team', 'b')).toBeDefined())
    expect(fake.sink.replacements).toBe(6)
  })

  it('when the authority was rotated', async () => {
    await using fake = await startFakeCluster({
      kubeconfig: ({ url, ca, directory: files }) => {
        writeFileSync(join(files, 'ca.crt'), ca)
        return kubeconfig({ server: url, 'certificate-authority': 'ca.crt' }, { token: 't' })
      },
      prepare: (api) => api.put(paths.modules, moduleObject('a')),
    })
    await fake.cluster.ready
    const next = createAuthority(join(fake.directory, 'next'))
    await fake.api.stop()
    await fake.api.start(next.server('fake'))
    await vi.waitFor(() => {
      const failed = fake.logs.filter((line) => line.msg === 'watch failed')
      expect(JSON.stringify(failed)).toContain('certificate')
    })
    writeFileSync(join(fake.directory, 'ca.crt'), next.cert)
    fake.api.put(paths.modules, moduleObject('b'))
    await vi.waitFor(() => expect(fake.sink.get('Module', 'team', 'b')).toBeDefined())
    expect(fake.sink.replacements).toBe(6)
  })

  it('when the kubeconfig is written again with another authority inside', async () => {
    await using fake = await startFakeCluster({
      kubeconfig: ({ url, ca }) => kubeconfigOf({ url, ca, token: 't' }),
      prepare: (api) => api.put(paths.modules, moduleObject('a')),
    })
    await fake.cluster.ready
    const next = createAuthority(join(fake.directory, 'next'))
    await fake.api.stop()
    await fake.api.start(next.server('fake'))
    await vi.waitFor(() => {
      const failed = fake.logs.filter((line) => line.msg === 'watch failed')
      expect(JSON.stringify(failed)).toContain('certificate')
    })
    const { url } = fake.api
    writeFileSync(
      join(fake.directory, 'kubeconfig'),
      kubeconfigOf({ url, ca: next.cert, token: 't' }),
    )
    fake.api.put(paths.modules, moduleObject('b'))
    await vi.waitFor(() => expect(fake.sink.get('Module', 'team', 'b')).toBeDefined())
  })

  it('when the kubeconfig is written again with another address of the cluster', async () => {
    await using fake = await startFakeCluster({
      kubeconfig: ({ url, ca }) => kubeconfigOf({ url, ca, token: 't' }),
      prepare: (api) => api.put(paths.modules, moduleObject('a')),
    })
    await fake.cluster.ready
    const other = new FakeApiServer(fake.authority.server('other'))
    await other.start()
    onTestFinished(() => other.stop())
    // It continues from the revision of the first watch.
    while (Number(other.resourceVersion) <= Number(fake.api.resourceVersion)) {
      other.put(paths.modules, moduleObject('b'))
    }
    const { url } = other
    writeFileSync(
      join(fake.directory, 'kubeconfig'),
      kubeconfigOf({ url, ca: fake.authority.cert, token: 't' }),
    )
    await fake.api.stop()
    await vi.waitFor(() => expect(fake.sink.get('Module', 'team', 'b')).toBeDefined())
  })

  it('when a file with the certificate is broken for a while', async () => {
    await using fake = await startFakeCluster({
      kubeconfig: ({ url, ca, directory: files }) => {
        writeFileSync(join(files, 'ca.crt'), ca)
        return kubeconfig({ server: url, 'certificate-authority': 'ca.crt' }, { token: 't' })
      },
    })
    await fake.cluster.ready
    writeFileSync(
      join(fake.directory, 'ca.crt'),
      '-----BEGIN CERTIFICATE-----\nno\n-----END CERTIFICATE-----\n',
    )
    fake.api.cut()
    await vi.waitFor(() =>
      expect(fake.logs.filter((line) => line.msg === 'watch failed').length).toBeGreaterThan(6),
    )
    writeFileSync(join(fake.directory, 'ca.crt'), fake.authority.cert)
    fake.api.put(paths.modules, moduleObject('b'))
    await vi.waitFor(() => expect(fake.sink.get('Module', 'team', 'b')).toBeDefined())
  })

  it('when a credential plugin fails for a while', async () => {
    const script = 'test -f "$0/ready" || { echo "no session" >&2; exit 1; }; cat "$0/ready"'
    await using fake = await startFakeCluster({
      kubeconfig: ({ url, ca, directory: files }) =>
        kubeconfig(
          { server: url, 'certificate-authority-data': Buffer.from(ca).toString('base64') },
          {
            exec: {
              apiVersion: 'client.authentication.k8s.io/v1',
              command: 'sh',
              args: ['-c', script, files],
            },
          },
        ),
      prepare: (api) => {
        api.accepts = (authorization) => authorization === 'Bearer from-plugin'
      },
    })
    await vi.waitFor(() =>
      expect(fake.logs).toContainEqual(
        expect.objectContaining({
          reason: 'NoCredentials',
          message: expect.stringContaining('no session'),
        }),
      ),
    )
    expect(await fake.metric('catalog_synced', { kind: 'Module' })).toBe(0)
    const credential = { kind: 'ExecCredential', status: { token: 'from-plugin' } }
    writeFileSync(join(fake.directory, 'ready'), JSON.stringify(credential))
    await fake.cluster.ready
  })
})

it('uses one connection for each watch, and not more over time', async () => {
  await using fake = await startFakeCluster({
    kubeconfig: ({ url, ca }) => kubeconfigOf({ url, ca, token: 't' }),
  })
  await fake.cluster.ready
  for (let round = 2; round < 12; round++) {
    fake.api.endWatches()
    await vi.waitFor(() => expect(fake.api.requestCount).toBeGreaterThanOrEqual(6 * round))
  }
  expect(fake.api.openConnections).toBeLessThanOrEqual(7)
})
