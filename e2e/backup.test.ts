import { hash } from 'node:crypto'
import {
  globSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import { stringify } from 'yaml'
import { customResourceDefinition } from '../hack/definitions.ts'
import { buildSamples } from '../hack/samples.ts'
import {
  type ControlPlane,
  startControlPlane,
} from '../hack/testbed/control-plane/control-plane.ts'
import { applyAsController, applyManifests } from '../hack/testbed/control-plane/manifests.ts'
import { sampleStatus } from '../hack/testbed/control-plane/sample-status.ts'
import { runProgram } from '../hack/testbed/program/program.ts'
import { Registry } from '../hack/testbed/registry/registry.ts'
import { startAs } from '../hack/testbed/server/server.ts'
import { customResourceKinds, kinds } from '../pkg/api/v1alpha1/v1alpha1.ts'
import { createLogger, createMetrics } from '../pkg/base/telemetry/telemetry.ts'
import { lastBackupMs } from '../pkg/records/backup/backup.ts'
import { loadConnection, openCluster } from '../pkg/records/kube/kube.ts'

const group = 'depot.internal'
const namespaces = ['platform', 'payments', 'depot-system']
const folder = mkdtempSync(join(tmpdir(), 'depot-backup-'))
const backup = join(folder, 'backup.yaml')

let cluster: ControlPlane
let archives: Registry

interface Owned {
  readonly metadata: {
    readonly name: string
    readonly uid: string
    readonly ownerReferences?: object[]
  }
}
const versionsPath = '/apis/depot.internal/v1alpha1/namespaces/platform/versions'

beforeAll(async () => {
  archives = await new Registry().sign()
  await buildSamples(archives.archives)
  cluster = await startControlPlane()
  await applyManifests(cluster.admin, 'config/crd/bases', 'config/rbac', 'config/samples')
  await applyAsController(cluster.admin, sampleStatus(archives.archives))
  await setOwners()
})
afterAll(async () => {
  await cluster?.stop()
  archives?.remove()
  rmSync(folder, { recursive: true })
})

/** Sets owner references as a controller does: each Version belongs to its module or provider. */
async function setOwners(): Promise<void> {
  const api = cluster.admin
  const module = (await api.request(
    'GET',
    '/apis/depot.internal/v1alpha1/namespaces/platform/modules/network',
  )) as Owned
  const owner = {
    apiVersion: 'depot.internal/v1alpha1',
    kind: 'Module',
    name: 'network',
    uid: module.metadata.uid,
  }
  for (const { metadata } of await versions()) {
    const patch = { metadata: { ownerReferences: [owner] } }
    await api.request(
      'PATCH',
      `${versionsPath}/${metadata.name}`,
      patch,
      'application/merge-patch+json',
    )
  }
}

async function versions(): Promise<Owned[]> {
  return ((await cluster.admin.request('GET', versionsPath)) as { items: Owned[] }).items
}

/** Reads every answer of a server, by path; archives by their hash. */
async function answers(...flags: readonly string[]): Promise<Map<string, string>> {
  // A server without a history, because download counts are not records.
  for (const file of globSync('stats*', { cwd: archives.dir })) {
    rmSync(join(archives.dir, file), { recursive: true })
  }
  const server = await startAs(
    archives,
    '--anonymous-auth',
    '--kubeconfig',
    cluster.kubeconfigFile,
    ...flags,
  )
  const found = new Map<string, string>()
  const archiveUrls = new Set<string>()
  const ask = async (path: string): Promise<string> => {
    const response = await fetch(`${server.url}${path}`)
    const get = response.headers.get('x-terraform-get')
    if (get !== null) archiveUrls.add(get)
    const text = (await response.text())
      .replaceAll(server.url, '')
      .replace(/"generatedAt":"[^"]*"/, '"generatedAt":""')
    found.set(path, `${response.status} ${get?.replace(server.url, '') ?? ''} ${text}`)
    return text
  }
  try {
    for (const path of [
      'namespaces',
      'resources?page_size=100',
      'depots',
      'depots/graph',
      'stats',
    ]) {
      await ask(`/depot/ui/v1/${path}`)
    }
    await ask('/.well-known/terraform.json')
    const { items } = JSON.parse(await ask('/depot/ui/v1/resources?page_size=99')) as {
      items: { namespace: string; kind: string; name: string; provider?: string }[]
    }
    for (const { namespace, kind, name, provider } of items) {
      const page = `/depot/ui/v1/resources/${namespace}/${kind}/${name}`
      await ask(page)
      await ask(`${page}/scan-findings`)
      const list = JSON.parse(await ask(`${page}/versions?page_size=100`)) as {
        items: { version: string }[]
      }
      const address =
        kind === 'module'
          ? `/depot/modules/v1/${namespace}/${name}/${provider}`
          : `/depot/providers/v1/${namespace}/${name}`
      await ask(`${address}/versions`)
      for (const { version } of list.items) {
        if (kind === 'module') await ask(`${address}/${version}/download`)
        else await askProvider(ask, archiveUrls, `${address}/${version}`)
      }
    }
    for (const url of archiveUrls) {
      const address = url.startsWith('http') ? url : `${server.url}${url}`
      const body = Buffer.from(await (await fetch(address)).arrayBuffer())
      found.set(address.replace(server.url, ''), hash('sha256', body))
    }
    return found
  } finally {
    await server.stop()
  }
}

async function askProvider(
  ask: (path: string) => Promise<string>,
  archiveUrls: Set<string>,
  address: string,
): Promise<void> {
  for (const platform of ['linux/amd64', 'linux/arm64', 'darwin/arm64']) {
    const text = await ask(`${address}/download/${platform}`)
    await ask(`${address}/SHA256SUMS/${platform}`)
    const [, url] = /"download_url":"([^"]+)"/.exec(text) ?? []
    if (url !== undefined) archiveUrls.add(url)
  }
}

