import { hash } from 'node:crypto'
import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { unpackPage, unpackPages } from '../../archives/docs/docs.ts'
import { storageConfig, versions } from './scenario-parts.fixture.ts'
import type { Scene } from './scene.fixture.ts'

const page = '---\npage_title: hello_greeting Resource\n---\n# hello_greeting\n'

/** The documentation of stored providers. */
export function providerDocsScenarios(scene: () => Scene): void {
  describe('the documentation of a provider', () => {
    const offer = (files: Readonly<Record<string, string>>) =>
      scene().upstream.provider('acme/hello', {
        '1.0.0': { platforms: ['linux/amd64', 'darwin/arm64'], signer: 'A'.repeat(40), files },
      })
    const write = (config: object = {}) =>
      scene().write('Provider', 'hello', {
        providerConfig: { namespace: 'acme', storageConfig, ...config },
        versions: versions('1.0.0'),
      })
    const status = () => scene().status('Version', 'hello-1-0-0-linux-amd64')
    const pathOf = (name: string) => join(scene().storage, name)
    const read = async () => {
      const [name = ''] = await scene().documentation()
      const bytes = await readFile(pathOf(name))
      const { pages } = await unpackPages(bytes)
      const texts = await Promise.all(pages.map((one) => unpackPage(bytes, one)))
      return { bytes, titles: pages.map(({ page: { title } }) => title), texts }
    }

    it('is stored next to each archive that contains it, with its digest in the status', async () => {
      offer({ 'docs/resources/greeting.md': page })
      await write()
      await scene().run()
      expect(await scene().documentation()).toHaveLength(2)
      const { artifact } = status()
      const { bytes, titles, texts } = await read()
      expect(artifact?.docs).toEqual({ sha256: hash('sha256', bytes), sizeBytes: bytes.length })
      expect({ titles, texts }).toEqual({
        titles: ['hello_greeting'],
        texts: ['# hello_greeting\n'],
      })
    })

    it('does not exist if no archive contains it', async () => {
      offer({ 'README.md': '# hello' })
      await write()
      await scene().run()
      expect(status()).toMatchObject({ synced: true })
      expect(status().artifact?.docs).toBeUndefined()
      expect(await scene().documentation()).toEqual([])
    })

    describe('that a repository has', () => {
      const repository = 'https://git.test/terraform-provider-hello'
      const docs = { type: 'git', url: repository }
      const push = (files: Readonly<Record<string, string>>) =>
        scene().upstream.repositories.set(repository, new Map([['v1.0.0', files]]))
      const fetched = () => scene().upstream.asked.filter((what) => what.startsWith('fetch https'))

      it('is fetched once for all platforms, at the tag of the version', async () => {
        offer({})
        push({ 'main.go': 'package main', 'website/docs/r/greeting.html.markdown': page })
        await write({ docs })
        await scene().run()
        expect(await read()).toMatchObject({ titles: ['hello_greeting'] })
        expect(await scene().documentation()).toHaveLength(2)
        expect(status().artifact?.docs).toBeDefined()
        expect(fetched()).toEqual([`fetch ${repository} 1.0.0`])
        await scene().run()
        expect(fetched()).toHaveLength(1)
      })

      it('is added to a version that is stored already', async () => {
        offer({})
        await write()
        await scene().run()
        push({ 'docs/index.md': '# hello' })
        await write({ docs })
        await scene().run()
        expect(await read()).toMatchObject({ titles: ['Overview'] })
        const asked = scene().upstream.asked.filter((what) => what.startsWith('fetch acme'))
        expect(asked).toHaveLength(2)
      })

      it('is an empty list if the repository has none, and the repository is not asked again', async () => {
        offer({})
        push({ 'main.go': 'package main' })
        await write({ docs })
        await scene().run()
        expect(await read()).toMatchObject({ titles: [] })
        await scene().run()
        expect(fetched()).toHaveLength(1)
      })

      it('prevents nothing if the repository cannot be read, and comes later', async () => {
        offer({})
        await write({ docs })
        await scene().run()
        expect(status()).toMatchObject({ synced: true, syncStatus: 'Synced' })
        expect(await scene().documentation()).toEqual([])
        push({ 'docs/index.md': '# hello' })
        await scene().run()
        expect(await read()).toMatchObject({ titles: ['Overview'] })
      })
    })

    it('is made again if storage has lost it, without asking upstream', async () => {
      offer({ 'docs/resources/greeting.md': page })
      await write()
      await scene().run()
      const before = await read()
      for (const name of await scene().documentation()) await rm(pathOf(name))
      scene().upstream.asked.length = 0
      await scene().run({ verifyAtStart: 'look' })
      expect((await read()).bytes.equals(before.bytes)).toBe(true)
      expect(scene().upstream.asked.filter((what) => what.startsWith('fetch'))).toEqual([])
    })
  })
}
