import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { archiveProbe, createArchives } from '../../pkg/archives/storage/storage.ts'
import { createLogger, createMetrics } from '../../pkg/base/telemetry/telemetry.ts'
import { Scene } from '../../pkg/fill/sync/scene.fixture.ts'
import { folderPlace } from '../../pkg/fill/sync/upstreams.fixture.ts'
import { watchManifests } from '../../pkg/records/folder/folder.ts'
import type { FolderObjects } from '../../pkg/records/store/store.ts'
import { Catalog } from '../../pkg/registry/catalog/catalog.ts'
import { folderEdits } from './edits/folder-edits.fixture.ts'
import { type EditedRegistry, edits, surviveEdits } from './edits/property.fixture.ts'

const apiGroup = 'depot.internal'

async function openRegistry(): Promise<EditedRegistry> {
  const dir = await mkdtemp(join(tmpdir(), 'depot-edits-'))
  const [manifests, aside] = [join(dir, 'manifests'), join(dir, 'aside')]
  await mkdir(manifests)
  await mkdir(aside)
  const scene = await Scene.open(folderPlace(manifests), 'team')
  const [log, metrics] = [createLogger('silent'), createMetrics({ version: 'test' })]
  const catalog = new Catalog({ apiGroup, firstBy: 'arrival' })
  const archives = createArchives({ filesystemMountPath: scene.storage, log, metrics })
  const probe = archiveProbe(archives)
  const server = await watchManifests({
    dir: manifests,
    apiGroup,
    sink: catalog,
    probe,
    log,
    metrics,
  })
  onTestFinished(async () => {
    await server.close()
    await scene.close()
    await rm(dir, { recursive: true })
  })
  let marks = 0
  return {
    scene,
    catalog,
    more: folderEdits(manifests, aside),
    settled: async () => {
      await (scene.objects as FolderObjects).settled()
      await scene.idle()
    },
    async caughtUp() {
      // A server reads files together, so everything that was written before the mark is read with it.
      marks += 1
      const annotations = { [`${apiGroup}/storage`]: `file:///${marks}` }
      const mark = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'mark', annotations } }
      const isSeen = async (grants: string | undefined) => {
        const patience = { timeout: 30_000, interval: 20 }
        await expect.poll(() => catalog.storageGrants('mark'), patience).toBe(grants)
      }
      await writeFile(join(manifests, 'mark.yaml'), JSON.stringify(mark))
      await isSeen(`file:///${marks}`)
      // A missing object may reappear for a moment. All missing ones are removed together.
      await rm(join(manifests, 'mark.yaml'))
      await isSeen(undefined)
    },
  }
}

it('after every edit of a folder, what was installable before is still installable', async () => {
  const [count, seed] = [edits.count(25), edits.seed()]
  const { history, ...result } = await surviveEdits(await openRegistry(), count, seed)
  process.stdout.write(
    `${count} edits of a folder with the seed ${seed}: ${JSON.stringify(result)}\n`,
  )
  expect(history).toHaveLength(count)
  // A person may have ordered the removal of everything by the end.
  expect(result.compared).toBeGreaterThan(count)
}, 3_600_000)
