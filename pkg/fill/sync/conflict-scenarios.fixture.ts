import { describe, expect, it } from 'vitest'
import type { ObjectPlace } from '../../records/store/conformance.fixture.ts'
import { ApiError, type Objects } from '../../records/store/store.ts'
import { eventually, storageConfig, url, versions } from './scenario-parts.fixture.ts'
import { Scene } from './scene.fixture.ts'

/** Changes a Version before each of a number of writes that report it as synced. */
function contested(objects: Objects, times: number): Objects {
  let left = times
  return {
    ...objects,
    async writeStatus(object, status) {
      const { kind, metadata } = object
      if (kind === 'Version' && (status as { synced?: boolean }).synced === true && left > 0) {
        left -= 1
        const { namespace, name } = metadata
        const annotations = { 'example.com/seen': `${times - left}` }
        await objects.patch({ kind, namespace, name }, { metadata: { annotations } })
      }
      return objects.writeStatus(object, status)
    },
  }
}

/** Fails every write that reports a Version as synced during an outage. */
function withOutage(objects: Objects, isDown: () => boolean): Objects {
  return {
    ...objects,
    async writeStatus(object, status) {
      const says = object.kind === 'Version' && (status as { synced?: boolean }).synced === true
      if (says && isDown()) throw new ApiError('Unavailable', 'the API server is unavailable')
      return objects.writeStatus(object, status)
    },
  }
}

/** Another program keeps changing the same objects. */
export function conflictScenarios(open: (namespace: string) => Promise<ObjectPlace>): void {
  describe('a status that conflicts with other writers', () => {
    const moduleConfig = { provider: 'aws', source: { type: 'git', url }, storageConfig }
    const syncedAfter = async (namespace: string, conflicts: number): Promise<string[]> => {
      const place = await open(namespace)
      const contestedPlace = {
        ...place,
        open: async () => contested(await place.open(), conflicts),
      }
      const scene = await Scene.open(contestedPlace, namespace)
      try {
        scene.upstream.repository(url, { 'v1.0.0': 'first' })
        await scene.write('Module', 'vpc', { moduleConfig, versions: versions('1.0.0') })
        await scene.run()
        await eventually(() => expect(scene.status('Version', 'vpc-1-0-0').synced).toBe(true))
        const { artifact } = scene.status('Version', 'vpc-1-0-0')
        expect(await scene.stored()).toEqual([`depot/vpc/${artifact?.fileName}`])
        const { annotations } = scene.object('Version', 'vpc-1-0-0').metadata
        expect(annotations['example.com/seen']).toBe(`${conflicts}`)
        const asked = (what: string) =>
          scene.upstream.asked.filter((request) => request.startsWith(what))
        expect(asked('fetch')).toHaveLength(1)
        return asked('resolve')
      } finally {
        await scene.close()
        await place.close()
      }
    }

    it('is retried five times at once', async () => {
      expect(await syncedAfter('contested-five', 5)).toHaveLength(1)
    })

    it('then returns to the queue, and is finally written', async () => {
      expect(await syncedAfter('contested-six', 6)).toHaveLength(2)
    })
  })

  describe('an unavailable API server', () => {
    const moduleConfig = { provider: 'aws', source: { type: 'git', url }, storageConfig }

    it('does not stop archives from being stored; they are reported later without another download', async () => {
      const namespace = 'status-outage'
      const place = await open(namespace)
      let isDown = true
      const scene = await Scene.open(
        { ...place, open: async () => withOutage(await place.open(), () => isDown) },
        namespace,
      )
      try {
        scene.upstream.repository(url, { 'v1.0.0': 'first' })
        await scene.write('Module', 'vpc', { moduleConfig, versions: versions('1.0.0') })
        await scene.begin()
        await eventually(async () => expect(await scene.stored()).toHaveLength(1))
        await eventually(() => expect(scene.failing()).toEqual([`Version ${namespace}/vpc-1-0-0`]))
        expect(scene.status('Version', 'vpc-1-0-0').synced).not.toBe(true)
        isDown = false
        await eventually(() => expect(scene.status('Version', 'vpc-1-0-0').synced).toBe(true))
        const { artifact } = scene.status('Version', 'vpc-1-0-0')
        expect(await scene.stored()).toEqual([`depot/vpc/${artifact?.fileName}`])
        expect(scene.upstream.asked.filter((one) => one.startsWith('fetch'))).toHaveLength(1)
      } finally {
        await scene.close()
        await place.close()
      }
    })
  })
}
