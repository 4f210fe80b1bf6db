import { randomBytes } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { type ArchiveLimits, defaultLimits } from '../../archives/archive/archive.ts'
import { storageConfig, versions } from './scenario-parts.fixture.ts'
import type { Scene } from './scene.fixture.ts'

/** Options limit the size of archives. */
export function limitScenarios(scene: () => Scene): void {
  describe('the limit of an archive', () => {
    it.each<Partial<ArchiveLimits>>([{ packedBytes: 1000 }, { unpackedBytes: 3000 }])(
      'refuses what is larger than %o, until it is raised',
      async (limit) => {
        const url = 'https://git.test/large.git'
        const content = randomBytes(2000).toString('hex')
        scene().upstream.repository(url, { 'v1.0.0': content })
        const moduleConfig = { provider: 'aws', source: { type: 'git', url }, storageConfig }
        await scene().write('Module', 'large', { moduleConfig, versions: versions('1.0.0') })
        const module = { ...defaultLimits.module, ...limit }
        await scene().run({ limits: { ...defaultLimits, module } })
        expect(scene().condition('Version', 'large-1-0-0', 'Stalled')).toMatchObject({
          status: 'True',
          reason: 'ArchiveTooLarge',
          message: expect.stringMatching(/or raise --module-(size|unpacked)-limit$/) as string,
        })
        expect(await scene().stored()).toEqual([])
        await scene().run()
        expect(scene().status('Version', 'large-1-0-0').synced).toBe(true)
      },
    )
  })
}
