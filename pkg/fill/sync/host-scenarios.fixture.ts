import { afterEach, describe, expect, it } from 'vitest'
import { eventually, storageConfig, versions } from './scenario-parts.fixture.ts'
import type { Scene } from './scene.fixture.ts'

/** A slow host must not slow down others. */
export function hostScenarios(scene: () => Scene): void {
  describe('a host that is slow', () => {
    const [slow, quick] = ['https://slow.test/acme/vpc.git', 'https://quick.test/acme/vpc.git']
    const many = Array.from({ length: 8 }, (_, minor) => `1.${minor}.0`)
    const write = (name: string, repository: string, all: readonly string[]) => {
      const source = { type: 'git', url: repository }
      const moduleConfig = { provider: 'aws', source, storageConfig }
      return scene().write('Module', name, { moduleConfig, versions: versions(...all) })
    }
    const fetched = () => scene().upstream.asked.filter((one) => one.startsWith(`fetch ${slow}`))
    const isSynced = (name: string) =>
      eventually(() => expect(scene().status('Module', name).synced).toBe(true))
    let letGo = () => {}
    // Even after a failure, because the end waits for running work.
    afterEach(() => letGo())
    /** Begins with two downloads of the slow host that last until they are released. */
    const begin = async () => {
      const { upstream } = scene()
      const delay = Promise.withResolvers<void>()
      letGo = delay.resolve
      upstream.delays.set(slow, delay.promise)
      const tags = Object.fromEntries(many.map((version) => [version, version]))
      for (const repository of [slow, quick]) upstream.repository(repository, tags)
      await write('slow', slow, many)
      const sync = await scene().begin()
      await eventually(() => expect(fetched()).toHaveLength(2))
      return sync
    }

    it('does not delay another', async () => {
      const sync = await begin()
      await write('quick', quick, many)
      await isSynced('quick')
      expect(fetched()).toHaveLength(2)
      letGo()
      await sync.idle()
      expect(fetched()).toHaveLength(many.length)
      expect(scene().status('Module', 'slow').synced).toBe(true)
    })

    it('serves others after Versions that waited for it were deleted or moved', async () => {
      const sync = await begin()
      await write('moving', slow, many)
      await eventually(() => expect(scene().names('Version')).toHaveLength(2 * many.length))
      await write('slow', slow, [])
      await write('moving', quick, many)
      await isSynced('moving')
      expect(fetched()).toHaveLength(2)
      letGo()
      await write('after', slow, many)
      await isSynced('after')
      await sync.idle()
    })
  })
}
