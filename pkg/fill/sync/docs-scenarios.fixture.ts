import { hash } from 'node:crypto'
import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { ModuleDocs } from '../../api/docs/docs.ts'
import { unpackDocs } from '../../archives/docs/docs.ts'
import { ApiError, type Objects, refOf } from '../../records/store/store.ts'
import { eventually, storageConfig, url, versions } from './scenario-parts.fixture.ts'
import type { Scene } from './scene.fixture.ts'

/** The documentation of stored modules. */
export function docsScenarios(scene: () => Scene): void {
  describe('the documentation of a module', () => {
    const moduleConfig = { name: 'vpc', provider: 'aws', source: { type: 'git', url } }
    const write = (config: object = { storageConfig }) =>
      scene().write('Module', 'vpc', {
        moduleConfig: { ...moduleConfig, ...config },
        versions: versions('1.0.0'),
      })
    const fill = async (text: string) => {
      const files = { 'main.tf': text, 'README.md': '# VPC' }
      scene().upstream.repositories.set(url, new Map([['v1.0.0', files]]))
      await write()
      await scene().run()
    }
    const status = () => scene().status('Version', 'vpc-1-0-0')
    const pathOf = (name: string) => join(scene().storage, name)
    const read = async () => {
      const [name = '', ...others] = await scene().documentation()
      expect(others).toEqual([])
      return unpackDocs(await readFile(pathOf(name)))
    }
    const texts = async (version: string) => {
      const found = (await scene().configMap(`vpc-${version}-readme`)) as
        | { data: Record<string, string> }
        | undefined
      const decoded = Object.entries(found?.data ?? {}).map(
        ([key, text]) => [key, Buffer.from(text, 'base64').toString()] as const,
      )
      return new Map(decoded)
    }
    const readme = async () => (await texts('1-0-0')).get('README.md')
    const inputsOf = async (version: string) => {
      const json = (await texts(version)).get('interface.json')
      const { root } = JSON.parse(json ?? '{"root":{}}') as Partial<ModuleDocs>
      return root?.inputs?.map(({ name }) => name)
    }
    const variable = 'variable "cidr" { type = string }'

    it('is stored next to the archive, with its digest in the status', async () => {
      await fill(variable)
      const { artifact } = status()
      const name = artifact?.fileName?.replace('.tar.gz', '.docs.json.gz')
      expect(await scene().documentation()).toEqual([`depot/vpc/${name}`])
      const bytes = await readFile(pathOf(`depot/vpc/${name}`))
      expect(artifact?.docs).toEqual({
        sha256: hash('sha256', bytes),
        sizeBytes: bytes.length,
      })
      const { root } = await read()
      expect(root).toMatchObject({ readme: '# VPC', inputs: [{ name: 'cidr', type: 'string' }] })
    })

    it('says where a module cannot be parsed, and the module is served', async () => {
      await fill('variable "cidr" {\n  type = }\n')
      expect(status()).toMatchObject({ synced: true, syncStatus: 'Synced' })
      const { root } = await read()
      expect(root.error).toMatchObject({ file: 'main.tf', line: 2 })
    })

    it('is made of an archive that an earlier release stored, without asking upstream', async () => {
      await fill(variable)
      const before = await read()
      const [name = ''] = await scene().documentation()
      await rm(pathOf(name))
      const { docs: _, ...artifact } = status().artifact ?? {}
      await scene().objects.writeStatus(scene().object('Version', 'vpc-1-0-0'), {
        ...status(),
        artifact,
      })
      scene().upstream.asked.length = 0
      await scene().run()
      expect(await read()).toEqual(before)
      expect(status().artifact?.docs).toBeDefined()
      expect(scene().upstream.asked).toEqual([])
      const revision = () => scene().object('Version', 'vpc-1-0-0').metadata.resourceVersion
      await scene().run()
      const known = revision()
      await scene().run()
      expect(revision()).toBe(known)
    })

    it('has its README in a ConfigMap that the status names', async () => {
      await fill(variable)
      const { artifact, readmeConfigMapRef, readmeDocs } = status()
      expect(readmeConfigMapRef).toEqual({ name: 'vpc-1-0-0-readme', key: 'README.md' })
      expect(readmeDocs).toBe(artifact?.docs?.sha256)
      expect(await readme()).toBe('# VPC\n')
    })

    it('has the README of an archive that replaces another one, and none if that has none', async () => {
      await fill(variable)
      const replaceBy = async (files: Record<string, string>, request: string) => {
        scene().upstream.repositories.set(url, new Map([['v1.0.0', files]]))
        const object = scene().object('Version', 'vpc-1-0-0')
        const annotations = { 'depot.internal/sync-requested-at': request }
        await scene().objects.patch(refOf(object), { metadata: { annotations } })
        await eventually(() => expect(status().lastHandledSync).toBe(request))
      }
      await replaceBy({ 'main.tf': variable, 'README.md': '# Replaced' }, 'first')
      expect(await readme()).toBe('# Replaced')
      await replaceBy({ 'main.tf': variable }, 'second')
      expect(status().readmeDocs).toBe(status().artifact?.docs?.sha256)
      expect(status().readmeConfigMapRef).toBeUndefined()
      expect(await readme()).toBeUndefined()
    })

    it('has its interface next to the README of the latest version only', async () => {
      const release = (name: string) => ({
        'main.tf': `variable "${name}" {}\n`,
        'README.md': `# ${name}`,
      })
      const releases = new Map([
        ['v1.0.0', release('one')],
        ['v1.1.0', release('two')],
        ['v2.0.0-rc.1', release('next')],
      ])
      scene().upstream.repositories.set(url, releases)
      const list = async (...listed: string[]) => {
        await scene().write('Module', 'vpc', {
          moduleConfig: { ...moduleConfig, storageConfig },
          versions: versions(...listed),
        })
        await scene().run()
        await scene().run({ verifyAtStart: 'look' })
      }
      const found = async () => {
        const all = scene()
          .names('Version')
          .map(async (name) => {
            const { interfaceConfigMapRef: ref } = scene().status('Version', name)
            return [name, ref, await inputsOf(name.slice('vpc-'.length))] as const
          })
        return (await Promise.all(all)).filter(([, ref, inputs]) => ref ?? inputs)
      }
      const ofOnly = (name: string, input: string) => {
        const ref = { name: `${name}-readme`, key: 'interface.json' }
        return scene().objects.isFolder ? [] : [[name, ref, [input]]]
      }
      await list('1.0.0')
      expect(await found()).toEqual(ofOnly('vpc-1-0-0', 'one'))
      await list('1.0.0', '1.1.0', '2.0.0-rc.1')
      expect(await found()).toEqual(ofOnly('vpc-1-1-0', 'two'))
      await list('1.0.0', '2.0.0-rc.1')
      expect(scene().status('Module', 'vpc').latestVersion).toBe('1.0.0')
      expect(await found()).toEqual(ofOnly('vpc-1-0-0', 'one'))
      await list('1.0.0', '1.1.0', '2.0.0-rc.1')
      expect(await found()).toEqual(ofOnly('vpc-1-1-0', 'two'))
      expect(await readme()).toBe('# one\n')
    })

    it('has its interface although it has no README', async () => {
      scene().upstream.repositories.set(url, new Map([['v1.0.0', { 'main.tf': variable }]]))
      await write()
      await scene().run()
      const keys = scene().objects.isFolder ? [] : ['interface.json']
      expect([...(await texts('1-0-0')).keys()]).toEqual(keys)
      expect(status().readmeConfigMapRef).toBeUndefined()
    })

    it('says in the status that its interface is too large for a ConfigMap', async () => {
      const long = 'é'.repeat(1000)
      const inputs = Array.from(
        { length: 140 },
        (_, at) => `variable "v${at}" {\n  description = "${long}"\n}\n`,
      )
      await fill(inputs.join(''))
      expect([...(await texts('1-0-0')).keys()]).toEqual(['README.md'])
      const failure = {
        error:
          'the interface has more than 255 KiB: read it with depot docs, or from the browse API',
      }
      expect(status().interfaceConfigMapRef).toEqual(scene().objects.isFolder ? undefined : failure)
      const revision = () => scene().object('Version', 'vpc-1-0-0').metadata.resourceVersion
      await scene().run()
      const known = revision()
      await scene().run({ verifyAtStart: 'look' })
      expect(revision()).toBe(known)
    })

    it('has a README although an earlier release stored it, and then writes nothing more', async () => {
      await fill(variable)
      const { readmeConfigMapRef: _, readmeDocs: __, ...before } = status()
      const object = scene().object('Version', 'vpc-1-0-0')
      await scene().objects.writeReadme(object, undefined)
      await scene().objects.writeStatus(object, before)
      await scene().run()
      expect(await readme()).toBe('# VPC\n')
      expect(status()).toMatchObject({ readmeConfigMapRef: { name: 'vpc-1-0-0-readme' } })
      const revision = () => scene().object('Version', 'vpc-1-0-0').metadata.resourceVersion
      await scene().run()
      const known = revision()
      await scene().run()
      expect(revision()).toBe(known)
    })

    it('is neither read nor made again while nothing changes', async () => {
      await fill(variable)
      await scene().run()
      const [name = ''] = await scene().documentation()
      await writeFile(pathOf(name), 'nobody looks')
      const before = status()
      await scene().run()
      expect(await readFile(pathOf(name), 'utf8')).toBe('nobody looks')
      expect(status()).toEqual(before)
    })

    it('has its README again after somebody deleted that', async () => {
      await fill(variable)
      const object = scene().object('Version', 'vpc-1-0-0')
      await scene().objects.writeReadme(object, undefined)
      await scene().run({ verifyAtStart: 'look' })
      expect(await readme()).toBe('# VPC\n')
      expect(status()).toMatchObject({ readmeConfigMapRef: { name: 'vpc-1-0-0-readme' } })
    })

    it('keeps the README that a person named', async () => {
      await fill(variable)
      const readmeConfigMapRef = { name: 'by-hand', key: 'README.md' }
      const { readmeDocs: _, ...before } = status()
      const object = scene().object('Version', 'vpc-1-0-0')
      await scene().objects.writeStatus(object, { ...before, readmeConfigMapRef })
      await scene().run()
      expect(status()).toMatchObject({ readmeConfigMapRef, synced: true })
    })

    it('is synced if its README cannot be written, which is tried again', async () => {
      let isDenied = true
      const denied = (objects: Objects): Objects => ({
        ...objects,
        get: objects.get.bind(objects),
        writeReadme: async (...given) => {
          if (isDenied) throw new ApiError('Forbidden', 'configmaps is forbidden')
          return objects.writeReadme(...given)
        },
      })
      scene().through = denied
      onTestFinished(() => {
        scene().through = undefined
      })
      await fill(variable)
      expect(status()).toMatchObject({ synced: true, syncStatus: 'Synced' })
      expect(status().readmeConfigMapRef).toBeUndefined()
      isDenied = false
      await scene().run()
      expect(await readme()).toBe('# VPC\n')
      expect(status()).toMatchObject({ readmeConfigMapRef: { name: 'vpc-1-0-0-readme' } })
    })

    it('is made again if storage has lost it', async () => {
      await fill(variable)
      const [name = ''] = await scene().documentation()
      const before = await readFile(pathOf(name))
      await rm(pathOf(name))
      await scene().run({ verifyAtStart: 'look' })
      expect((await readFile(pathOf(name))).equals(before)).toBe(true)
    })

    it('moves with the archive, and is made again if storage has lost it', async () => {
      await fill(variable)
      const before = await read()
      const move = async (directoryPath: string) => {
        await write({ storageConfig: { fileSystem: { directoryPath } } })
        await scene().run()
        const [name = ''] = (await scene().documentation()).filter((path) =>
          path.startsWith(directoryPath),
        )
        expect(await unpackDocs(await readFile(pathOf(name)))).toEqual(before)
        return name
      }
      scene().upstream.asked.length = 0
      await rm(pathOf(await move('second')))
      await move('third')
      expect(status().artifact?.docs).toBeDefined()
      expect(scene().upstream.asked.filter((asked) => asked.startsWith('fetch'))).toEqual([])
    })

    it('of an archive that was stored by hand has a digest in its name', async () => {
      await fill(variable)
      const { artifact } = status()
      const archive = `depot/vpc/${artifact?.fileName}`
      await writeFile(pathOf('depot/vpc/by-hand.tar.gz'), await readFile(pathOf(archive)))
      await scene().write('Version', 'by-hand', {
        type: 'Module',
        version: '9.0.0',
        moduleConfigRef: { name: 'vpc', provider: 'aws', storageConfig },
        upload: { fileName: 'by-hand.tar.gz', sha256: artifact?.sha256 },
      })
      await scene().run()
      const name = `depot/vpc/by-hand-${artifact?.sha256?.slice(0, 12)}.docs.json.gz`
      expect(await scene().documentation()).toContain(name)
      expect(scene().status('Version', 'by-hand').artifact?.docs).toEqual(artifact?.docs)
    })

    it('says why an archive that was stored by hand cannot be read', async () => {
      await fill(variable)
      await writeFile(pathOf('depot/vpc/text.zip'), 'not an archive')
      await scene().write('Version', 'text', {
        type: 'Module',
        version: '9.0.0',
        moduleConfigRef: { name: 'vpc', provider: 'aws', storageConfig },
        upload: { fileName: 'text.zip', sha256: hash('sha256', 'not an archive') },
      })
      await scene().run()
      const [name = ''] = (await scene().documentation()).filter((path) => path.includes('text'))
      const { root } = await unpackDocs(await readFile(pathOf(name)))
      expect(root.error?.message).toContain('archive')
    })
  })
}