const run = (...args: readonly string[]) =>
  runProgram(folder, [...args, '--kubeconfig', cluster.kubeconfigFile])

/** Deletes namespaces with all objects, as the controllers of a whole cluster would. */
async function deleteNamespaces(): Promise<void> {
  const api = cluster.admin
  for (const namespace of namespaces) {
    const collections = [
      ...customResourceKinds.map(
        (kind) => `/apis/${group}/v1alpha1/namespaces/${namespace}/${kinds[kind].plural}`,
      ),
      `/api/v1/namespaces/${namespace}/configmaps`,
    ]
    for (const path of collections) await api.request('DELETE', path)
    await api.request('DELETE', `/api/v1/namespaces/${namespace}`)
    const finalized = {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: namespace },
      spec: { finalizers: [] },
    }
    await api.request('PUT', `/api/v1/namespaces/${namespace}/finalize`, finalized)
    await expect
      .poll(async () => (await api.send('GET', `/api/v1/namespaces/${namespace}`)).status)
      .toBe(404)
  }
}

it('restores every answer, byte by byte, after the namespaces were deleted', async () => {
  const before = await answers()
  expect(before.size).toBeGreaterThan(30)
  expect([...before.values()].filter((answer) => answer.startsWith('200')).length).toBeGreaterThan(
    20,
  )

  expect(await run('backup', '--out', backup)).toMatchObject({ status: 0 })
  expect(readFileSync(backup, 'utf8')).not.toMatch(
    /uid: .*\n.*resourceVersion|managedFields|creationTimestamp: "/,
  )
  await deleteNamespaces()
  const gone = await answers()
  expect(gone).not.toEqual(before)

  const tried = await run('restore', backup, '--dry-run')
  expect(tried).toMatchObject({ status: 0, stderr: '' })
  expect(tried.stdout).toMatch(/^\d+ objects would be restored, \d+ of them into namespaces/)
  expect(await answers()).toEqual(gone)

  const restored = await run('restore', backup)
  expect(restored).toMatchObject({ status: 0, stderr: '' })
  expect(restored.stdout).toMatch(/^\d+ objects restored, \d+ with their status\n$/)
  expect(await answers()).toEqual(before)
})

it('drops owner references, because their objects were in the previous cluster', async () => {
  const restored = await versions()
  expect(restored.length).toBeGreaterThan(2)
  expect(restored.filter(({ metadata }) => metadata.ownerReferences !== undefined)).toEqual([])
  expect(readFileSync(backup, 'utf8')).toContain('ownerReferences')
})

it('changes nothing if every object exists', async () => {
  const before = await answers()
  expect(await run('restore', backup)).toMatchObject({ status: 0 })
  expect(await answers()).toEqual(before)
})

it('saves the ConfigMap of an interface whose module has no README', async () => {
  const api = cluster.admin
  const metadata = { name: 'typed-readme', namespace: 'platform' }
  const configMap = { metadata, data: { 'interface.json': 'e30=' } }
  await api.request('POST', '/api/v1/namespaces/platform/configmaps', configMap)
  const [version] = await versions()
  await api.request(
    'PATCH',
    `${versionsPath}/${version?.metadata.name}/status`,
    { status: { interfaceConfigMapRef: { name: metadata.name, key: 'interface.json' } } },
    'application/merge-patch+json',
  )
  const { stdout } = await run('backup', '--namespaces', 'platform')
  expect(stdout).toContain('interface.json: e30=')
})

it('saves only one namespace if only that is requested', async () => {
  const { stdout } = await run('backup', '--namespaces', 'payments')
  expect(stdout).toContain('namespace: payments')
  expect(stdout).not.toContain('namespace: platform')
})

