import { createHash } from 'node:crypto'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { stringify } from 'yaml'
import { defaultLimits } from '../../pkg/archives/archive/archive.ts'
import { openSpool } from '../../pkg/archives/spool/spool.ts'
import { type ArchivePlace, openArchiveStore } from '../../pkg/archives/storage/storage.ts'
import { createLogger, createMetrics } from '../../pkg/base/telemetry/telemetry.ts'
import { startSync } from '../../pkg/fill/sync/sync.ts'
import { TestUpstream } from '../../pkg/fill/sync/upstream.fixture.ts'
import { folderObjects } from '../../pkg/records/store/store.ts'
import { objectStores } from '../storage.fixture.ts'

const apiGroup = 'depot.internal'
const log = createLogger('silent')
const twoDaysMs = 48 * 60 * 60_000

const names = {
  upload: 'vpc-1.0.0-0123456789ab.tar.gz',
  fileName: 'vpc-2.0.0-0123456789ab.tar.gz',
  status: 'vpc-3.0.0-0123456789ab.tar.gz',
  orphan: 'vpc-4.0.0-0123456789ab.tar.gz',
  byHand: 'vpc-4.0.0.tar.gz',
}

/** A Version without a controller, in one of the ways to name an archive. */
function version(number: string, storageConfig: object, spec: object, status?: object): string {
  return stringify({
    apiVersion: `${apiGroup}/v1alpha1`,
    kind: 'Version',
    metadata: { name: `vpc-${number}`, namespace: 'team' },
    spec: {
      type: 'Module',
      version: `${number}.0.0`,
      suspend: true,
      moduleConfigRef: { name: 'vpc', provider: 'aws', storageConfig },
      ...spec,
    },
    ...(status && { status }),
  })
}

async function put(place: ArchivePlace, dir: string, fileName: string): Promise<void> {
  const path = join(dir, fileName)
  writeFileSync(path, fileName)
  const sha256 = createHash('sha256').update(fileName).digest('hex')
  await place.driver.put(place.object(fileName), { path, sizeBytes: fileName.length, sha256 })
}

describe.each(objectStores)('a sweep of $name', ({ name, missing, start }) => {
  it.skipIf(missing)('removes only objects that no spec and no status names', async () => {
    const { store, config } = await start()
    onTestFinished(store.stop)
    // The container of a module, for stores in which each module has a container.
    const bucket = name === 'azure' ? 'vpc' : 'archives'
    await store.createBucket(bucket)
    const storageConfig = config(bucket)
    const dir = mkdtempSync(join(tmpdir(), 'depot-sweep-'))
    onTestFinished(() => rmSync(dir, { recursive: true }))
    const manifests = join(dir, 'manifests')
    mkdirSync(manifests)
    const all = [
      version('1', storageConfig, {
        upload: { fileName: names.upload, sha256: 'a'.repeat(64), sizeBytes: 1 },
      }),
      version('2', storageConfig, { fileName: names.fileName }),
      version('3', storageConfig, {}, { artifact: { fileName: names.status } }),
    ]
    writeFileSync(join(manifests, 'versions.yaml'), all.join('---\n'))
    const archives = openArchiveStore({ filesystemMountPath: dir, [name]: store })
    const place = archives.for(storageConfig, 'vpc')
    for (const fileName of Object.values(names)) await put(place, dir, fileName)
    const objects = await folderObjects({ dir: manifests, apiGroup, watch: false, log })
    const spool = await openSpool({ dir: join(dir, 'spool'), sizeBytes: 2 ** 20 })
    const sync = await startSync({
      limits: defaultLimits,
      objects,
      sources: new TestUpstream(spool),
      archives,
      spool,
      apiGroup,
      log,
      metrics: createMetrics({ version: 'test' }),
      // Stores set the time of an object themselves.
      clock: () => Date.now() + twoDaysMs,
      timings: { sweepMs: 200 },
      sweepDelete: true,
    })
    onTestFinished(async () => {
      await sync.stop()
      await spool.close()
    })
    const left = async () => {
      const found = await Array.fromAsync(place.driver.list(place.prefix))
      return found.map(({ object }) => object.slice(place.prefix.length)).toSorted()
    }
    const { orphan: _, ...kept } = names
    await expect.poll(left, { timeout: 30_000 }).toEqual(Object.values(kept).toSorted())
  })
})
