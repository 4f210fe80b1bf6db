import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { depot, put as write } from '../cmd/import/import.fixture.ts'
import {
  type ControlPlane,
  startControlPlane,
} from '../hack/testbed/control-plane/control-plane.ts'
import { applyManifests } from '../hack/testbed/control-plane/manifests.ts'
import { Registry } from '../hack/testbed/registry/registry.ts'
import { type Server, startAs } from '../hack/testbed/server/server.ts'
import { zipOf } from '../pkg/archives/archive/packed.fixture.ts'

/* Publishing into a cluster with the rights in docs/publish.md, and a server that serves the result. */

const apis = '/apis/depot.internal/v1alpha1/namespaces/team'
const roles = '/apis/rbac.authorization.k8s.io/v1/namespaces/team'
const registry = new Registry()
let cluster: ControlPlane
let server: Server

beforeAll(async () => {
  cluster = await startControlPlane({ users: { author: [], reader: [] } })
  await applyManifests(cluster.admin, 'config/crd/bases', 'config/rbac')
  const { admin } = cluster
  await admin.request('POST', '/api/v1/namespaces', { metadata: { name: 'team' } })
  const rule = (resources: string[], verbs: string[]) => ({
    apiGroups: ['depot.internal'],
    resources,
    verbs,
  })
  const read = rule(['depots', 'modules', 'providers', 'versions'], ['get', 'list', 'watch'])
  const granted = {
    reader: [read],
    author: [read, rule(['versions'], ['create']), rule(['modules'], ['patch'])],
  }
  for (const [name, rules] of Object.entries(granted)) {
    await admin.request('POST', `${roles}/roles`, { metadata: { name }, rules })
    await admin.request('POST', `${roles}/rolebindings`, {
      metadata: { name },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name },
      subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name }],
    })
  }
  await admin.request('POST', `${apis}/modules`, {
    apiVersion: 'depot.internal/v1alpha1',
    kind: 'Module',
    metadata: { name: 'network' },
    spec: {
      moduleConfig: {
        name: 'vpc',
        provider: 'aws',
        storageConfig: { fileSystem: { directoryPath: 'modules' } },
      },
    },
  })
  mkdirSync(join(registry.dir, 'tmp'), { recursive: true })
  writeFileSync(join(registry.dir, 'main.tf'), 'output "a" {\n  value = 1\n}\n')
  const token = await cluster.serviceAccountToken('depot-system', 'depot-server')
  const kubeconfig = await cluster.kubeconfig({ token })
  await registry.sign()
  server = await startAs(registry, '--anonymous-auth', '--kubeconfig', kubeconfig)
})
afterAll(async () => {
  await server?.stop()
  await cluster?.stop()
  registry.remove()
})

async function publish(user: string, version: string, ...more: readonly string[]) {
  const source = sourceOf('source', version)
  const to = ['--to', 'team/vpc/aws', '--version', version, '--direct']
  const flags = ['--kubeconfig', await cluster.kubeconfig({ user }), ...to, ...more]
  return depot(registry.dir, ['publish', 'module', source, ...flags])
}

function sourceOf(name: string, value: string): string {
  mkdirSync(join(registry.dir, name), { recursive: true })
  writeFileSync(join(registry.dir, name, 'main.tf'), `output "v" {\n  value = "${value}"\n}\n`)
  return name
}

const archives = ['--archives', registry.archives]
const versions = async () => {
  const answer = await fetch(`${server.url}/depot/modules/v1/team/vpc/aws/versions`)
  return answer.text()
}

it('publishes with the rights to read and to create Versions, and the server serves it', async () => {
  const { status, stdout, stderr } = await publish('author', '1.0.0', ...archives)
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
  expect(stdout).toContain('published: servers of the cluster serve it')
  await expect.poll(versions).toContain('"1.0.0"')
  const download = `${server.url}/depot/modules/v1/team/vpc/aws/1.0.0/download`
  const { headers } = await fetch(download)
  const archive = new URL(headers.get('X-Terraform-Get') ?? '', download)
  expect((await fetch(archive)).status).toBe(200)
  expect((await publish('author', '1.0.0', ...archives)).stdout).toContain('published already')
})

it('lets one of two concurrent publishers of a version win, and tells the other both digests', async () => {
  const kubeconfig = await cluster.kubeconfig({ user: 'author' })
  const to = ['--to', 'team/vpc/aws', '--version', '2.0.0', '--direct', '--kubeconfig', kubeconfig]
  const both = ['one', 'other'].map((name) =>
    depot(registry.dir, ['publish', 'module', sourceOf(name, name), ...to, ...archives]),
  )
  const results = await Promise.all(both)
  const won = results.find(({ status }) => status === 0)
  const lost = results.find(({ status }) => status === 1)
  const digestIn = (text = '') => /^sha256: ([0-9a-f]{64})$/m.exec(text)?.[1]
  for (const result of [won, lost]) expect(lost?.stderr).toContain(digestIn(result?.stdout))
  const digest = Buffer.from(digestIn(won?.stdout) ?? '', 'hex')
  const made = await cluster.admin.request('GET', `${apis}/versions/network-2-0-0`)
  expect(made).toMatchObject({ spec: { upload: { sha256: digest.toString('hex') } } })
})

it('says which right is missing', async () => {
  const { status, stderr } = await publish('reader', '2.1.0', ...archives)
  expect(status).toBe(1)
  expect(stderr).toMatch(/create versions team\/network-2-1-0: .*forbidden/)
  expect(await versions()).not.toContain('2.1.0')
})

