import { describe, expect, it, vi } from 'vitest'
import { FillError } from '../sources/sources.ts'
import { heldRemovals } from './parent/children.ts'
import { eventually, storageConfig, url } from './scenario-parts.fixture.ts'
import type { Scene } from './scene.fixture.ts'

const moved = 'https://git.test/network/vpc.git'
const ten = Array.from({ length: 10 }, (_, minor) => `v1.${minor}.0`)
const tags = (all: readonly string[]) => Object.fromEntries(all.map((tag) => [tag, tag]))

/** Scenarios in which many versions are not wanted any more: they stay served until a person confirms their removal. */
export function heldScenarios(scene: () => Scene): void {
  describe('versions that are not wanted any more', () => {
    const write = (fields: object = {}) =>
      scene().write('Depot', 'main', {
        global: { storageConfig, moduleConfig: { provider: 'aws' } },
        moduleConfigs: [{ name: 'vpc', source: { type: 'git', url }, ...fields }],
        pollingIntervalMinutes: 5,
      })
    const poll = async (options: object = {}) => {
      scene().aheadMs += 10 * 60_000
      await scene().run({ timings: { removalGraceMs: 0 }, ...options })
    }
    const fill = async () => {
      scene().upstream.repository(url, tags(ten))
      await write()
      await scene().run()
      expect(await scene().stored()).toHaveLength(10)
      return scene().stored()
    }
    const held = () => scene().condition('Module', 'vpc', 'RemovalHeld')
    const shownToken = () => /confirm-removal=(\w+)/.exec(held()?.message ?? '')?.[1] ?? ''
    const annotation = 'depot.internal/confirm-removal'
    const confirm = (token: string) =>
      scene().objects.patch(
        { kind: 'Module', namespace: scene().namespace, name: 'vpc' },
        { metadata: { annotations: { [annotation]: token } } },
      )
    const isUsedUp = () =>
      eventually(() =>
        expect(scene().object('Module', 'vpc').metadata.annotations).not.toHaveProperty(annotation),
      )
    const marks = () =>
      scene()
        .names('Version')
        .filter((name) => scene().status('Version', name).upstream === 'Gone')

    it('stay after a typo in a constraint, and nothing is left of the typo when it is undone', async () => {
      const stored = await fill()
      await write({ versionConstraints: '~> 10.0' })
      await poll()
      expect(await scene().stored()).toEqual(stored)
      expect(scene().names('Version')).toHaveLength(10)
      expect(held()).toMatchObject({
        status: 'True',
        message: expect.stringContaining('10 of 10 stored versions') as string,
      })
      expect(scene().status('Module', 'vpc').retained).toBe(10)
      await write()
      await poll()
      expect(held()).toBeUndefined()
      expect(scene().status('Module', 'vpc')).toMatchObject({ synced: true, retained: 0 })
      expect(await scene().stored()).toEqual(stored)
    })

    it('are counted and reported by an Event', async () => {
      await fill()
      expect(heldRemovals(scene().objects)).toBe(0)
      const event = vi.spyOn(scene().objects, 'event')
      await write({ versionConstraints: '~> 10.0' })
      await eventually(() => expect(heldRemovals(scene().objects)).toBe(1))
      await eventually(() =>
        expect(event).toHaveBeenCalledWith(
          expect.objectContaining({ type: 'Warning', reason: 'RemovalHeld' }),
        ),
      )
    })

    it('stay after a typo even if upstream does not list them any more', async () => {
      const stored = await fill()
      scene().upstream.repository(url, tags(ten.slice(4)))
      await poll()
      expect(marks()).toHaveLength(4)
      await write({ versionConstraints: '~> 10.0' })
      await poll()
      await write()
      await poll()
      expect(await scene().stored()).toEqual(stored)
      expect(scene().status('Module', 'vpc')).toMatchObject({ synced: true, retained: 0 })
    })

    it('are removed when a person confirms this set with an annotation, and no other set', async () => {
      await fill()
      await write({ versionConstraints: '>= 1.7.0' })
      await poll()
      const token = shownToken()
      expect(token).toMatch(/^[0-9a-f]{12}$/)
      await write({ versionConstraints: '>= 1.8.0' })
      await poll()
      // The set has changed.
      await confirm(token)
      await poll()
      expect(scene().names('Version')).toHaveLength(10)
      await write({ versionConstraints: '>= 1.7.0' })
      await poll()
      // Nothing else reminds a running program of the Module.
      await confirm(token)
      await eventually(async () => expect(await scene().stored()).toHaveLength(3))
      await eventually(() => expect(held()).toBeUndefined())
    })

    it('stay held when so many of them are deleted by hand that few are left', async () => {
      await fill()
      await write({ versionConstraints: '>= 1.6.0' })
      await poll()
      expect(held()?.message).toContain('6 of 10 stored versions')
      await scene().objects.delete({
        kind: 'Version',
        namespace: scene().namespace,
        name: 'vpc-1-0-0',
      })
      await poll()
      expect(scene().names('Version')).toHaveLength(9)
      expect(held()?.message).toContain('5 of 9 stored versions')
    })

    it('stay held when one of them is retained', async () => {
      scene().upstream.repository(url, tags(ten.slice(0, 3)))
      await write()
      await scene().run()
      await write({ versionConstraints: '~> 10.0' })
      await poll()
      const { spec } = scene().object('Version', 'vpc-1-0-0')
      await scene().objects.patch(
        { kind: 'Version', namespace: scene().namespace, name: 'vpc-1-0-0' },
        { spec: { ...(spec as object), retain: true } },
      )
      await poll()
      expect(scene().names('Version')).toHaveLength(3)
      expect(held()?.message).toContain('2 of 3 stored versions')
    })

    it('stay held when upstream releases the first wanted version', async () => {
      scene().upstream.repository(url, tags(ten.slice(0, 3)))
      await write()
      await scene().run()
      await write({ versionConstraints: '~> 2.0' })
      await poll()
      scene().upstream.repository(url, tags([...ten.slice(0, 3), 'v2.0.0']))
      await poll()
      await eventually(() => expect(scene().status('Version', 'vpc-2-0-0').synced).toBe(true))
      await poll()
      expect(scene().names('Version')).toHaveLength(4)
      expect(held()?.message).toContain('3 of 4 stored versions')
    })

    it('are removed by a confirmation once, and not when they return and leave again', async () => {
      await fill()
      await write({ versionConstraints: '>= 1.7.0' })
      await poll()
      const token = shownToken()
      await confirm(token)
      await eventually(async () => expect(await scene().stored()).toHaveLength(3))
      await isUsedUp()
      await write()
      await poll()
      expect(await scene().stored()).toHaveLength(10)
      await write({ versionConstraints: '>= 1.7.0' })
      await poll()
      expect(shownToken()).not.toBe(token)
      // A tool that applies manifests may write the annotation again.
      await confirm(token)
      await poll()
      await isUsedUp()
      expect(await scene().stored()).toHaveLength(10)
      expect(held()?.message).toContain('7 of 10 stored versions')
    })

    it('are not removed by a confirmation that came when nothing was held', async () => {
      await fill()
      await write({ versionConstraints: '>= 1.7.0' })
      await poll()
      const token = shownToken()
      await write()
      await poll()
      await confirm(token)
      await isUsedUp()
      await write({ versionConstraints: '>= 1.7.0' })
      await poll()
      expect(await scene().stored()).toHaveLength(10)
      expect(held()?.message).toContain('7 of 10 stored versions')
    })

    it('are removed when the program was told that removals are confirmed', async () => {
      await fill()
      await write({ versionConstraints: '>= 1.7.0' })
      await poll({ confirmRemovals: false })
      expect(held()?.message).toContain('depot sync --confirm-removals')
      await poll({ confirmRemovals: true })
      await eventually(async () => expect(await scene().stored()).toHaveLength(3))
    })

    it('are removed at once if they are few', async () => {
      await fill()
      await write({ versionHistoryLimit: 5 })
      await poll()
      await eventually(async () => expect(await scene().stored()).toHaveLength(5))
      await write({ versionHistoryLimit: 4 })
      await poll()
      await eventually(async () => expect(await scene().stored()).toHaveLength(4))
      await scene().idle()
      expect(held()).toBeUndefined()
    })

    it('stay when the source moves, are marked, and are wanted again when it moves back', async () => {
      const stored = await fill()
      scene().upstream.repository(moved, tags(['v2.0.0']))
      await write({ source: { type: 'git', url: moved } })
      await poll()
      await eventually(async () => expect(await scene().stored()).toHaveLength(11))
      await scene().idle()
      expect(await scene().stored()).toEqual(expect.arrayContaining(stored))
      expect(marks()).toHaveLength(10)
      expect(scene().condition('Module', 'vpc', 'Ready')).toMatchObject({ status: 'True' })
      expect(scene().failing()).toEqual([])
      await write()
      await poll()
      expect(marks()).toEqual(['vpc-2-0-0'])
      expect(await scene().stored()).toHaveLength(11)
    })

    it('stay while the new source cannot be listed', async () => {
      const stored = await fill()
      scene().upstream.faults.set(moved, new FillError('FetchFailed', 'there is no such host'))
      await write({ source: { type: 'git', url: moved } })
      await poll()
      const moving = () => scene().condition('Depot', 'main', 'SourceChanged')
      expect(moving()).toMatchObject({ status: 'True' })
      expect(await scene().stored()).toEqual(stored)
      scene().upstream.faults.clear()
      scene().upstream.repository(moved, tags(ten))
      await poll()
      expect(moving()).toBeUndefined()
      expect(marks()).toEqual([])
    })
  })

  describe('an upstream', () => {
    const write = (annotations: object = {}) => {
      const spec = {
        global: { storageConfig, moduleConfig: { provider: 'aws' } },
        moduleConfigs: [{ name: 'vpc', source: { type: 'git', url } }],
        pollingIntervalMinutes: 5,
      }
      return scene().write('Depot', 'main', spec, { annotations })
    }
    const poll = async (aheadMs = 10 * 60_000) => {
      scene().aheadMs += aheadMs
      await scene().run()
    }
    const suspicious = () => scene().condition('Depot', 'main', 'UpstreamSuspicious')
    const latest = () => scene().status('Module', 'vpc').latestVersion

    it('may keep its newest five tags for ever', async () => {
      scene().upstream.repository(url, tags(ten.slice(0, 5)))
      await write()
      await scene().run()
      for (let first = 1; first <= 5; first += 1) {
        scene().upstream.repository(url, tags(ten.slice(first, first + 5)))
        await poll()
        expect(suspicious()).toMatchObject({ status: 'False' })
      }
      expect(latest()).toBe('1.9.0')
      expect(scene().names('Version')).toHaveLength(10)
    })

    it('that lost most tags is believed after three polls in a day', async () => {
      scene().upstream.repository(url, tags(ten))
      await write()
      await scene().run()
      scene().upstream.repository(url, tags(['v2.0.0']))
      await poll()
      expect(suspicious()).toMatchObject({ status: 'True' })
      await poll()
      expect(latest()).toBe('1.9.0')
      await poll(24 * 60 * 60_000)
      expect(suspicious()).toMatchObject({ status: 'False' })
      expect(latest()).toBe('2.0.0')
      expect(scene().names('Version')).toHaveLength(11)
    })

    it('that lost tags whose archives could not be stored is believed for good', async () => {
      const fault = new FillError('ArchiveTooLarge', 'too large')
      for (const tag of ten) scene().upstream.faults.set(`fetch ${url} ${tag}`, fault)
      scene().upstream.repository(url, tags(ten))
      await write()
      await scene().run()
      expect(scene().names('Version')).toHaveLength(10)
      scene().upstream.repository(url, tags(['v2.0.0']))
      for (const wait of [0, 0, 24]) await poll(wait * 3_600_000 + 10 * 60_000)
      for (let count = 0; count < 2; count += 1) {
        expect(suspicious()).toMatchObject({ status: 'False' })
        expect(scene().names('Version')).toEqual(['vpc-2-0-0'])
        expect(scene().condition('Module', 'vpc', 'Ready')).toMatchObject({ status: 'True' })
        await poll()
      }
    })

    it('that lost most tags is believed when a person accepts its list', async () => {
      scene().upstream.repository(url, tags(ten))
      await write()
      await scene().run()
      scene().upstream.repository(url, tags(['v2.0.0']))
      await poll()
      const token = /accept-listing=(\w+)/.exec(suspicious()?.message ?? '')?.[1]
      await write({ 'depot.internal/accept-listing': token })
      await poll()
      expect(suspicious()).toMatchObject({ status: 'False' })
      expect(scene().names('Version')).toHaveLength(11)
    })
  })
}
