import { describe, expect, it } from 'vitest'
import { eventually, storageConfig, url, versions } from './scenario-parts.fixture.ts'
import type { Scene } from './scene.fixture.ts'

/** Valid objects that are meant to hurt other tenants. */
export function tenantScenarios(scene: () => Scene): void {
  describe('a tenant', () => {
    const source = { type: 'git', url }
    const moduleConfig = { provider: 'aws', source, storageConfig }
    const annotation = 'depot.internal/sync-requested-at'

    it('cannot have a long request for a sync copied to every Version', async () => {
      const long = `\u0007\u001b[31m${'x'.repeat(100_000)}`
      const tags = ['1.0.0', '1.1.0', '1.2.0']
      scene().upstream.repository(url, Object.fromEntries(tags.map((tag) => [`v${tag}`, tag])))
      const config = { ...moduleConfig, name: 'vpc' }
      const spec = { global: { storageConfig }, moduleConfigs: [config] }
      await scene().write('Depot', 'main', spec, { annotations: { [annotation]: long } })
      await scene().run()
      const handled = (kind: 'Depot' | 'Module' | 'Version', name: string) =>
        scene().status(kind, name).lastHandledSync
      await eventually(() => {
        expect(handled('Depot', 'main')).toMatch(/^sha256:[0-9a-f]{64}$/)
        expect(handled('Module', 'vpc')).toBe(handled('Depot', 'main'))
      })
      for (const name of scene().names('Version')) {
        expect(JSON.stringify(scene().object('Version', name)).length).toBeLessThan(5_000)
      }
      scene().upstream.asked.length = 0
      await scene().run()
      expect(scene().upstream.asked).toEqual([])
    })

    it('cannot keep a Depot busy with two configs of one module', async () => {
      const tags = { 'v1.0.0': 'first', 'v2.0.0': 'second' }
      scene().upstream.repository(url, tags)
      const config = { ...moduleConfig, name: 'vpc' }
      await scene().write('Depot', 'main', {
        global: { storageConfig },
        moduleConfigs: [
          { ...config, versionConstraints: '~> 1.0' },
          { ...config, versionConstraints: '~> 2.0' },
        ],
      })
      await scene().run()
      scene().upstream.asked.length = 0
      await scene().run()
      // A Depot with a mistake asks its upstreams once, when it starts.
      expect(scene().upstream.asked).toEqual([`list ${url}`])
      const { items } = scene().status('Depot', 'main')
      const message =
        'another config of this Depot makes Module vpc-aws already: merge both, or rename one'
      expect(items?.map((item) => item.message)).toEqual([message, undefined])
      expect(scene().names('Version')).toEqual(['vpc-aws-1-0-0'])
    })

    it('can store archives with the longest possible version', async () => {
      const version = `1.0.0-${'a'.repeat(240)}`
      scene().upstream.repository(url, { [version]: 'long' })
      await scene().write('Module', 'vpc', { moduleConfig, versions: versions(version) })
      await scene().run()
      const [name = ''] = scene().names('Version')
      const { artifact, synced, syncStatus } = scene().status('Version', name)
      expect({ synced, syncStatus }).toEqual({ synced: true, syncStatus: 'Synced' })
      expect(artifact?.fileName?.length).toBeLessThanOrEqual(255)
    })
  })
}
