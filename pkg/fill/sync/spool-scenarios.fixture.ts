import { randomBytes } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import { defaultLimits } from '../../archives/archive/archive.ts'
import type { ObjectPlace } from '../../records/store/conformance.fixture.ts'
import { eventually, storageConfig, versions } from './scenario-parts.fixture.ts'
import { Scene } from './scene.fixture.ts'
import { rewritingBytes } from './version/store.ts'

/** Archives of about 1.4 kB, and space for one of them and for rewriting a module. */
const roomOfOne = rewritingBytes(1400, defaultLimits.module)
const spoolBytes = roomOfOne + 2000
const content = () => randomBytes(1000).toString('hex')

/** Archives that compete for space in the spool. */
export function spoolScenarios(open: (namespace: string) => Promise<ObjectPlace>): void {
  describe('a full spool', () => {
    /** A module that is stored in a folder of its name. */
    const write = (scene: Scene, name: string) => {
      const url = `https://git.test/${name}.git`
      scene.upstream.repository(url, { 'v1.0.0': content() })
      const own = { fileSystem: { directoryPath: name } }
      const moduleConfig = { provider: 'aws', source: { type: 'git', url }, storageConfig: own }
      return scene.write('Module', name, { moduleConfig, versions: versions('1.0.0') })
    }

    /** A scene whose spool is small, in a namespace of its own. */
    const inSpool = async (
      namespace: string,
      sizeBytes: number,
      run: (scene: Scene) => Promise<void>,
    ): Promise<void> => {
      const place = await open(namespace)
      const scene = await Scene.open(place, namespace, sizeBytes)
      try {
        await run(scene)
      } finally {
        await scene.close()
        await place.close()
      }
    }

    it('drops archives that wait for unavailable storage', () =>
      inSpool('full', spoolBytes, async (scene) => {
        await writeFile(`${scene.storage}/broken`, 'this is a file')
        await write(scene, 'broken')
        await scene.run()
        expect(scene.condition('Version', 'broken-1-0-0', 'Stored')).toMatchObject({
          reason: 'StorageFailed',
        })
        await write(scene, 'other')
        await eventually(() => expect(scene.status('Version', 'other-1-0-0').synced).toBe(true))
      }))

    it('is reported by the archives that wait for it, which are stored once there is room', () =>
      inSpool('waiting', spoolBytes, async (scene) => {
        const { signal } = new AbortController()
        const taken = await scene.spool.reserve(roomOfOne, { signal })
        await write(scene, 'vpc')
        await scene.begin()
        await eventually(() =>
          expect(scene.condition('Version', 'vpc-1-0-0', 'Reconciling')).toMatchObject({
            status: 'True',
            reason: 'WaitingForSpool',
          }),
        )
        expect(await scene.stored()).toEqual([])
        await taken.remove()
        await eventually(() => expect(scene.status('Version', 'vpc-1-0-0').synced).toBe(true))
      }))

    it('does not block an archive because of its documents', () =>
      // Room for one archive of a provider.
      inSpool('documents', 300, async (scene) => {
        const platforms = ['linux/amd64']
        const signer = 'A'.repeat(40)
        scene.upstream.provider('acme/hello', {
          '1.0.0': { platforms, signer },
          '1.1.0': { platforms, signer },
          '1.2.0': { platforms, signer },
        })
        const providerConfig = { namespace: 'acme', storageConfig }
        const wanted = versions('1.0.0', '1.1.0', '1.2.0')
        await scene.write('Provider', 'hello', { providerConfig, versions: wanted })
        await scene.begin()
        await eventually(() => expect(scene.status('Provider', 'hello').synced).toBe(true))
      }))

    it('does not block a fetched archive forever that needs more room', () =>
      inSpool('narrow', spoolBytes, async (scene) => {
        const names = ['a', 'b', 'c', 'd']
        for (const name of names) await write(scene, name)
        await scene.begin({ timings: { roomMs: 200 } })
        await eventually(() => {
          for (const name of names) expect(scene.status('Module', name).synced).toBe(true)
        })
      }))
  })
}
