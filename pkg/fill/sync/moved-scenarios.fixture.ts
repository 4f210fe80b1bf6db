import { hash } from 'node:crypto'
import { chmod, readFile, rm, writeFile } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import { locationOf, parseResource, type Version } from '../../api/v1alpha1/v1alpha1.ts'
import { FillError } from '../sources/sources.ts'
import { eventually, storageConfig, url, versions } from './scenario-parts.fixture.ts'
import type { Scene } from './scene.fixture.ts'

const elsewhere = { fileSystem: { directoryPath: 'elsewhere' } }
const linux = { platforms: ['linux/amd64', 'darwin/arm64'], signer: 'A'.repeat(40) }

/** Scenarios in which the spec names another storage than the archives are in. */
export function movedScenarios(scene: () => Scene): void {
  describe('archives whose storage is changed', () => {
    const moduleConfig = { provider: 'aws', source: { type: 'git', url } }
    const write = (storage: object = storageConfig, fields: object = {}) =>
      scene().write('Module', 'vpc', {
        moduleConfig: { ...moduleConfig, storageConfig: storage, ...fields },
        versions: versions('1.0.0', '1.1.0'),
      })
    const fill = async () => {
      scene().upstream.repository(url, { 'v1.0.0': 'first', 'v1.1.0': 'second' })
      await write()
      await scene().run()
      expect(await scene().stored()).toHaveLength(2)
      scene().upstream.asked.length = 0
    }
    const later = async (aheadMs: number, options: object = {}) => {
      scene().aheadMs += aheadMs
      await scene().run(options)
    }
    /** The files that a server would serve, if they have the digests that it requires. */
    const served = async () => {
      const names = scene().names('Version')
      const files = await Promise.all(
        names.map(async (name) => {
          const object = scene().object('Version', name)
          const parsed = parseResource('Version', object)
          const { storage, configName, fileName } =
            (parsed.ok ? locationOf(parsed.resource, undefined) : undefined) ?? {}
          const file = `${storage?.fileSystem?.directoryPath}/${configName}/${fileName}`
          const { artifact } = scene().status('Version', name)
          const bytes = await readFile(`${scene().storage}/${file}`)
          expect(hash('sha256', bytes)).toBe(artifact?.sha256)
          return file
        }),
      )
      return files.toSorted()
    }
    const places = async () => (await served()).map((file) => file.split('/')[0])

    it('are copied without upstream, served from the new place, and leave the old one later', async () => {
      await fill()
      const before = await scene().stored()
      scene().upstream.faults.set(url, new FillError('FetchFailed', 'git.test is unreachable'))
      await write(elsewhere)
      await scene().run()
      expect(await places()).toEqual(['elsewhere', 'elsewhere'])
      expect(await scene().stored()).toEqual(
        [...before, ...before.map((file) => file.replace('depot', 'elsewhere'))].toSorted(),
      )
      expect(scene().upstream.asked).toEqual([])
      expect(scene().status('Module', 'vpc')).toMatchObject({ synced: true })
      await later(48 * 60 * 60_000)
      expect(await scene().stored()).toEqual(await served())
    })

    it('stay served from the old place while the new one cannot be written', async () => {
      await fill()
      await writeFile(`${scene().storage}/elsewhere`, 'this is a file')
      await write(elsewhere)
      await scene().run()
      expect(await places()).toEqual(['depot', 'depot'])
      expect(scene().failing()).toHaveLength(2)
      await rm(`${scene().storage}/elsewhere`)
      await eventually(async () => expect(await places()).toEqual(['elsewhere', 'elsewhere']))
    })

    it('are kept when the storage is changed and changed back', async () => {
      await fill()
      const before = await scene().stored()
      await write(elsewhere)
      await scene().run()
      await write()
      await scene().run()
      expect(await places()).toEqual(['depot', 'depot'])
      await later(48 * 60 * 60_000)
      expect(await scene().stored()).toEqual(before)
    })

    it('are fetched into the new place if they are missing in the old one', async () => {
      await fill()
      await rm(`${scene().storage}/depot`, { recursive: true })
      await write(elsewhere)
      await scene().run()
      expect(await places()).toEqual(['elsewhere', 'elsewhere'])
    })

    it('are fetched if another program altered them', async () => {
      await fill()
      const [file = ''] = await scene().stored()
      const path = `${scene().storage}/${file}`
      const { length } = await readFile(path)
      await chmod(path, 0o644)
      await writeFile(path, Buffer.alloc(length))
      await write(elsewhere)
      await scene().run()
      expect(await places()).toEqual(['elsewhere', 'elsewhere'])
    })

    it('are copied although the source is changed too', async () => {
      await fill()
      const other = 'https://git.test/other.git'
      scene().upstream.repository(other, { 'v1.0.0': 'other', 'v1.1.0': 'second' })
      await write(elsewhere, { source: { type: 'git', url: other }, immutable: true })
      await scene().run()
      expect(await places()).toEqual(['elsewhere', 'elsewhere'])
      expect(scene().condition('Version', 'vpc-1-0-0', 'Drifted')).toMatchObject({ status: 'True' })
      expect(scene().status('Version', 'vpc-1-1-0')).toMatchObject({ synced: true })
    })

    it('move if an older release did not record where they are', async () => {
      await fill()
      for (const name of scene().names('Version')) {
        const version = scene().object('Version', name)
        const status = version.status as NonNullable<Version['status']>
        const { storageConfig: _, configName: __, ...artifact } = status.artifact ?? {}
        await scene().objects.writeStatus(version, { ...status, artifact })
      }
      await scene().run()
      await write(elsewhere)
      await scene().run()
      expect(await places()).toEqual(['elsewhere', 'elsewhere'])
      expect(scene().upstream.asked.filter((what) => what.startsWith('fetch'))).toEqual([])
    })

    it('of providers move with the documents of their release', async () => {
      scene().upstream.provider('hashicorp/dns', { '1.0.0': linux })
      const provider = (storage: object) =>
        scene().write('Provider', 'dns', {
          providerConfig: { name: 'dns', storageConfig: storage },
          versions: versions('1.0.0'),
        })
      await provider(storageConfig)
      await scene().run()
      const before = await scene().stored()
      await provider(elsewhere)
      await scene().run()
      expect(await places()).toEqual(['elsewhere', 'elsewhere'])
      await later(48 * 60 * 60_000)
      expect(await scene().stored()).toEqual(
        before.map((file) => file.replace('depot', 'elsewhere')),
      )
    })

    it('of uploads are copied, and the uploaded file stays', async () => {
      await fill()
      const { artifact } = scene().status('Version', 'vpc-1-0-0')
      const upload = { fileName: artifact?.fileName, sha256: artifact?.sha256 }
      const byHand = (storage: object) =>
        scene().write('Version', 'by-hand', {
          type: 'Module',
          version: '9.0.0',
          moduleConfigRef: { name: 'vpc', storageConfig: storage },
          upload,
        })
      await byHand(storageConfig)
      await scene().run()
      const before = await scene().stored()
      await byHand(elsewhere)
      await scene().run()
      expect(await places()).toEqual(['depot', 'depot', 'elsewhere'])
      await later(48 * 60 * 60_000)
      expect(await scene().stored()).toEqual(expect.arrayContaining(before))
    })
  })
}
