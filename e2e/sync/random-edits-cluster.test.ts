import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import {
  type ControlPlane,
  startControlPlane,
} from '../../hack/testbed/control-plane/control-plane.ts'
import { applyManifests } from '../../hack/testbed/control-plane/manifests.ts'
import { kindNames } from '../../pkg/api/v1alpha1/v1alpha1.ts'
import { Scene } from '../../pkg/fill/sync/scene.fixture.ts'
import type { StoredObject } from '../../pkg/records/store/store.ts'
import { Catalog } from '../../pkg/registry/catalog/catalog.ts'
import { clusterPlace, connect, pathOf } from './cluster-place.fixture.ts'
import type { Edit } from './edits/edits.fixture.ts'
import { type EditedRegistry, edits, surviveEdits } from './edits/property.fixture.ts'

const apiGroup = 'depot.internal'
const namespace = 'team'
const objectKinds = ['Depot', 'Module', 'Provider', 'Version'] as const
let plane: ControlPlane

beforeAll(async () => {
  plane = await startControlPlane()
  await applyManifests(plane.admin, 'config/crd/bases')
  await plane.admin.send('POST', '/api/v1/namespaces', { metadata: { name: namespace } })
})
afterAll(() => plane?.stop())

const remove = (kind: string, name: string) =>
  plane.admin.request('DELETE', pathOf(kind, namespace, name))

/** Deletions with kubectl. This cluster collects no garbage, so Versions are deleted with their Module. */
const kubectl: readonly Edit[] = [
  async ({ random, scene }) => {
    const names = scene.names('Version')
    if (names.length === 0) return undefined
    const name = random.pick(names)
    await remove('Version', name)
    return { what: `kubectl delete version ${name}`, ordered: [`versions ${name}`] }
  },
  async ({ random, scene }) => {
    const parents = [
      ...scene.names('Module').map((one) => ['Module', one] as const),
      ...scene.names('Provider').map((one) => ['Provider', one] as const),
    ]
    if (parents.length === 0) return undefined
    const [kind, name] = random.pick(parents)
    const { uid } = scene.object(kind, name).metadata
    const children = scene.objects.list('Version', { namespace, ownerUid: uid })
    await remove(kind, name)
    for (const child of children) await remove('Version', child.metadata.name)
    return { what: `kubectl delete ${kind.toLowerCase()} ${name}`, ordered: [`${kind} ${name}`] }
  },
]

const revisionsOf = (objects: readonly StoredObject[]): string =>
  objects.map(({ metadata: { uid, resourceVersion } }) => `${uid} ${resourceVersion}`).join()

async function openRegistry(): Promise<EditedRegistry> {
  const scene = await Scene.open(clusterPlace(plane, namespace), namespace)
  const catalog = new Catalog({ apiGroup })
  const server = connect(plane)
  const scope = { watchNamespace: namespace, bindingsNamespace: namespace }
  await server.watch({ kinds: kindNames, scope, sink: catalog }).ready
  onTestFinished(async () => {
    await scene.close()
    await server.close()
  })
  const current = async (): Promise<StoredObject[]> => {
    const lists = objectKinds.map(async (kind) => {
      const list = await plane.admin.request('GET', pathOf(kind, namespace, ''))
      return (list as { items: StoredObject[] }).items.map((item) => ({ ...item, kind }))
    })
    return (await Promise.all(lists)).flat()
  }
  const isKnown = (all: readonly StoredObject[]): boolean => {
    const known = objectKinds.flatMap((kind) => scene.objects.list(kind, { namespace }))
    const count = objectKinds.reduce((sum, kind) => sum + catalog.count(kind), 0)
    if (known.length !== all.length || count !== all.length) return false
    return all.every(({ kind, metadata }) => {
      const own = scene.objects.get(kind, namespace, metadata.name)?.metadata
      const isOwn = own?.resourceVersion === metadata.resourceVersion
      return isOwn && catalog.holds({ kind, namespace, name: metadata.name }, metadata) === true
    })
  }
  return {
    scene,
    catalog,
    more: kubectl,
    settled: () => scene.idle(),
    async caughtUp() {
      const isCaughtUp = async () => {
        const all = await current()
        if (!isKnown(all)) return false
        // An event that has just arrived may have caused work.
        await scene.idle()
        return revisionsOf(all) === revisionsOf(await current())
      }
      await expect.poll(isCaughtUp, { timeout: 30_000, interval: 20 }).toBe(true)
    },
  }
}

it('after every edit of a cluster, what was installable before is still installable', async () => {
  const [count, seed] = [edits.count(15), edits.seed()]
  const { history, ...result } = await surviveEdits(await openRegistry(), count, seed)
  process.stdout.write(
    `${count} edits of a cluster with the seed ${seed}: ${JSON.stringify(result)}\n`,
  )
  expect(history).toHaveLength(count)
  // A person may have ordered the removal of everything by the end.
  expect(result.compared).toBeGreaterThan(count)
}, 3_600_000)
