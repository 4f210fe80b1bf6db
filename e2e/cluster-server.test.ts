import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { type Archive, ChangingVersions } from '../hack/testbed/control-plane/changing-versions.ts'
import {
  type ControlPlane,
  startControlPlane,
} from '../hack/testbed/control-plane/control-plane.ts'
import { applyManifests } from '../hack/testbed/control-plane/manifests.ts'
import { Registry } from '../hack/testbed/registry/registry.ts'
import { startReaders } from '../hack/testbed/server/readers.ts'
import { launch, type Server, startAs } from '../hack/testbed/server/server.ts'

/** `DEPOT_E2E_KILLS=20` raises the number. */
const kills = Number(process.env['DEPOT_E2E_KILLS'] ?? 5)

let cluster: ControlPlane
let server: Server
let changing: ChangingVersions
const registry = new Registry()

const start = (kubeconfig: string) => ['--anonymous-auth', '--kubeconfig', kubeconfig]

beforeAll(async () => {
  cluster = await startControlPlane({ users: { nobody: [] } })
  await applyManifests(cluster.admin, 'config/crd/bases', 'config/rbac')
  changing = new ChangingVersions(cluster)
  await changing.prepare()
  const token = await cluster.serviceAccountToken('depot-system', 'depot-server')
  server = await startAs(registry, ...start(await cluster.kubeconfig({ token })))
})
afterAll(async () => {
  await server?.stop()
  await cluster?.stop()
  registry.remove()
})

const versionsPath = (module: string) =>
  `/depot/modules/v1/${changing.namespace}/${module}/aws/versions`
const detailPath = (module: string) =>
  `/depot/ui/v1/resources/${changing.namespace}/module/${module}`

const json = async <T>(path: string): Promise<T> =>
  (await (await fetch(`${server.url}${path}`)).json()) as T

/** Omits fields that a Version without a status lacks. */
type Shown = Pick<Archive, 'version' | 'fileName'> & Partial<Archive>

/** Reads the versions of a module, like a CLI and from the browse API. */
async function served(module: string): Promise<{ versions: string[]; archives: Archive[] }> {
  const { modules } = await json<{ modules: { versions: { version: string }[] }[] }>(
    versionsPath(module),
  )
  const { items } = await json<{ items: Shown[] }>(`${detailPath(module)}/versions?page_size=100`)
  return {
    versions: modules.flatMap(({ versions }) => versions.map(({ version }) => version)),
    archives: items.map(({ version, fileName, checksum = '', archiveSizeBytes = 0 }) => {
      return { version, fileName, checksum, archiveSizeBytes }
    }),
  }
}

/** Compares the server with a new list, object by object. @returns how long it took to be equal */
async function untilEqual(): Promise<number> {
  const startMs = performance.now()
  const wait = { timeout: 60_000, interval: 20 }
  // Shortly after its start, an API server answers 429 for a while.
  const fresh = await vi.waitFor(() => changing.list(), wait)
  for (const [module, archives] of Object.entries(fresh)) {
    const known = archives.filter(({ checksum }) => checksum !== '')
    const expected = { versions: known.map(({ version }) => version), archives }
    await vi.waitFor(async () => expect(await served(module)).toEqual(expected), wait)
  }
  return Math.round(performance.now() - startMs)
}

/** The verbs that the server's identity has used on the API server so far. */
function auditedVerbs(): string[] {
  const lines = readFileSync(cluster.auditLogFile, 'utf8').trimEnd().split('\n')
  return lines
    .map((line) => JSON.parse(line) as { verb: string; user: { username: string } })
    .filter(({ user }) => user.username === 'system:serviceaccount:depot-system:depot-server')
    .map(({ verb }) => verb)
}

