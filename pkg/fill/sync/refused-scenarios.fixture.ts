import { describe, expect, it } from 'vitest'
import { FillError } from '../sources/sources.ts'
import { eventually, storageConfig, url, versions } from './scenario-parts.fixture.ts'
import type { Scene } from './scene.fixture.ts'

const hour = 60 * 60_000

/** An archive that was damaged on its way is refused, and may be whole the next time. */
export function refusedScenarios(scene: () => Scene): void {
  const moduleConfig = { provider: 'aws', source: { type: 'git', url }, storageConfig }
  const version = 'vpc-1-0-0'
  const fetch = `fetch ${url} 1.0.0`
  const fetched = () => scene().upstream.asked.filter((what) => what === fetch).length
  const refuse = async (reason: FillError['reason'] = 'NotAnArchive') => {
    scene().upstream.repository(url, { 'v1.0.0': 'first' })
    scene().upstream.faults.set(fetch, new FillError(reason, 'the archive is damaged'))
    await scene().write('Module', 'vpc', { moduleConfig, versions: versions('1.0.0') })
    await scene().run()
    expect(scene().condition('Version', version, 'Stalled')).toMatchObject({ reason })
  }

  describe('a refused archive', () => {
    it('is fetched again after a minute', async () => {
      await refuse()
      scene().upstream.faults.clear()
      await scene().run()
      expect(fetched()).toBe(1)
      scene().aheadMs += 70_000
      await scene().run()
      expect(scene().status('Version', version)).toMatchObject({ synced: true })
      expect(scene().status('Version', version).attempted).toBeUndefined()
    })

    it('is fetched again although a clock that was years ahead wrote when it was refused', async () => {
      scene().aheadMs = 5 * 365 * 24 * hour
      await refuse()
      scene().upstream.faults.clear()
      scene().aheadMs = 0
      await scene().run()
      expect(scene().status('Version', version)).toMatchObject({ synced: true })
    })

    it('is fetched again without a restart', async () => {
      await refuse()
      await scene().run({ timings: { refusedMs: 10 } })
      await eventually(() => expect(fetched()).toBeGreaterThan(2))
      scene().upstream.faults.clear()
      await eventually(() => expect(scene().status('Version', version).synced).toBe(true))
    })

    it('is fetched again within six hours, however often it was refused', async () => {
      await refuse('ChecksumMismatch')
      for (let tries = 1; tries < 12; tries += 1) {
        scene().aheadMs += 6 * hour
        await scene().run()
        expect(fetched()).toBe(tries + 1)
      }
      scene().aheadMs += 4 * hour
      await scene().run()
      expect(fetched()).toBe(12)
      scene().upstream.faults.clear()
      scene().aheadMs += 2 * hour
      await scene().run()
      expect(scene().status('Version', version).synced).toBe(true)
    })

    it('is fetched at once by a program that begins with a poll, or when somebody asks', async () => {
      await refuse()
      expect(fetched()).toBe(1)
      scene().aheadMs += 2_000
      await scene().run({ pollAtStart: true })
      expect(fetched()).toBe(2)
      scene().upstream.faults.clear()
      await scene().objects.patch(
        { kind: 'Version', namespace: scene().namespace, name: version },
        { metadata: { annotations: { 'depot.internal/sync-requested-at': 'now' } } },
      )
      await eventually(() => expect(scene().status('Version', version).synced).toBe(true))
    })

    it('is fetched at once when the option that refused it was changed', async () => {
      await refuse('EgressRefused')
      scene().upstream.faults.clear()
      const policy = { hosts: ['git.test'], privateNetworks: [], publicDownloads: true }
      await scene().run({ policy })
      expect(scene().status('Version', version).synced).toBe(true)
    })
  })
}
