import { cp, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import {
  type ControlPlane,
  startControlPlane,
} from '../../hack/testbed/control-plane/control-plane.ts'
import { applyManifests } from '../../hack/testbed/control-plane/manifests.ts'
import { createLogger } from '../../pkg/base/telemetry/telemetry.ts'
import { Scene } from '../../pkg/fill/sync/scene.fixture.ts'
import { clusterPlace } from './cluster-place.fixture.ts'

const namespace = 'team'
const url = 'https://git.test/acme/vpc'
const definition = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions/modules.depot.internal'
/** A watch of a restored cluster is silent, so it has to count as dead soon. */
const timings = { backoffMs: 50, backoffCapMs: 1_000, idleMs: 4_000, headersMs: 4_000 }
const patience = { timeout: 60_000, interval: 50 }
let plane: ControlPlane

beforeAll(async () => {
  plane = await startControlPlane()
  await applyManifests(plane.admin, 'config/crd/bases')
  await plane.admin.send('POST', '/api/v1/namespaces', { metadata: { name: namespace } })
})
afterAll(() => plane?.stop())

async function openScene(): Promise<Scene> {
  const scene = await Scene.open(clusterPlace(plane, namespace, timings), namespace)
  onTestFinished(() => scene.close())
  scene.upstream.repository(url, { 'v1.0.0': 'first', 'v1.1.0': 'second' })
  return scene
}

const both = ['1.0.0', '1.1.0']

const writeModule = (scene: Scene, name: string, versions = both, suspend = false) =>
  scene.write('Module', name, {
    moduleConfig: {
      provider: 'aws',
      source: { type: 'git', url },
      storageConfig: { fileSystem: { directoryPath: 'depot' } },
    },
    versions: versions.map((version) => ({ version })),
    suspend,
  })

it('keeps the archives of a cluster that lost its records', async () => {
  const copies = await mkdtemp(join(tmpdir(), 'depot-etcd-'))
  onTestFinished(() => rm(copies, { recursive: true }))
  await plane.whileStopped((data) => cp(data, join(copies, 'etcd'), { recursive: true }))
  const scene = await openScene()
  await writeModule(scene, 'vpc')
  await scene.run()
  const stored = await scene.stored()
  expect(stored).toHaveLength(2)
  // The watch of Modules may notice the loss later, and until then a Module would create its Versions again.
  await writeModule(scene, 'vpc', both, true)
  const suspended = () => scene.condition('Module', 'vpc', 'Suspended')?.status
  await expect.poll(suspended, patience).toBe('True')
  await plane.whileStopped(async (data) => {
    await rm(data, { recursive: true })
    await cp(join(copies, 'etcd'), data, { recursive: true })
  })
  await expect.poll(() => scene.names('Version'), patience).toEqual([])
  // An intended removal is recorded. When its note is written, earlier ones would also be written.
  await writeModule(scene, 'other')
  await expect.poll(() => scene.names('Module'), patience).toEqual(['other'])
  await expect.poll(() => scene.status('Module', 'other').synced, patience).toBe(true)
  await writeModule(scene, 'other', ['1.1.0'])
  await expect.poll(() => scene.names('Version'), patience).toEqual(['other-1-1-0'])
  expect((await scene.objects.notes.all()).size).toBe(1)
  scene.aheadMs += 25 * 60 * 60_000
  await scene.run()
  const other = expect.stringMatching(/^depot\/other\/other-1\.1\.0-/) as string
  expect(await scene.stored()).toEqual([other, ...stored])
}, 180_000)

const writeDepot = (scene: Scene, name: string) =>
  scene.write('Depot', 'lost', {
    global: { storageConfig: { fileSystem: { directoryPath: 'depot' } } },
    moduleConfigs: [{ name, provider: 'aws', source: { type: 'git', url } }],
  })

it.each([
  ['Version', 'Module', writeModule],
  ['Module', 'Depot', writeDepot],
] as const)(
  'does not create a %s again for a %s that the cluster lost',
  async (_, kind, write) => {
    const copies = await mkdtemp(join(tmpdir(), 'depot-etcd-'))
    onTestFinished(() => rm(copies, { recursive: true }))
    const scene = await openScene()
    await plane.whileStopped((data) => cp(data, join(copies, 'etcd'), { recursive: true }))
    await write(scene, 'lost')
    await scene.run()
    expect(scene.names('Version')).toContain('lost-1-0-0')
    await plane.whileStopped(async (data) => {
      await rm(data, { recursive: true })
      await cp(join(copies, 'etcd'), data, { recursive: true })
    })
    await expect.poll(() => scene.names(kind), patience).not.toContain('lost')
    await scene.idle()
    for (const plural of ['modules', 'versions']) {
      const path = `/apis/depot.internal/v1alpha1/namespaces/${namespace}/${plural}`
      const list = (await plane.admin.request('GET', path)) as {
        items: { metadata: { name: string } }[]
      }
      const names = list.items.map(({ metadata }) => metadata.name)
      expect(names.filter((one) => one.startsWith('lost'))).toEqual([])
    }
  },
  180_000,
)

it('says that a definition lacks the status, instead of treating the object as deleted', async () => {
  const whole = (await plane.admin.request('GET', definition)) as {
    spec: { versions: { subresources?: object }[] }
  }
  const [version, ...others] = whole.spec.versions
  const { subresources: _, ...bare } = version ?? {}
  await plane.admin.request('PUT', definition, {
    ...whole,
    spec: { ...whole.spec, versions: [bare, ...others] },
  })
  const scene = await openScene()
  await writeModule(scene, 'bare')
  const lines: string[] = []
  const log = createLogger('info', { write: (line: string) => void lines.push(line) })
  await scene.begin({ log })
  await expect
    .poll(() => lines.find((line) => line.includes('status subresource')), patience)
    .toContain('kubectl apply --server-side -k config/crd')
  expect(scene.failing()).toContain(`Module ${namespace}/bare`)
}, 60_000)
