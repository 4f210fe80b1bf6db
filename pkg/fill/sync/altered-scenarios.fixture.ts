import { chmod, readFile, rm, writeFile } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import { createLogger } from '../../base/telemetry/telemetry.ts'
import { FillError } from '../sources/sources.ts'
import { eventually, storageConfig, url, versions } from './scenario-parts.fixture.ts'
import type { Scene } from './scene.fixture.ts'

/** Archives whose bytes another program changed in storage. */
export function alteredScenarios(scene: () => Scene): void {
  const moduleConfig = { provider: 'aws', source: { type: 'git', url }, storageConfig }

  describe('a Version that was restored from a backup with its status', () => {
    /** Creates yesterday's object again, although storage has changed meanwhile. */
    const restored = async () => {
      scene().upstream.repository(url, { 'v1.0.0': 'first' })
      const config = { ...moduleConfig, name: 'vpc' }
      const spec = { type: 'Module', version: '1.0.0', moduleConfigRef: config }
      await scene().write('Version', 'vpc', spec)
      const sync = await scene().begin()
      await eventually(() => expect(scene().status('Version', 'vpc').synced).toBe(true))
      await sync.idle()
      const { artifact, ...rest } = scene().status('Version', 'vpc')
      const ref = { kind: 'Version', namespace: scene().namespace, name: 'vpc' } as const
      const annotations = { 'depot.internal/orphan-archive': 'true' }
      await scene().objects.patch(ref, { metadata: { annotations } })
      await scene().remove('Version', 'vpc')
      await eventually(() => expect(scene().names('Version')).toEqual([]))
      const creationTimestamp = new Date().toISOString()
      await scene().write('Version', 'vpc', { ...spec, suspend: true }, { creationTimestamp })
      await eventually(() => expect(scene().condition('Version', 'vpc', 'Suspended')).toBeDefined())
      const hourAgo = new Date(Date.now() - 60 * 60_000).toISOString()
      await eventually(async () => {
        await scene().objects.writeStatus(scene().object('Version', 'vpc'), {
          ...rest,
          artifact: { ...artifact, verifiedAt: hourAgo },
        })
      })
      const [name = ''] = await scene().stored()
      return {
        path: `${scene().storage}/${name}`,
        resume: () => scene().objects.patch(ref, { spec: { suspend: null } }),
      }
    }

    it('has its archive checked, and fetched again if it is missing', async () => {
      const { path, resume } = await restored()
      const before = await readFile(path)
      await rm(path)
      await resume()
      await eventually(async () => expect((await readFile(path)).equals(before)).toBe(true))
    })

    it('has its archive checked, and fetched again if it differs', async () => {
      const { path, resume } = await restored()
      const before = await readFile(path)
      await chmod(path, 0o644)
      await writeFile(path, Buffer.alloc(before.length, 'x'))
      await resume()
      await eventually(async () => expect((await readFile(path)).equals(before)).toBe(true))
    })
  })

  describe('a run that checks every archive', () => {
    const filled = async () => {
      scene().upstream.repository(url, { 'v1.0.0': 'first' })
      await scene().write('Module', 'vpc', { moduleConfig, versions: versions('1.0.0') })
      await scene().run()
      const [name = ''] = await scene().stored()
      const path = `${scene().storage}/${name}`
      await chmod(path, 0o644)
      return { path, before: await readFile(path) }
    }
    const revision = () => scene().object('Version', 'vpc-1-0-0').metadata.resourceVersion

    it('fetches a missing archive again, although no check was due', async () => {
      const { path, before } = await filled()
      await rm(path)
      await scene().run({ verifyAtStart: 'look' })
      expect((await readFile(path)).equals(before)).toBe(true)
      expect(scene().status('Version', 'vpc-1-0-0').synced).toBe(true)
    })

    it('finds another size by a look, and other bytes only by reading', async () => {
      const { path, before } = await filled()
      await writeFile(path, 'short')
      await scene().run({ verifyAtStart: 'look' })
      expect((await readFile(path)).equals(before)).toBe(true)
      await chmod(path, 0o644)
      await writeFile(path, Buffer.alloc(before.length, 'x'))
      await scene().run({ verifyAtStart: 'look' })
      expect((await readFile(path)).equals(before)).toBe(false)
      await scene().run({ verifyAtStart: 'read' })
      expect((await readFile(path)).equals(before)).toBe(true)
    })

    it('writes nothing for an archive that is whole', async () => {
      await filled()
      await scene().run()
      const before = revision()
      await scene().run({ verifyAtStart: 'look' })
      expect(revision()).toBe(before)
    })

    it('reports an archive that is missing while upstream is unreachable', async () => {
      const { path } = await filled()
      await rm(path)
      scene().upstream.faults.set(url, new FillError('FetchFailed', 'git.test is unreachable'))
      await scene().run({ verifyAtStart: 'look' })
      expect(scene().condition('Version', 'vpc-1-0-0', 'Ready')).toMatchObject({
        status: 'False',
        message: 'git.test is unreachable',
      })
      expect(scene().status('Version', 'vpc-1-0-0').synced).toBe(false)
    })

    it('still reports it as missing when its Version is worked on again', async () => {
      const { path } = await filled()
      await rm(path)
      scene().upstream.faults.set(url, new FillError('FetchFailed', 'git.test is unreachable'))
      await scene().run({ verifyAtStart: 'look' })
      const ref = { kind: 'Version', namespace: scene().namespace, name: 'vpc-1-0-0' } as const
      const asked = scene().upstream.asked.length
      await scene().objects.patch(ref, { metadata: { labels: { team: 'network' } } })
      await eventually(() => expect(scene().upstream.asked.length).toBeGreaterThan(asked))
      await scene().idle()
      expect(scene().status('Version', 'vpc-1-0-0').synced).toBe(false)
    })
  })

  describe('an immutable version that upstream changed', () => {
    const minutes = 60_000
    const write = (fields: object = {}) =>
      scene().write('Depot', 'main', {
        global: { storageConfig },
        moduleConfigs: [
          {
            name: 'vpc',
            provider: 'aws',
            source: { type: 'git', url },
            immutable: true,
            ...fields,
          },
        ],
        pollingIntervalMinutes: 5,
      })
    const digest = () => scene().status('Version', 'vpc-1-0-0').artifact?.contentDigest
    const refused = async () => {
      scene().upstream.repository(url, { 'v1.0.0': 'first', 'v2.0.0': 'second' })
      await write()
      await scene().run()
      scene().upstream.repository(url, { 'v1.0.0': 'changed', 'v2.0.0': 'second' })
      scene().aheadMs += 10 * minutes
      await scene().run()
      expect(scene().condition('Version', 'vpc-1-0-0', 'Stalled')).toMatchObject({
        reason: 'UpstreamChanged',
      })
      return digest()
    }

    it('has the content of upstream once a person deletes the Version, and the old for a day', async () => {
      const before = await refused()
      const namespace = scene().namespace
      await scene().objects.delete({ kind: 'Version', namespace, name: 'vpc-1-0-0' })
      await eventually(() => expect(digest()).toMatch(/^tree1:/))
      await eventually(() => expect(scene().status('Module', 'vpc').synced).toBe(true))
      expect(digest()).not.toBe(before)
      expect(await scene().stored()).toHaveLength(3)
      scene().aheadMs += 25 * 60 * minutes
      await scene().run()
      expect(await scene().stored()).toHaveLength(2)
    })

    it('has the served content again if a Depot leaves it out for a while', async () => {
      const before = await refused()
      await write({ versionConstraints: '>= 2' })
      await eventually(() => expect(scene().names('Version')).toEqual(['vpc-2-0-0']))
      await write()
      await eventually(() => expect(digest()).toBe(before))
      await scene().idle()
      expect(digest()).toBe(before)
    })
  })

  describe('a stored archive that was altered', () => {
    const days = 24 * 60 * 60_000
    /** Keeps the size, so that only the digest shows the change. */
    const altered = async () => {
      scene().upstream.repository(url, { 'v1.0.0': 'first' })
      await scene().write('Module', 'vpc', { moduleConfig, versions: versions('1.0.0') })
      await scene().run()
      const [name = ''] = await scene().stored()
      const path = `${scene().storage}/${name}`
      const before = await readFile(path)
      await chmod(path, 0o644)
      await writeFile(path, Buffer.alloc(before.length, 'x'))
      scene().aheadMs += 60 * days
      return { path, before }
    }

    it('is found when it is read again, and fetched again if upstream has the same content', async () => {
      const { path, before } = await altered()
      const lines: string[] = []
      await scene().run({ log: createLogger('warn', { write: (line) => lines.push(line) }) })
      expect((await readFile(path)).equals(before)).toBe(true)
      expect(scene().status('Version', 'vpc-1-0-0').synced).toBe(true)
      expect(lines).toEqual([
        expect.stringMatching(/vpc-1-0-0.*a stored archive is missing or altered/),
      ])
    })

    it('is reported as lost if upstream has other content, and not replaced', async () => {
      const { path, before } = await altered()
      scene().upstream.repository(url, { 'v1.0.0': 'other' })
      await scene().run()
      expect(scene().condition('Version', 'vpc-1-0-0', 'Stalled')).toMatchObject({
        status: 'True',
        reason: 'ArchiveLost',
        message: expect.stringContaining('delete the Version to accept it') as string,
      })
      expect(scene().condition('Version', 'vpc-1-0-0', 'Stored')).toMatchObject({ status: 'False' })
      expect(await scene().stored()).toHaveLength(1)
      scene().upstream.repository(url, { 'v1.0.0': 'first' })
      scene().aheadMs += 2 * days
      await scene().run()
      expect((await readFile(path)).equals(before)).toBe(true)
      expect(scene().condition('Version', 'vpc-1-0-0', 'Stalled')).toBeUndefined()
    })
  })
}