describe('a release of a provider', () => {
  const storageConfig = { fileSystem: { directoryPath: 'providers' } }
  const platforms = ['darwin_arm64', 'linux_amd64']
  beforeAll(async () => {
    await cluster.admin.request('POST', `${apis}/providers`, {
      apiVersion: 'depot.internal/v1alpha1',
      kind: 'Provider',
      metadata: { name: 'cmdb' },
      spec: { providerConfig: { storageConfig } },
    })
    for (const version of ['1.0.0', '1.1.0']) {
      for (const platform of platforms) {
        const zip = await zipOf([
          { path: `terraform-provider-cmdb_v${version}`, content: platform },
        ])
        const name = `terraform-provider-cmdb_${version}_${platform}.zip`
        write(join(registry.dir, 'dist', name), zip)
      }
    }
  })

  const publishAs = async (user: string, version: string) => {
    const to = ['--to', 'team/cmdb', '--version', version, '--direct']
    const kubeconfig = ['--kubeconfig', await cluster.kubeconfig({ user })]
    return depot(registry.dir, ['publish', 'provider', 'dist', ...to, ...kubeconfig, ...archives])
  }
  const pathOf = (version: string, platform: string) =>
    `${apis}/versions/cmdb-${`${version}-${platform}`.replaceAll(/[._]/g, '-')}`
  const served = async (version: string) => {
    const answer = await fetch(`${server.url}/depot/providers/v1/team/cmdb/versions`)
    const list = (await answer.json()) as {
      readonly versions: readonly { readonly version: string; readonly platforms: unknown[] }[]
    }
    return list.versions.find((one) => one.version === version)?.platforms.length ?? 0
  }

  it('is served as a whole, even if its publisher may only create', async () => {
    expect(await publishAs('author', '1.0.0')).toMatchObject({ status: 0, stderr: '' })
    await expect.poll(() => served('1.0.0')).toBe(2)
    // Nothing in this cluster writes statuses, so the rest waits for the missing platform.
    await cluster.admin.send('DELETE', pathOf('1.0.0', 'linux_amd64'))
    await expect.poll(() => served('1.0.0')).toBe(0)
    expect(await publishAs('author', '1.0.0')).toMatchObject({ status: 0, stderr: '' })
    await expect.poll(() => served('1.0.0')).toBe(2)
  })

  it('stays served without a platform if its publisher may patch', async () => {
    expect(await publishAs('admin', '1.1.0')).toMatchObject({ status: 0, stderr: '' })
    await expect.poll(() => served('1.1.0')).toBe(2)
    await cluster.admin.send('DELETE', pathOf('1.1.0', 'linux_amd64'))
    await expect.poll(() => served('1.1.0')).toBe(1)
  })
})

it('requires the root of the archives if they are in a directory of the server', async () => {
  const { status, stderr } = await publish('author', '2.1.0')
  expect(status).toBe(2)
  expect(stderr).toContain('name it with --archives')
})

it('creates no module in a cluster unless its storage is named', async () => {
  const to = ['--to', 'team/dns/aws', '--version', '1.0.0', '--direct']
  const kubeconfig = ['--kubeconfig', await cluster.kubeconfig({ user: 'admin' })]
  const args = ['publish', 'module', 'source', ...to, ...kubeconfig, ...archives]
  const { status, stderr } = await depot(registry.dir, args)
  expect(status).toBe(1)
  expect(stderr).toContain('there is no Module dns for aws in namespace team: create it')
  const storage = join(registry.dir, 'storage.yaml')
  writeFileSync(storage, 'fileSystem: { directoryPath: modules }\n')
  expect((await depot(registry.dir, [...args, '--storage-config', storage])).status).toBe(0)
  const module = await cluster.admin.request('GET', `${apis}/modules/dns-aws`)
  expect(module).toMatchObject({ spec: { moduleConfig: { name: 'dns', provider: 'aws' } } })
})

it('withdraws a version and restores it, and the server follows', async () => {
  const download = async () =>
    (await fetch(`${server.url}/depot/modules/v1/team/vpc/aws/1.0.0/download`)).status
  await publish('author', '1.0.0', ...archives)
  await expect.poll(download).toBe(204)
  const lifecycle = async (user: string, ...args: readonly string[]) =>
    depot(registry.dir, [...args, '--kubeconfig', await cluster.kubeconfig({ user })])
  const quarantine = ['quarantine', 'team/vpc/aws', '1.0.0', '--message', 'leaks']
  const refused = await lifecycle('reader', ...quarantine)
  expect(refused.status).toBe(1)
  expect(refused.stderr).toMatch(/Module team\/network: .*forbidden/i)
  expect(await lifecycle('author', ...quarantine)).toMatchObject({
    status: 0,
    stdout: expect.stringContaining('1.0.0: Active -> Quarantined'),
  })
  await expect.poll(download).toBe(410)
  expect(await versions()).not.toContain('"1.0.0"')
  await lifecycle('author', 'activate', 'team/vpc/aws', '1.0.0')
  await expect.poll(download).toBe(204)
  const mistake = {
    apiVersion: 'depot.internal/v1alpha1',
    kind: 'Module',
    metadata: { name: 'mistaken' },
    spec: { moduleConfig: {}, lifecycle: [{ versions: '1.0,x', state: 'Yanked' }] },
  }
  await expect(cluster.admin.request('POST', `${apis}/modules`, mistake)).rejects.toThrow(
    /lifecycle\[0\]\.versions/,
  )
})