it('refuses a backup of another group until both are named', async () => {
  for (const kind of customResourceKinds) {
    const file = join(folder, `${kind}.yaml`)
    writeFileSync(file, stringify(customResourceDefinition(kind, 'registry.example.com')))
    await applyManifests(cluster.admin, file)
  }
  const refused = await run('restore', backup, '--api-group', 'registry.example.com')
  expect(refused).toMatchObject({ status: 2 })
  expect(refused.stderr).toContain('name both with --map-group depot.internal=registry.example.com')

  const mapped = await run('restore', backup, '--map-group', 'depot.internal=registry.example.com')
  expect(mapped).toMatchObject({ status: 0, stderr: '' })
  const ours = await answers()
  const theirs = await answers('--api-group', 'registry.example.com')
  expect(theirs).toEqual(ours)
})

it.each([
  ['is cut short', (text: string) => text.slice(0, text.length / 2), /no end/],
  [
    'lost an object',
    (text: string) => text.split('---\n').toSpliced(3, 1).join('---\n'),
    /has \d+ objects/,
  ],
  ['is another document', () => 'hello: there\n', /no end/],
  ['is empty', () => '', /no end/],
  [
    'holds a different object',
    (text: string) => text.replace('kind: Namespace', 'kind: Secret'),
    /is not one of/,
  ],
  [
    'is invalid YAML',
    (text: string) => text.replace('metadata:', 'metadata: ['),
    /is not valid YAML/,
  ],
])('refuses a backup that %s, and changes nothing', async (_, damage, message) => {
  const file = join(folder, 'damaged.yaml')
  writeFileSync(file, damage(readFileSync(backup, 'utf8')))
  const { status, stderr } = await run('restore', file)
  expect(status).toBe(2)
  expect(stderr).toMatch(message)
})

it('names every object that the API server refuses, and restores the others', async () => {
  const file = join(folder, 'wrong.yaml')
  const text = readFileSync(backup, 'utf8')
  const wrong = text.replace(
    /kind: Version\n([^]*?)spec:\n/,
    'kind: Version\n$1spec:\n  surprise: true\n',
  )
  writeFileSync(file, wrong.replace(/ {2}type: Module\n/, '  type: Nothing\n'))
  const { status, stderr, stdout } = await run('restore', file)
  expect(status).toBe(1)
  expect(stderr).toMatch(/^Version \w+\/[\w.-]+: PATCH .*\n/)
  expect(stdout).toMatch(/^\d+ objects restored/)
})

it('keeps the newest backups of a folder, records the time in a Lease, and restores the newest', async () => {
  const before = await answers()
  const dir = join(folder, 'new/backups')
  const leases = '/apis/coordination.k8s.io/v1/namespaces/platform/leases'
  await cluster.admin.request('POST', leases, { metadata: { name: 'depot-backup' } })
  const kube = openCluster({
    connection: loadConnection({ kubeconfig: cluster.kubeconfigFile, env: {} }),
    apiGroup: group,
    log: createLogger('silent'),
    metrics: createMetrics({ version: 'test' }),
  })
  onTestFinished(() => kube.close())
  const noted = () => lastBackupMs(kube.client, { namespace: 'platform', name: 'depot-backup' })
  const createdMs = await noted()
  mkdirSync(dir, { recursive: true })
  const old = ['depot-20250101T000000Z.yaml', 'depot-20250102T000000Z.yaml', 'depot-1.yaml.part']
  for (const name of [...old, 'mine.yaml']) writeFileSync(join(dir, name), '')
  const flags = ['--dir', dir, '--keep', '2', '--namespace', 'platform']
  const saved = await run('backup', ...flags, '--lease-name', 'depot-backup')
  expect(saved).toMatchObject({ status: 0, stderr: '' })
  expect(await noted()).toBeGreaterThan(createdMs - 1)
  expect(Date.now() - (await noted())).toBeLessThan(60_000)
  const kept = readdirSync(dir)
  expect(kept).toEqual([old[1], expect.stringMatching(/^depot-\d{8}T\d{6}Z\.yaml$/), 'mine.yaml'])
  expect(saved.stdout).toBe(`saved ${join(dir, kept[1] ?? '')}\n`)

  await deleteNamespaces()
  expect(await run('restore', dir)).toMatchObject({ status: 0, stderr: '' })
  expect(await answers()).toEqual(before)
})

it('says which Lease is missing, and keeps the backup', async () => {
  const dir = join(folder, 'no-lease')
  const { status, stderr } = await run('backup', '--dir', dir, '--lease-name', 'none')
  expect(status).toBe(2)
  expect(stderr).toContain('leases/none')
  expect(readdirSync(dir)).toHaveLength(1)
})

it('says what to do if the definitions are missing', async () => {
  const { status, stderr } = await run(
    'restore',
    backup,
    '--map-group',
    'depot.internal=other.example.com',
  )
  expect(status).toBe(2)
  expect(stderr).toContain('kubectl apply --server-side -k config/crd')
})
