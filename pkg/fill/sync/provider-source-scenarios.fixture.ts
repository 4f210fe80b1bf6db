import { hash, randomBytes } from 'node:crypto'
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { defaultLimits, visitFiles } from '../../archives/archive/archive.ts'
import { refOf } from '../../records/store/store.ts'
import { FillError } from '../sources/sources.ts'
import { eventually, storageConfig, versions } from './scenario-parts.fixture.ts'
import type { Scene } from './scene.fixture.ts'

const files = { 'go.mod': 'module example.test/hello\n', 'go.sum': 'sums\n', 'main.go': 'package' }

/** Files of the source of stored providers, for scanners. */
export function providerSourceScenarios(scene: () => Scene): void {
  describe('go.mod and go.sum of a provider', () => {
    const repository = 'https://git.test/terraform-provider-hello'
    const other = 'https://git.test/other'
    const offer = () =>
      scene().upstream.provider('acme/hello', {
        '1.0.0': { platforms: ['linux/amd64', 'darwin/arm64'], signer: 'A'.repeat(40) },
      })
    const push = (content: Readonly<Record<string, string>>, url = repository) =>
      scene().upstream.repositories.set(url, new Map([['v1.0.0', content]]))
    const write = (config: object = { sourceRepository: repository }, listed = ['1.0.0']) =>
      scene().write('Provider', 'hello', {
        providerConfig: { namespace: 'acme', storageConfig, ...config },
        versions: versions(...listed),
      })
    /** Changes the config while reconcilers run. */
    const configure = async (change: object) => {
      const provider = scene().object('Provider', 'hello')
      const { providerConfig } = provider.spec as { providerConfig: object }
      const spec = { providerConfig: { ...providerConfig, ...change } }
      await scene().objects.patch(refOf(provider), { spec })
    }
    const run = (options = {}) => scene().run({ providerSources: true, ...options })
    const status = () => scene().status('Version', 'hello-1-0-0-linux-amd64')
    const source = () => status().artifact?.source
    const asked = () => scene().upstream.asked.filter((what) => what.includes('https://git.test'))
    const pathOf = (name: string) => join(scene().storage, name)
    const stored = async () =>
      (await scene().stored()).filter((name) => name.endsWith('.source.zip'))
    const read = async () => {
      const name = (await stored()).find((path) => basename(path) === source()?.fileName) ?? ''
      const found = new Map<string, string>()
      const limits = defaultLimits.module
      await visitFiles({ file: pathOf(name), limits }, (path) => (chunk) => {
        found.set(path, (found.get(path) ?? '') + Buffer.from(chunk).toString())
      })
      return Object.fromEntries(found)
    }

    it('are fetched once for all platforms at the tag of the version, and stored next to each archive', async () => {
      offer()
      push(files)
      await write()
      await run()
      expect(await stored()).toHaveLength(2)
      const name = (await stored()).find((path) => path.includes('linux')) ?? ''
      expect(await read()).toEqual({ 'go.mod': files['go.mod'], 'go.sum': files['go.sum'] })
      expect(source()).toEqual({
        repository,
        revision: expect.stringMatching(/^1\.0\.0@sha1:[0-9a-f]{40}$/),
        sha256: hash('sha256', await readFile(pathOf(name))),
        sizeBytes: (await readFile(pathOf(name))).length,
        fileName: basename(name),
      })
      expect(name).toContain(`-${source()?.sha256?.slice(0, 12)}.source.zip`)
      const once = [
        `list ${repository}`,
        `resolve ${repository} 1.0.0`,
        `fetch ${repository} 1.0.0`,
      ]
      expect(asked()).toEqual(once)
      await run()
      expect(asked()).toEqual(once)
    })

    it('are not fetched without the option', async () => {
      offer()
      push(files)
      await write()
      await scene().run()
      expect(source()).toBeUndefined()
      expect(asked()).toEqual([])
    })

    it('go when the option is removed, and come back with it', async () => {
      offer()
      push(files)
      await write()
      await run()
      const before = source()
      expect(before?.sha256).toBeDefined()
      await scene().run()
      expect(source()).toBeUndefined()
      scene().aheadMs = 25 * 3_600_000
      await scene().run()
      expect(await stored()).toEqual([])
      expect(status().replaced).toBeUndefined()
      await run()
      expect(source()).toEqual(before)
      expect(await read()).toEqual({ 'go.mod': files['go.mod'], 'go.sum': files['go.sum'] })
    })

    it('come from the repository that the registry names, if the config names none', async () => {
      offer()
      push(files)
      scene().upstream.sources.set('acme/hello', repository)
      await write({})
      await run()
      expect(source()).toMatchObject({ repository, sha256: expect.any(String) })
    })

    it.each([
      ['https://github.com/acme/hello', 'github', undefined],
      ['https://ghe.test/acme/hello', 'github', 'https://ghe.test/api/v3'],
      ['https://evil.test/acme/hello', 'git', undefined],
      ['https://acme.ghe.com/acme/hello', 'github', 'https://api.acme.ghe.com'],
    ])(
      'take the credentials of the config to its own host alone: %s',
      async (named, type, apiUrl) => {
        offer()
        scene().upstream.sources.set('acme/hello', named)
        const own = apiUrl ?? 'https://ghe.test/api/v3'
        const githubClientConfig = { secretName: 'token', apiUrl: own }
        await write({ githubClientConfig })
        await run()
        const [origin] = scene().upstream.origins
        expect([origin?.source?.type, origin?.githubClientConfig?.apiUrl]).toEqual([type, apiUrl])
        expect(origin?.githubClientConfig?.secretName).toBe(apiUrl && 'token')
      },
    )

    it('take the credentials of its documentation if that is in the same repository', async () => {
      offer()
      push(files)
      const docs = { type: 'git', url: repository, secretRef: { name: 'token' }, tagPrefix: 'x/' }
      await write({ sourceRepository: repository, docs })
      await run()
      expect(scene().upstream.origins.map(({ source: of }) => of)).toEqual(
        scene().upstream.origins.map(() => docs),
      )
      expect(source()?.sha256).toBeDefined()
    })

    it('are missing in a provider of another language, which is not asked again', async () => {
      offer()
      push({ 'Cargo.toml': '' })
      await write()
      await run()
      expect(source()).toEqual({
        repository,
        revision: expect.any(String),
        problem: `${repository} has no go.mod at 1.0.0`,
      })
      expect(await stored()).toEqual([])
      await run()
      expect(asked()).toHaveLength(3)
    })

    it('are left out if they are larger than any scanner needs', async () => {
      offer()
      push({ ...files, 'go.sum': 'x'.repeat(4 * 1024 * 1024 + 1) })
      await write()
      await run()
      expect(source()?.problem).toBe(`go.sum of ${repository} has more than 4 MiB at 1.0.0`)
      expect(await stored()).toEqual([])
    })

    it('prevent nothing if the repository cannot be read, which the status says, and come later', async () => {
      offer()
      scene().upstream.faults.set(repository, new FillError('AccessDenied', 'no token'))
      await write()
      await run()
      expect(status()).toMatchObject({ synced: true, syncStatus: 'Synced' })
      expect(source()).toEqual({ repository, problem: 'no token' })
      // The other platform does not ask again.
      expect(asked()).toEqual([`list ${repository}`])
      scene().upstream.faults.clear()
      push(files)
      await run()
      expect(source()).toMatchObject({ repository, sha256: expect.any(String) })
      expect(source()?.problem).toBeUndefined()
    })

    it('are not asked for by each platform if a version cannot be read, but when a person requests a sync', async () => {
      offer()
      push(files)
      const fetch = `fetch ${repository} 1.0.0`
      scene().upstream.faults.set(fetch, new FillError('FetchFailed', 'too slow'))
      await write()
      const sync = await scene().begin({ providerSources: true })
      await sync.idle()
      expect(source()).toEqual({ repository, problem: 'too slow' })
      expect(scene().status('Version', 'hello-1-0-0-darwin-arm64').artifact?.source).toEqual(
        source(),
      )
      expect(asked().filter((what) => what === fetch)).toHaveLength(1)
      scene().upstream.faults.clear()
      await scene().objects.patch(refOf(scene().object('Version', 'hello-1-0-0-linux-amd64')), {
        metadata: { annotations: { 'depot.internal/sync-requested-at': 'now' } },
      })
      await eventually(() => expect(source()?.sha256).toBeDefined())
    })

    it('are those of another repository when the config names one, and none when it names none', async () => {
      offer()
      push(files)
      push({ 'go.mod': 'module example.test/other\n' }, other)
      await write()
      await run()
      await write({ sourceRepository: other })
      await run()
      expect(await read()).toEqual({ 'go.mod': 'module example.test/other\n' })
      expect(source()?.repository).toBe(other)
      const removed = { fileName: expect.stringMatching(/source\.zip$/) }
      expect(status().replaced).toMatchObject([removed])
      await write({})
      await run()
      expect(source()).toBeUndefined()
      expect(status().replaced).toMatchObject([removed, removed])
      scene().aheadMs = 25 * 3_600_000
      await run()
      expect(await stored()).toEqual([])
      expect(status().replaced).toBeUndefined()
    })

    it('stay while the registry does not tell which repository it is', async () => {
      offer()
      push(files)
      scene().upstream.sources.set('acme/hello', repository)
      await write({})
      await run()
      const before = source()
      expect(before?.sha256).toBeDefined()
      scene().upstream.faults.set('source acme/hello', new FillError('FetchFailed', 'down'))
      const { resolvedSourceRepository: _, ...lost } = scene().status('Provider', 'hello')
      await scene().objects.writeStatus(scene().object('Provider', 'hello'), lost)
      await run()
      expect(scene().status('Provider', 'hello').resolvedSourceRepository).toBeUndefined()
      expect(source()).toEqual(before)
    })

    /** A Version whose archive a person stored. */
    const publish = async (config: object) => {
      await mkdir(join(scene().storage, 'depot/hello'), { recursive: true })
      await writeFile(join(scene().storage, 'depot/hello/hello.zip'), 'archive')
      await scene().write('Version', 'by-hand', {
        type: 'Provider',
        version: '1.0.0',
        operatingSystem: 'linux',
        architecture: 'amd64',
        providerConfigRef: { name: 'hello', storageConfig, ...config },
        upload: { fileName: 'hello.zip', sha256: hash('sha256', 'archive') },
      })
    }
    const published = () => scene().status('Version', 'by-hand')
    const request = (name: string, value = 'now') =>
      scene().objects.patch(refOf(scene().object('Version', name)), {
        metadata: { annotations: { 'depot.internal/sync-requested-at': value } },
      })

    it('of a published provider stay with its documentation if the repository cannot be read when a person requests a sync', async () => {
      push({ ...files, 'docs/index.md': '# Hello' })
      await publish({ sourceRepository: repository, docs: { type: 'git', url: repository } })
      await run()
      const before = published().artifact
      expect([before?.source?.sha256, before?.docs?.sha256]).toEqual([
        expect.any(String),
        expect.any(String),
      ])
      scene().upstream.faults.set(repository, new FillError('RateLimited', 'limited'))
      scene().aheadMs = 5 * 60_000
      await request('by-hand')
      await run()
      expect(published().lastHandledSync).toBe('now')
      expect(published().artifact?.docs).toEqual(before?.docs)
      const problem = `${repository} cannot be read now: limited`
      const now = () => published().artifact?.source
      await eventually(() => expect(now()).toEqual({ ...before?.source, problem }))
      scene().upstream.faults.clear()
      scene().aheadMs = 2 * 3_600_000
      await run()
      await eventually(() => expect(now()).toEqual(before?.source))
    })

    it('of a published provider are asked for when its Provider gets a repository', async () => {
      push(files)
      await publish({})
      const providerConfig = { name: 'hello', namespace: 'acme', storageConfig }
      await scene().write('Provider', 'by-hand', { providerConfig, versions: [] })
      await run()
      expect(published().artifact?.source).toBeUndefined()
      await scene().objects.patch(refOf(scene().object('Provider', 'by-hand')), {
        spec: { providerConfig: { ...providerConfig, sourceRepository: repository } },
      })
      await eventually(() => expect(published().artifact?.source?.sha256).toBeDefined())
    })

    it('of a published provider stay while its Provider is missing, and go when it names no repository', async () => {
      push(files)
      await publish({})
      const own = { name: 'hello', namespace: 'acme', storageConfig }
      const provide = (change: object) =>
        scene().write('Provider', 'by-hand', {
          providerConfig: { ...own, ...change },
          versions: [],
        })
      await provide({ sourceRepository: repository })
      await run()
      const before = published().artifact?.source
      expect(before?.sha256).toBeDefined()
      await scene().remove('Provider', 'by-hand')
      await run()
      expect(published().artifact?.source).toEqual(before)
      scene().upstream.faults.set(repository, new FillError('RateLimited', 'limited'))
      await provide({ sourceRepository: repository })
      await run()
      expect(published().artifact?.source).toEqual(before)
      await provide({})
      await run()
      expect(published().artifact?.source).toBeUndefined()
    })

    it('stay while the repository that the config names next cannot be read', async () => {
      offer()
      push(files)
      await write()
      await run()
      const before = source()
      scene().upstream.faults.set(other, new FillError('AccessDenied', 'no token'))
      await write({ sourceRepository: other })
      await run()
      expect(source()).toEqual({ ...before, problem: `${other} cannot be read now: no token` })
      scene().upstream.faults.clear()
      push({ 'go.mod': 'module example.test/other\n' }, other)
      scene().aheadMs = 2 * 3_600_000
      await run()
      expect(source()).toMatchObject({ repository: other, sha256: expect.any(String) })
      expect(source()?.problem).toBeUndefined()
    })

    it('have the names of earlier releases until they change', async () => {
      offer()
      push(files)
      await write(undefined, ['1.0.0'])
      await run()
      const old: string[] = []
      for (const name of ['hello-1-0-0-linux-amd64', 'hello-1-0-0-darwin-arm64']) {
        const { artifact, ...rest } = scene().status('Version', name)
        const { fileName = '', ...before } = artifact?.source ?? { repository }
        const folder = dirname((await stored())[0] ?? '')
        const renamed = `${artifact?.fileName?.replace('.zip', '')}.source.zip`
        await rename(pathOf(join(folder, fileName)), pathOf(join(folder, renamed)))
        old.push(join(folder, renamed))
        await scene().objects.writeStatus(scene().object('Version', name), {
          ...rest,
          artifact: { ...artifact, source: before },
        })
      }
      scene().upstream.asked.length = 0
      await run({ verifyAtStart: 'look' })
      expect([asked(), await stored()]).toEqual([[], old.toSorted()])
      push({ 'go.mod': 'module example.test/moved\n' })
      await request('hello-1-0-0-linux-amd64')
      await eventually(() => expect(source()?.fileName).toBeDefined())
      // Until its status is known everywhere, both are there.
      expect(await stored()).toHaveLength(3)
      scene().aheadMs = 25 * 3_600_000
      await run()
      expect(await stored()).toHaveLength(2)
      await write(undefined, [])
      await run({ timings: { removalGraceMs: 0 }, confirmRemovals: true })
      await eventually(async () => expect(await stored()).toEqual([]))
    })

    it('are not asked for on a host that only the registry names, which the operator does not allow', async () => {
      offer()
      push(files)
      scene().upstream.sources.set('acme/hello', repository)
      await write({})
      const policy = { hosts: [], privateNetworks: [], publicDownloads: true, plainOrigins: [] }
      await run({ policy })
      const problem = `${repository} is refused: an operator can allow it with --egress-allow=git.test`
      expect([source(), asked()]).toEqual([{ repository, problem }, []])
      await write({ sourceRepository: repository })
      await run({ policy })
      expect(source()?.sha256).toBeDefined()
    })

    it('are not asked for on GitHub if the operator does not allow its API and only the registry names it', async () => {
      offer()
      const named = 'https://github.com/acme/hello'
      push(files, named)
      scene().upstream.sources.set('acme/hello', named)
      await write({})
      const policy = { hosts: [], privateNetworks: [], publicDownloads: true, plainOrigins: [] }
      await run({ policy })
      const problem =
        'https://api.github.com/ is refused: an operator can allow it with --egress-allow=api.github.com'
      expect(source()).toEqual({ repository: named, problem })
      expect(scene().upstream.asked.filter((what) => what.includes(named))).toEqual([])
      await run({ policy: { ...policy, hosts: ['api.github.com'] } })
      expect(source()?.sha256).toBeDefined()
    })

    it('are not read from a private repository that only the registry names', async () => {
      offer()
      push(files)
      scene().upstream.privates.add(repository)
      scene().upstream.sources.set('acme/hello', repository)
      await write({})
      const sync = await scene().begin({ providerSources: true })
      await sync.idle()
      const problem = `${repository} is private, and only the registry names it: name it in sourceRepository to have it scanned`
      expect(source()).toEqual({ repository, problem })
      await configure({ sourceRepository: repository })
      await eventually(() => expect(source()?.sha256).toBeDefined())
    })

    it('are not those of a private repository that another Version of the same provider names', async () => {
      offer()
      push(files)
      scene().upstream.privates.add(repository)
      scene().upstream.sources.set('acme/hello', repository)
      await write({ operatingSystems: ['darwin'] })
      const sync = await scene().begin({ providerSources: true })
      await sync.idle()
      const mirrored = () => scene().status('Version', 'hello-1-0-0-darwin-arm64').artifact?.source
      const refused = { repository, problem: expect.stringContaining('is private') }
      expect(mirrored()).toEqual(refused)
      await publish({ sourceRepository: repository })
      await eventually(() => expect(published().artifact?.source?.sha256).toBeDefined())
      // The repository of its documentation makes it look again.
      await configure({ docs: { type: 'git', url: other } })
      await eventually(() => expect(asked()).toContain(`resolve ${other} 1.0.0`))
      await sync.idle()
      expect(mirrored()).toEqual(refused)
    })

    it('need a list of tags of the last day only, unless a person asks', async () => {
      offer()
      push(files)
      await write()
      await run()
      const ages = () =>
        scene().upstream.listAges.flatMap(([url, ms]) => (url === repository ? [ms] : []))
      expect(ages()).toEqual([24 * 3_600_000])
      scene().aheadMs = 5 * 60_000
      await request('hello-1-0-0-linux-amd64')
      await eventually(() => expect(ages()).toEqual([24 * 3_600_000, 0]))
    })

    it('of a host with a rate limit need one list an hour after a request that failed', async () => {
      offer()
      push(files)
      scene().upstream.singly.add(repository)
      await write()
      await run()
      expect(asked().slice(2)).toEqual(
        ['go.mod', 'go.sum'].map((name) => `file ${repository} ${name}`),
      )
      scene().upstream.faults.set(repository, new FillError('RateLimited', 'limited'))
      scene().aheadMs = 5 * 60_000
      await request('hello-1-0-0-linux-amd64')
      await eventually(() => expect(source()?.problem).toContain('cannot be read now: limited'))
      scene().upstream.faults.clear()
      scene().upstream.listAges.length = 0
      scene().aheadMs = 2 * 3_600_000
      await run()
      expect(source()?.problem).toBeUndefined()
      expect(scene().upstream.listAges).toContainEqual([repository, 48 * 60_000])
    })

    it('are found at a moved tag although the repository failed when a person requested a sync', async () => {
      offer()
      push({ 'Cargo.toml': '' })
      await write()
      await run()
      expect(source()?.problem).toBe(`${repository} has no go.mod at 1.0.0`)
      scene().upstream.faults.set(repository, new FillError('FetchFailed', 'down'))
      scene().aheadMs = 5 * 60_000
      await request('hello-1-0-0-linux-amd64')
      await eventually(() => expect(source()).toEqual({ repository, problem: 'down' }))
      await run()
      scene().upstream.faults.clear()
      scene().upstream.listAges.length = 0
      push(files)
      scene().aheadMs = 2 * 3_600_000
      await run()
      expect(source()?.sha256).toBeDefined()
      // A list of the last day may be older than the tag.
      expect(scene().upstream.listAges).toContainEqual([repository, 60_000])
    })

    it('cause no write while a host limits requests, whose message has another time each hour', async () => {
      offer()
      push(files)
      const limit = (hour: string, refusal = '') => {
        const message = `git.test limits requests until 2026-11-27T${hour}:00:00Z${refusal}; give a token`
        scene().upstream.faults.set(repository, new FillError('RateLimited', message))
      }
      limit('04', ' (status 403: "exceeded (id 12)")')
      await write()
      await run()
      const problem = 'git.test limits requests; give a token'
      expect(source()).toEqual({ repository, problem })
      limit('06')
      scene().aheadMs = 2 * 3_600_000
      await run()
      expect(source()).toEqual({ repository, problem })
      expect(asked()).toHaveLength(2)
    })

    it('of two requests within a minute are both fetched', async () => {
      offer()
      push(files)
      await write()
      const sync = await scene().begin({ providerSources: true })
      await sync.idle()
      for (const text of ['first', 'second']) {
        const before = source()?.sha256
        push({ 'go.mod': `module example.test/${text}\n` })
        await request('hello-1-0-0-linux-amd64', text)
        await eventually(() => expect(source()?.sha256).not.toBe(before))
      }
    })

    it('are read from two repositories of a namespace at a time, so that slow ones hold nothing else', async () => {
      const names = ['one', 'two', 'three']
      const repositoryOf = (name: string) => `https://git.test/${name}`
      const slow = Promise.withResolvers<void>()
      for (const name of names) {
        scene().upstream.provider(`acme/${name}`, {
          '1.0.0': { platforms: ['linux/amd64'], signer: 'A'.repeat(40) },
        })
        push(files, repositoryOf(name))
        scene().upstream.delays.set(repositoryOf(name), slow.promise)
        const sourceRepository = repositoryOf(name)
        const providerConfig = { namespace: 'acme', storageConfig, sourceRepository }
        await scene().write('Provider', name, { providerConfig, versions: versions('1.0.0') })
      }
      const sync = await scene().begin({ providerSources: true })
      const statusOf = (name: string) => scene().status('Version', `${name}-1-0-0-linux-amd64`)
      try {
        await eventually(() => {
          expect(names.map((name) => statusOf(name).synced)).toEqual([true, true, true])
          expect(asked().filter((what) => what.startsWith('fetch'))).toHaveLength(2)
        })
      } finally {
        slow.resolve()
      }
      await sync.idle()
      for (const name of names) expect(statusOf(name).artifact?.source?.sha256).toBeDefined()
    })

    it('hold up no downloads from the registry while platforms wait for the files of another one', async () => {
      const slow = Promise.withResolvers<void>()
      const platforms = ['linux', 'darwin', 'windows'].flatMap((os) => [
        `${os}/amd64`,
        `${os}/arm64`,
      ])
      scene().upstream.provider('acme/hello', {
        '1.0.0': { platforms, signer: 'A'.repeat(40) },
      })
      push(files)
      scene().upstream.delays.set(repository, slow.promise)
      await write()
      const sync = await scene().begin({ providerSources: true })
      const isSynced = (name: string) => scene().status('Version', name).synced
      const all = platforms.map((platform) => `hello-1-0-0-${platform.replace('/', '-')}`)
      try {
        await eventually(() => expect(all.map(isSynced)).toEqual(all.map(() => true)))
        scene().upstream.provider('acme/other', {
          '1.0.0': { platforms: ['linux/amd64'], signer: 'A'.repeat(40) },
        })
        const providerConfig = { namespace: 'acme', storageConfig }
        await scene().write('Provider', 'other', { providerConfig, versions: versions('1.0.0') })
        await eventually(() => expect(isSynced('other-1-0-0-linux-amd64')).toBe(true))
        expect(all.map((name) => scene().status('Version', name).artifact?.source)).toEqual(
          all.map(() => undefined),
        )
      } finally {
        slow.resolve()
      }
      await sync.idle()
      for (const name of all)
        expect(scene().status('Version', name).artifact?.source?.sha256).toBeDefined()
      expect(asked().filter((what) => what.startsWith('fetch'))).toHaveLength(1)
    })

    it('are not kept in memory if they are large', async () => {
      offer()
      push({ ...files, 'go.sum': randomBytes(2 * 1024 * 1024).toString('latin1') })
      await write({ sourceRepository: repository, operatingSystems: ['linux'] })
      const sync = await scene().begin({ providerSources: true })
      await sync.idle()
      expect(await stored()).toHaveLength(1)
      await configure({ operatingSystems: ['linux', 'darwin'] })
      await eventually(async () => expect(await stored()).toHaveLength(2))
      expect(asked().filter((what) => what.startsWith('fetch'))).toHaveLength(2)
    })

    it('are not asked for again in a repository that is too large', async () => {
      offer()
      push(files)
      const fetch = `fetch ${repository} 1.0.0`
      scene().upstream.faults.set(fetch, new FillError('ArchiveTooLarge', 'too large'))
      await write()
      await run()
      const problem = 'too large'
      expect(source()).toEqual({ repository, revision: expect.any(String), problem })
      scene().aheadMs = 2 * 3_600_000
      await run()
      expect(asked().filter((what) => what === fetch)).toHaveLength(1)
    })

    it('are fetched again when a person requests a sync, because a tag was moved', async () => {
      offer()
      push(files)
      await write()
      await run()
      const before = source()?.revision
      push({ 'go.mod': 'module example.test/moved\n' })
      const annotations = { 'depot.internal/sync-requested-at': 'now' }
      scene().aheadMs = 5 * 60_000
      await scene().objects.patch(refOf(scene().object('Version', 'hello-1-0-0-linux-amd64')), {
        metadata: { annotations },
      })
      await eventually(() => expect(source()?.revision).not.toBe(before))
    })

    it('are fetched again if storage has lost them, and go with the archive', async () => {
      offer()
      push(files)
      await write()
      await run()
      const [name = ''] = await stored()
      await rm(pathOf(name))
      await run({ verifyAtStart: 'look' })
      expect(await stored()).toHaveLength(2)
      await write(undefined, [])
      await run({ timings: { removalGraceMs: 0 }, confirmRemovals: true })
      await eventually(async () => expect(await stored()).toEqual([]))
    })

    it('move with the archive to another storage', async () => {
      offer()
      push(files)
      await write()
      await run()
      scene().upstream.asked.length = 0
      await write({
        sourceRepository: repository,
        storageConfig: { fileSystem: { directoryPath: 'elsewhere' } },
      })
      await run()
      expect((await stored()).filter((name) => name.startsWith('elsewhere/'))).toHaveLength(2)
      expect(source()?.sha256).toBeDefined()
      expect(asked()).toEqual([])
    })
  })
}