describe('a server on a cluster', () => {
  it('sends no request to it while it answers ten thousand', async () => {
    await untilEqual()
    const before = auditedVerbs().length
    const paths = [
      ...changing.modules.flatMap((module) => [versionsPath(module), detailPath(module)]),
      ...['namespaces', 'resources', 'stats', 'depots'].map((path) => `/depot/ui/v1/${path}`),
      '/.well-known/terraform.json',
    ]
    const readers = startReaders(server.url, paths, { most: 10_000 })
    await readers.done
    expect(readers.failed).toEqual([])
    expect(readers.reads).toBe(10_000)
    const during = auditedVerbs().slice(before)
    expect(during.filter((verb) => verb !== 'list' && verb !== 'watch')).toEqual([])
    // A watch may end in this time and start again.
    expect(during.length).toBeLessThan(20)
  })

  it('answers every read while its API server is killed repeatedly, and catches up', {
    timeout: 900_000,
  }, async () => {
    const end = new AbortController()
    // Without a pause, the reads would take most of the processor time, and the API server would start later.
    const reading = { signal: end.signal, pauseMs: 15 }
    const readers = startReaders(server.url, changing.modules.map(versionsPath), reading)
    const caughtUpMs: number[] = []
    while (caughtUpMs.length < kills) {
      const pause = new AbortController()
      const writing = changing.write(pause.signal)
      await sleep(1_000)
      await cluster.stopApiServer('kill')
      await cluster.startApiServer()
      pause.abort()
      await writing
      caughtUpMs.push(await untilEqual())
    }
    end.abort()
    await readers.done
    const did = `${caughtUpMs.length} kills, ${changing.written} changes, ${readers.reads} reads`
    console.log(`e2e: ${did}; equal to the cluster after ms: ${caughtUpMs.join(' ')}`)
    expect(readers.failed).toEqual([])
    await untilEqual()
    expect(new Set(auditedVerbs())).toEqual(new Set(['list', 'watch']))
  })

  it('shows the README of the latest version, and replaces it when a newer version appears', async () => {
    const [module = ''] = changing.modules
    const release = async (version: string) => {
      const name = `readme-${module}-${version}`
      await cluster.admin.apply(`/api/v1/namespaces/${changing.namespace}/configmaps/${name}`, {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name, labels: { 'depot.internal/readme': 'true' } },
        data: { 'README.md': Buffer.from(`# Größe ${version}`).toString('base64') },
      })
      const readmeConfigMapRef = { name, key: 'README.md' }
      const status = { synced: true, checksum: '0'.repeat(64), readmeConfigMapRef }
      await changing.release(module, version, 'a.zip', status)
    }
    const untilShown = (latestVersion: string) =>
      vi.waitFor(
        async () =>
          expect(await json(detailPath(module))).toMatchObject({
            latestVersion,
            readmeContent: `# Größe ${latestVersion}`,
          }),
        { timeout: 30_000, interval: 50 },
      )
    await release('2.0.0')
    await untilShown('2.0.0')
    await release('2.1.0')
    await untilShown('2.1.0')
    await changing.remove(module, '2.1.0')
    await untilShown('2.0.0')
  })
})

it('a server without permission to read is not ready, names the missing permission, and recovers', async () => {
  const own = new Registry()
  const kubeconfig = await cluster.kubeconfig({ user: 'nobody' })
  const denied = await launch(own, ...start(kubeconfig))
  const line = () => denied.log.find((text) => text.includes('permission missing'))
  await vi.waitFor(() => expect(line()).toBeDefined(), { timeout: 30_000 })
  expect(JSON.parse(line() ?? '')).toMatchObject({
    level: 'error',
    verb: 'watch',
    resource: expect.stringMatching(/^(namespaces|\w+\.depot\.internal)$/),
    message: expect.stringContaining('User "nobody" cannot watch resource'),
  })
  const ready = async () => (await fetch(`${denied.adminUrl}/readyz`)).status
  expect(await ready()).toBe(503)

  const apiGroup = 'rbac.authorization.k8s.io'
  await cluster.admin.apply(`/apis/${apiGroup}/v1/clusterrolebindings/nobody`, {
    apiVersion: `${apiGroup}/v1`,
    kind: 'ClusterRoleBinding',
    metadata: { name: 'nobody' },
    roleRef: { apiGroup, kind: 'ClusterRole', name: 'cluster-admin' },
    subjects: [{ kind: 'User', name: 'nobody', apiGroup }],
  })
  await vi.waitFor(async () => expect(await ready()).toBe(200), { timeout: 60_000 })
  expect(await denied.stop()).toBe(0)
  own.remove()
})
