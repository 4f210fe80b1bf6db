import { chmod, symlink, utimes, writeFile } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import { FillError } from '../sources/sources.ts'
import { eventually, storageConfig, url, versions } from './scenario-parts.fixture.ts'
import type { Scene } from './scene.fixture.ts'

/** Archives that are never removed: those that some Version may still need. */
export function removalScenarios(scene: () => Scene): void {
  describe('an archive in storage', () => {
    const config = { name: 'vpc', provider: 'aws', source: { type: 'git', url } }
    const now = { confirmRemovals: true, timings: { removalGraceMs: 0 } }
    const write = (name: string, moduleConfig: object = { ...config, storageConfig }) =>
      scene().write('Module', name, { moduleConfig, versions: versions('1.0.0') })
    const drop = async (name: string) => {
      const moduleConfig = { ...config, storageConfig }
      await scene().write('Module', name, { moduleConfig, versions: [] })
      await eventually(() => expect(scene().names('Version')).not.toContain(`${name}-1-0-0`))
    }
    /** A Version that no reconciler would create. */
    const byHand = (fields: object, metadata: object = {}) =>
      scene().write(
        'Version',
        'by-hand',
        {
          type: 'Module',
          version: '9.0.0',
          moduleConfigRef: { name: 'vpc', provider: 'aws', storageConfig },
          suspend: true,
          ...fields,
        },
        metadata,
      )
    const fill = async (...names: readonly string[]) => {
      scene().upstream.repository(url, { 'v1.0.0': 'first' })
      for (const name of names) await write(name)
      await scene().run(now)
      const [path = ''] = await scene().stored()
      return { path, fileName: path.split('/').at(-1) ?? '' }
    }

    describe('of a Version that is gone', () => {
      const hours = (count: number) => {
        scene().aheadMs += count * 60 * 60_000
      }
      const later = async (count: number) => {
        hours(count)
        await scene().run({ confirmRemovals: true })
      }
      const fetches = () => scene().upstream.asked.filter((what) => what.startsWith('fetch'))
      const gone = async () => {
        const { path } = await fill('vpc')
        await scene().run({ confirmRemovals: true })
        await drop('vpc')
        return path
      }

      it('stays for a day, even after a restart, and is removed then', async () => {
        const path = await gone()
        await later(23)
        expect(await scene().stored()).toEqual([path])
        await later(2)
        expect(await scene().stored()).toEqual([])
        expect(await scene().objects.notes.all()).toEqual(new Map())
      })

      it('is taken again without upstream by a Version that returns', async () => {
        const path = await gone()
        scene().upstream.faults.set(url, new FillError('FetchFailed', 'git.test is unreachable'))
        await later(12)
        await write('vpc')
        await eventually(() => expect(scene().status('Version', 'vpc-1-0-0').synced).toBe(true))
        expect(scene().condition('Version', 'vpc-1-0-0', 'Ready')).toMatchObject({ status: 'True' })
        expect(fetches()).toHaveLength(1)
        await later(48)
        expect(await scene().stored()).toEqual([path])
      })

      it('is taken again although the storage was changed, and moves', async () => {
        await gone()
        const moved = { fileSystem: { directoryPath: 'elsewhere' } }
        await write('vpc', { ...config, storageConfig: moved })
        await eventually(() => expect(scene().status('Version', 'vpc-1-0-0').synced).toBe(true))
        expect(fetches()).toHaveLength(1)
        await later(48)
        expect(await scene().stored()).toMatchObject([expect.stringMatching(/^elsewhere\//)])
      })

      it('is not taken again if it was altered', async () => {
        const path = await gone()
        const file = `${scene().storage}/${path}`
        await chmod(file, 0o644)
        await writeFile(file, 'altered')
        await write('vpc')
        await eventually(() => expect(scene().status('Version', 'vpc-1-0-0').synced).toBe(true))
        expect(fetches()).toHaveLength(2)
      })

      it('stays for a day after the last one that shared it', async () => {
        const { path } = await fill('vpc', 'again')
        await scene().run({ confirmRemovals: true })
        await drop('vpc')
        await later(20)
        await drop('again')
        await later(20)
        expect(await scene().stored()).toEqual([path])
        await later(5)
        expect(await scene().stored()).toEqual([])
      })

      it('stays when a sweep removes other archives that no Version names', async () => {
        scene().upstream.repository(url, { 'v1.0.0': 'first', 'v2.0.0': 'second' })
        const all = (...names: readonly string[]) =>
          scene().write('Module', 'vpc', {
            moduleConfig: { ...config, storageConfig },
            versions: versions(...names),
          })
        await all('1.0.0', '2.0.0')
        await scene().run()
        const stored = await scene().stored()
        await all('2.0.0')
        await eventually(() => expect(scene().names('Version')).toEqual(['vpc-2-0-0']))
        const orphan = 'depot/vpc/vpc-8.0.0-0123456789ab.tar.gz'
        await writeFile(`${scene().storage}/${orphan}`, 'x')
        const old = Date.now() / 1000 - 48 * 60 * 60
        for (const file of [...stored, orphan]) await utimes(`${scene().storage}/${file}`, old, old)
        await scene().run({ timings: { sweepMs: 50 }, sweepDelete: true })
        await eventually(async () => expect(await scene().stored()).not.toContain(orphan))
        await scene().stop()
        expect(await scene().stored()).toEqual(stored)
      })
    })

    it('stays until the last Version that shares it is deleted', async () => {
      const { path } = await fill('vpc', 'again')
      await drop('vpc')
      expect(await scene().stored()).toEqual([path])
      await drop('again')
      expect(await scene().stored()).toEqual([])
    })

    it('stays while a Version without a known place names it', async () => {
      const { path, fileName } = await fill('vpc')
      await byHand({ moduleConfigRef: { name: 'vpc' }, fileName })
      await scene().run(now)
      await drop('vpc')
      expect(await scene().stored()).toEqual([path])
    })

    it('stays while a Version names it through another path to the same folder', async () => {
      const { path, fileName } = await fill('vpc')
      await symlink(`${scene().storage}/depot`, `${scene().storage}/link`)
      const linked = { fileSystem: { directoryPath: 'link' } }
      const moduleConfigRef = { name: 'vpc', provider: 'aws', storageConfig: linked }
      await byHand({ moduleConfigRef, fileName })
      await scene().run(now)
      await drop('vpc')
      expect(await scene().stored()).toEqual([path])
    })

    it('stays if another deleted Version is to leave it', async () => {
      const { path } = await fill('vpc', 'again')
      const again = scene().object('Version', 'again-1-0-0').metadata
      await scene().objects.patch(
        { kind: 'Version', namespace: scene().namespace, name: again.name },
        {
          metadata: {
            annotations: { 'depot.internal/orphan-archive': 'true' },
            finalizers: [...again.finalizers, 'example.com/waits'],
          },
        },
      )
      await scene().write('Module', 'again', {
        moduleConfig: { ...config, storageConfig },
        versions: [],
      })
      await eventually(() =>
        expect(scene().object('Version', again.name).metadata.deletionTimestamp).toBeDefined(),
      )
      await drop('vpc')
      expect(await scene().stored()).toEqual([path])
    })

    it.each([
      ['spec.fileName', (fileName: string) => ({ fileName })],
      [
        'spec.upload',
        (fileName: string) => ({ upload: { fileName, sha256: 'a'.repeat(64), sizeBytes: 1 } }),
      ],
      [
        'a spec with a mistake',
        (fileName: string) => ({ fileName, moduleConfigRef: { name: 'vpc' } }),
      ],
    ])('is kept by a sweep if only %s names it', async (_, fields) => {
      await fill('vpc')
      const kept = 'vpc-9.0.0-0123456789ab.tar.gz'
      const orphan = 'vpc-8.0.0-0123456789ab.tar.gz'
      const old = Date.now() / 1000 - 48 * 60 * 60
      for (const file of [kept, orphan]) {
        const path = `${scene().storage}/depot/vpc/${file}`
        await writeFile(path, 'x')
        await utimes(path, old, old)
      }
      await byHand(fields(kept))
      await scene().run({ timings: { sweepMs: 100 }, sweepDelete: true })
      await eventually(async () =>
        expect(await scene().stored()).not.toContain(`depot/vpc/${orphan}`),
      )
      // A running sweep ends first.
      await scene().stop()
      expect(await scene().stored()).toContain(`depot/vpc/${kept}`)
    })

    it('is kept by a sweep of the place above its own', async () => {
      scene().upstream.repository(url, { 'v1.0.0': 'first' })
      const below = { fileSystem: { directoryPath: 'depot/outer' } }
      await write('vpc', { ...config, storageConfig: below })
      await scene().run()
      const [path = ''] = await scene().stored()
      expect(path).toMatch(/^depot\/outer\/vpc\//)
      const orphan = 'depot/outer/outer-8.0.0-0123456789ab.tar.gz'
      await writeFile(`${scene().storage}/${orphan}`, 'x')
      const old = Date.now() / 1000 - 48 * 60 * 60
      for (const file of [path, orphan]) await utimes(`${scene().storage}/${file}`, old, old)
      await byHand({ moduleConfigRef: { name: 'outer', provider: 'aws', storageConfig } })
      await scene().run({ timings: { sweepMs: 100 }, sweepDelete: true })
      await eventually(async () => expect(await scene().stored()).not.toContain(orphan))
      await scene().stop()
      expect(await scene().stored()).toEqual([path])
    })
  })
}
