import { describe, expect, it } from 'vitest'
import { FillError } from '../sources/sources.ts'
import { eventually, storageConfig, url, versions } from './scenario-parts.fixture.ts'
import type { Scene } from './scene.fixture.ts'

const other = 'https://git.test/network.git'
const tags = (...all: readonly string[]) => Object.fromEntries(all.map((tag) => [tag, tag]))

export function depotScenarios(scene: () => Scene): void {
  describe('a Depot', () => {
    const config = (name: string, fields: object = {}) => ({
      name,
      source: { type: 'git', url },
      ...fields,
    })
    const write = (moduleConfigs: readonly object[], fields: object = {}) =>
      scene().write('Depot', 'main', {
        global: { storageConfig, moduleConfig: { provider: 'aws' } },
        moduleConfigs,
        pollingIntervalMinutes: 5,
        ...fields,
      })
    const poll = async () => {
      scene().aheadMs += 10 * 60_000
      await scene().run({ timings: { removalGraceMs: 0 } })
    }
    const listed = (name: string) => scene().listed(name)

    it('selects versions by constraint and limit, and merges the global config', async () => {
      scene().upstream.repository(url, tags('v1.0.0', 'v1.1.0', 'v1.2.0', 'v2.0.0-rc.1', 'v2.0.0'))
      await write([config('vpc', { versionConstraints: '< 2.0.0', versionHistoryLimit: 2 })])
      await scene().run()
      expect(listed('vpc')).toEqual(['v1.2.0', 'v1.1.0'])
      expect(scene().object('Module', 'vpc').spec).toMatchObject({
        moduleConfig: { name: 'vpc', provider: 'aws', storageConfig },
      })
      expect(scene().status('Depot', 'main')).toMatchObject({
        modules: ['vpc'],
        items: [{ kind: 'Module', name: 'vpc', found: 5, matched: 2 }],
      })
      expect(scene().condition('Depot', 'main', 'Ready')).toMatchObject({ status: 'True' })
      expect(scene().names('Version')).toEqual(['vpc-1-1-0', 'vpc-1-2-0'])
    })

    it('keeps all versions with a versionHistoryLimit below zero', async () => {
      scene().upstream.repository(url, tags('v1.0.0', 'v1.1.0'))
      await write([config('vpc', { versionHistoryLimit: -1 })])
      await scene().run()
      expect(scene().names('Version')).toEqual(['vpc-1-0-0', 'vpc-1-1-0'])
    })

    it.each([
      ['zip', '.zip'],
      ['tar', '.tar.gz'],
    ])('stores modules of the format %s as %s', async (fileFormat, extension) => {
      scene().upstream.repository(url, { 'v1.0.0': 'first' })
      await write([config('vpc', { fileFormat })])
      await scene().run()
      const [stored = ''] = await scene().stored()
      expect(stored.slice(stored.search(/\.(zip|tar)/))).toBe(extension)
    })

    it('keeps versions that vanished upstream, and ignores a list that lost most of them', async () => {
      scene().upstream.repository(url, tags('v1.0.0', 'v1.1.0', 'v1.2.0'))
      await write([config('vpc')])
      await scene().run()
      scene().upstream.repository(url, tags('v1.1.0', 'v1.2.0', 'v1.3.0'))
      await poll()
      expect(listed('vpc')).toEqual(['v1.3.0', 'v1.2.0', 'v1.1.0', 'v1.0.0'])
      expect(scene().status('Depot', 'main').retained).toBe(1)
      scene().upstream.repository(url, tags('v9.0.0'))
      await poll()
      expect(listed('vpc')).toHaveLength(4)
      expect(scene().condition('Depot', 'main', 'UpstreamSuspicious')).toMatchObject({
        status: 'True',
      })
      expect(scene().names('Version')).toHaveLength(4)
    })

    it('polls again although a clock that was years ahead wrote the time of the last poll', async () => {
      scene().upstream.repository(url, tags('v1.0.0'))
      await write([config('vpc')])
      scene().aheadMs = 5 * 365 * 24 * 60 * 60_000
      await scene().run()
      scene().aheadMs = 0
      scene().upstream.repository(url, tags('v1.0.0', 'v1.1.0'))
      await scene().run()
      expect(listed('vpc')).toEqual(['v1.1.0', 'v1.0.0'])
      const lastPollMs = Date.parse(String(scene().status('Depot', 'main').lastPoll))
      expect(lastPollMs).toBeLessThan(Date.now() + 60_000)
    })

    it('does not change a resource of another owner until it is handed over', async () => {
      scene().upstream.repository(url, tags('v1.0.0'))
      const spec = { moduleConfig: { name: 'vpc', storageConfig }, versions: [] }
      await scene().write('Module', 'vpc', spec)
      await write([config('vpc'), config('network')])
      await scene().run()
      expect(listed('vpc')).toEqual([])
      expect(listed('network')).toEqual(['v1.0.0'])
      expect(scene().condition('Depot', 'main', 'Conflict')).toMatchObject({
        status: 'True',
        message: expect.stringContaining('depot.internal/adopt: "main"') as string,
      })
      await scene().objects.patch(
        { kind: 'Module', namespace: scene().namespace, name: 'vpc' },
        { metadata: { annotations: { 'depot.internal/adopt': 'main' } } },
      )
      await poll()
      expect(listed('vpc')).toEqual(['v1.0.0'])
      expect(scene().condition('Depot', 'main', 'Conflict')).toMatchObject({ status: 'False' })
    })

    it.each(['hands over', 'deletes'])(
      'goes on at once when a person %s a resource of another owner',
      async (how) => {
        scene().upstream.repository(url, tags('v1.0.0'))
        const spec = { moduleConfig: { name: 'vpc', storageConfig }, versions: [] }
        await scene().write('Module', 'vpc', spec)
        await write([config('vpc')])
        await scene().begin()
        await scene().idle()
        expect(listed('vpc')).toEqual([])
        const ref = { kind: 'Module', namespace: scene().namespace, name: 'vpc' } as const
        if (how === 'deletes') await scene().objects.delete(ref)
        else {
          const annotations = { 'depot.internal/adopt': 'main' }
          await scene().objects.patch(ref, { metadata: { annotations } })
        }
        await eventually(() => expect(listed('vpc')).toEqual(['v1.0.0']))
      },
    )

    it('reverts edits of its resources', async () => {
      scene().upstream.repository(url, tags('v1.0.0', 'v1.1.0'))
      await write([config('vpc')])
      await scene().run()
      await scene().write('Module', 'vpc', {
        moduleConfig: { ...config('vpc'), provider: 'azurerm', storageConfig },
        versions: versions('v1.0.0'),
      })
      await eventually(() => {
        expect(listed('vpc')).toEqual(['v1.1.0', 'v1.0.0'])
        expect(scene().object('Module', 'vpc').spec).toMatchObject({
          moduleConfig: { provider: 'aws' },
        })
      })
    })

    it('releases a resource whose config is removed, and deletes it only with deletionPolicy Delete', async () => {
      scene().upstream.repository(url, tags('v1.0.0'))
      scene().upstream.repository(other, tags('v1.0.0'))
      const network = config('network', { source: { type: 'git', url: other } })
      await write([config('vpc'), network])
      await scene().run()
      await write([config('vpc')])
      await poll()
      const label = () =>
        scene().object('Module', 'network').metadata.labels['depot.internal/depot']
      expect(label()).toBeUndefined()
      expect(scene().status('Depot', 'main').modules).toEqual(['vpc'])
      await write([], { deletionPolicy: 'Delete' })
      await poll()
      await eventually(() => expect(scene().names('Module')).toEqual(['network']))
    })

    it('names the config that fails, and syncs the others', async () => {
      scene().upstream.repository(url, tags('v1.0.0'))
      scene().upstream.faults.set(other, new FillError('SecretInvalid', 'Secret git has no token'))
      await write([
        config('network', { source: { type: 'git', url: other } }),
        config('dns', { versionConstraints: '>= 1.2.x' }),
        config('vpc'),
      ])
      await scene().run()
      expect(scene().status('Version', 'vpc-1-0-0').synced).toBe(true)
      const { items = [] } = scene().status('Depot', 'main')
      expect(items.map(({ name }) => name)).toEqual(['dns', 'network', 'vpc'])
      expect(items[1]?.message).toBe('Secret git has no token')
      expect(scene().condition('Depot', 'main', 'Ready')).toMatchObject({
        status: 'False',
        reason: 'PartiallySynced',
      })
      expect(scene().condition('Depot', 'main', 'Stalled')).toMatchObject({ status: 'True' })
    })

    it('passes a request for a sync to the Versions', async () => {
      scene().upstream.repository(url, tags('v1.0.0'))
      await write([config('vpc')])
      await scene().run()
      scene().upstream.repository(url, { 'v1.0.0': 'changed' })
      await scene().objects.patch(
        { kind: 'Depot', namespace: scene().namespace, name: 'main' },
        { metadata: { annotations: { 'depot.internal/sync-requested-at': 'today' } } },
      )
      await eventually(() => {
        const { lastHandledSync, previousDigests } = scene().status('Version', 'vpc-1-0-0')
        expect(lastHandledSync).toBe('today')
        expect(previousDigests).toHaveLength(1)
      })
    })

    it('does nothing while it is suspended', async () => {
      scene().upstream.repository(url, tags('v1.0.0'))
      await write([config('vpc')], { suspend: true })
      await scene().run()
      expect(scene().names('Module')).toEqual([])
      expect(scene().condition('Depot', 'main', 'Suspended')).toMatchObject({ status: 'True' })
    })
  })
}
