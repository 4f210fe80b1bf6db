import { existsSync, watch } from 'node:fs'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { stringify } from 'yaml'
import { openArchiveStore } from '../../archives/storage/storage.ts'
import { createLogger } from '../../base/telemetry/telemetry.ts'
import { configMapIn } from '../../records/store/folder/config-map.fixture.ts'
import { folderObjects } from '../../records/store/store.ts'
import { FillError } from '../sources/sources.ts'
import { eventually, storageConfig, url, versions } from './scenario-parts.fixture.ts'
import { syncScenarios } from './scenarios.fixture.ts'
import { Scene } from './scene.fixture.ts'
import { folderPlace, sceneInFolder } from './upstreams.fixture.ts'

const log = createLogger('silent')
const apiGroup = 'depot.internal'

syncScenarios('a folder', async () => {
  return folderPlace(await mkdtemp(join(tmpdir(), 'depot-sync-objects-')))
})

it('removes nothing while a file cannot be read, because a Version in it may need any archive', async () => {
  const { scene, dir } = await sceneInFolder()
  const file = (name: string) => join(dir, `${name}.yaml`)
  const moduleConfig = { provider: 'aws', source: { type: 'git', url }, storageConfig }
  scene.upstream.repository(url, { 'v1.0.0': 'first' })
  await scene.write('Module', 'vpc', { moduleConfig, versions: versions('1.0.0') })
  await scene.run()
  const stored = await scene.stored()
  await writeFile(file('broken'), 'kind: {')
  await scene.write('Module', 'vpc', { moduleConfig, versions: [] })
  await scene.run({ confirmRemovals: true, timings: { removalGraceMs: 0 } })
  await eventually(() =>
    expect(scene.condition('Version', 'vpc-1-0-0', 'Ready')).toMatchObject({
      reason: 'ArchiveNotRemoved',
      message: expect.stringContaining('broken.yaml cannot be read') as string,
    }),
  )
  expect(await scene.stored()).toEqual(stored)
  await rm(file('broken'))
  await eventually(async () => expect(await scene.stored()).toEqual([]))
})

describe.each(['runs', 'does not run'])('while a process %s', (how) => {
  it('removes the archive of a retained Version whose file a person removes', async () => {
    const { scene, dir } = await sceneInFolder()
    const moduleConfig = { provider: 'aws', source: { type: 'git', url }, storageConfig }
    const write = (...all: readonly string[]) =>
      scene.write('Module', 'vpc', { moduleConfig, versions: versions(...all) })
    scene.upstream.repository(url, { 'v1.0.0': 'first', 'v2.0.0': 'second' })
    await write('1.0.0', '2.0.0')
    await scene.run()
    const ref = { kind: 'Version', namespace: 'team', name: 'vpc-1-0-0' } as const
    const { spec } = scene.object('Version', 'vpc-1-0-0')
    await scene.objects.patch(ref, { spec: { ...(spec as object), retain: true } })
    await write('2.0.0')
    await scene.run()
    expect(scene.names('Version')).toEqual(['vpc-1-0-0', 'vpc-2-0-0'])
    if (how === 'does not run') await scene.stop()
    await rm(join(dir, 'versions/team/vpc-1-0-0.yaml'))
    if (how === 'does not run') await scene.run()
    const left = async () => {
      const notes = [...(await scene.objects.notes.all()).keys()]
      return notes.filter((key) => key !== 'stored')
    }
    await eventually(async () => expect(await left()).toHaveLength(1))
    expect(await scene.stored()).toHaveLength(2)
    scene.aheadMs += 25 * 60 * 60_000
    await scene.run()
    expect(await scene.stored()).toMatchObject([expect.stringContaining('vpc-2.0.0')])
    await scene.run()
    expect(await left()).toEqual([])
  })
})

describe('Versions whose files are missing at the start', () => {
  const opened = async () => {
    const { scene, dir } = await sceneInFolder()
    scene.upstream.repository(url, { 'v1.0.0': 'first', 'v2.0.0': 'second' })
    const moduleConfig = { provider: 'aws', source: { type: 'git', url }, storageConfig }
    await scene.write('Module', 'vpc', { moduleConfig, versions: versions('1.0.0', '2.0.0') })
    await scene.run()
    await scene.stop()
    return { scene, dir }
  }
  const later = async (scene: Scene, options: object = {}) => {
    scene.aheadMs += 25 * 60 * 60_000
    await scene.run(options)
  }

  it('take their archives again without upstream if their Module names them', async () => {
    const { scene, dir } = await opened()
    const stored = await scene.stored()
    await rm(join(dir, 'versions'), { recursive: true })
    scene.upstream.faults.set(url, new FillError('FetchFailed', 'git.test is unreachable'))
    await scene.run({ confirmRemovals: true })
    await eventually(() => expect(scene.status('Module', 'vpc').synced).toBe(true))
    await later(scene)
    expect(await scene.stored()).toEqual(stored)
  })

  it('leave all archives of a Module that is missing too, until a person confirms', async () => {
    const { scene, dir } = await opened()
    const stored = await scene.stored()
    await rm(join(dir, 'versions'), { recursive: true })
    await scene.remove('Module', 'vpc')
    await scene.run({ confirmRemovals: false })
    await later(scene, { confirmRemovals: false })
    expect(await scene.stored()).toEqual(stored)
    await scene.run({ confirmRemovals: true })
    await later(scene)
    expect(await scene.stored()).toEqual([])
    await scene.stop()
    expect(existsSync(join(dir, '.depot-removals'))).toBe(false)
  })

  it('stay known while a file cannot be read', async () => {
    const { scene, dir } = await opened()
    const stored = await scene.stored()
    await rm(join(dir, 'versions/team/vpc-1-0-0.yaml'))
    const moduleConfig = { provider: 'aws', source: { type: 'git', url }, storageConfig }
    await scene.write('Module', 'vpc', { moduleConfig, versions: versions('2.0.0') })
    await writeFile(join(dir, 'broken.yaml'), 'kind: {')
    await scene.run()
    await later(scene)
    expect(await scene.stored()).toEqual(stored)
    await scene.stop()
    await rm(join(dir, 'broken.yaml'))
    await scene.run()
    await later(scene)
    expect(await scene.stored()).toMatchObject([expect.stringContaining('vpc-2.0.0')])
  })
})

describe('a process that was killed after it wrote a new version, and before it wrote its module', () => {
  const both = ['vpc-1-0-0', 'vpc-1-1-0']
  const killed = async () => {
    const { scene, dir } = await sceneInFolder()
    scene.upstream.repository(url, { 'v1.0.0': 'first' })
    const moduleConfigs = [{ name: 'vpc', provider: 'aws', source: { type: 'git', url } }]
    await scene.write('Depot', 'main', { global: { storageConfig }, moduleConfigs })
    await scene.run()
    await scene.stop()
    const files = ['modules/team/vpc.yaml', 'main.status.yaml'].map((one) => join(dir, one))
    const before = await Promise.all(files.map((one) => readFile(one, 'utf8')))
    scene.upstream.repository(url, { 'v1.0.0': 'first', 'v1.1.0': 'second' })
    scene.aheadMs += 60_000
    await scene.run({ pollAtStart: true })
    expect(scene.names('Version')).toEqual(both)
    await scene.stop()
    await Promise.all(files.map((one, index) => writeFile(one, before[index] ?? '')))
    scene.upstream.asked.length = 0
    return { scene, file: join(dir, 'depot-main.yaml') }
  }

  it('leaves a version that the next one keeps and names, without fetching it again', async () => {
    const { scene } = await killed()
    await scene.run()
    expect(scene.status('Module', 'vpc')).toMatchObject({ synced: true, latestVersion: '1.1.0' })
    expect([scene.listed(), scene.names('Version')]).toEqual([['v1.1.0', 'v1.0.0'], both])
    expect(scene.upstream.asked.filter((one) => one.startsWith('fetch'))).toEqual([])
  })

  it.each([
    ['is suspended', 'spec:\n  suspend: true'],
    ['is in a file with a mistake', ']: {'],
  ])('leaves a version that stays while its Depot %s', async (_, change) => {
    const { scene, file } = await killed()
    await writeFile(file, (await readFile(file, 'utf8')).replace('spec:', change))
    await scene.run()
    expect(scene.names('Version')).toEqual(both)
  })

  it('leaves a version that stays until upstream can be asked, and goes if nobody wants it', async () => {
    const { scene } = await killed()
    scene.upstream.faults.set(url, new FillError('FetchFailed', 'git.test is unreachable'))
    scene.aheadMs += 60_000
    await scene.run({ pollAtStart: true })
    expect([scene.listed(), scene.names('Version')]).toEqual([['v1.0.0'], both])
    scene.upstream.faults.clear()
    const source = { type: 'git', url }
    const moduleConfigs = [{ name: 'vpc', provider: 'aws', source, versionConstraints: '1.0.0' }]
    await scene.write('Depot', 'main', { global: { storageConfig }, moduleConfigs })
    await scene.run()
    await eventually(() => expect(scene.names('Version')).toEqual(['vpc-1-0-0']))
  })
})

describe('a poll that finds only versions that nobody wants', () => {
  const polledScene = async () => {
    const { scene, dir } = await sceneInFolder()
    scene.upstream.repository(url, { 'v1.0.0': 'first' })
    const source = { type: 'git', url }
    const config = { name: 'vpc', provider: 'aws', source, versionConstraints: '~> 1.0' }
    const spec = { global: { storageConfig }, moduleConfigs: [config] }
    await scene.write('Depot', 'main', spec)
    await scene.run()
    await scene.stop()
    scene.upstream.repository(url, { 'v1.0.0': 'first', 'v2.0.0': 'second' })
    const annotations = { 'depot.internal/poll-requested-at': '2026-11-27T08:00:00Z' }
    await scene.write('Depot', 'main', spec, { annotations })
    const sync = await scene.begin()
    await sync.idle()
    const status = () => readFile(join(dir, 'main.status.yaml'), 'utf8')
    expect(await status()).not.toContain('found: 2')
    return { sync, status }
  }

  it('is noted with the request that it handled when sync ends', async () => {
    const { sync, status } = await polledScene()
    await sync.stop()
    expect(await status()).toMatch(/found: 2[^]*lastHandledPoll: "?2026-11-27T08:00:00Z/)
  })

  it('is not noted by a process that has lost the folder to another one', async () => {
    const { sync, status } = await polledScene()
    const before = await status()
    await sync.stop({ isLost: true })
    expect(await status()).toBe(before)
  })
})

describe('a Depot whose file a person removes', () => {
  const opened = async (deletionPolicy: string) => {
    const { scene, dir } = await sceneInFolder()
    scene.upstream.repository(url, { 'v1.0.0': 'first' })
    const moduleConfigs = [{ name: 'vpc', provider: 'aws', source: { type: 'git', url } }]
    await scene.write('Depot', 'main', { global: { storageConfig }, moduleConfigs })
    await scene.run()
    const policy = { global: { storageConfig }, moduleConfigs, deletionPolicy }
    await scene.write('Depot', 'main', policy)
    await scene.run()
    return { scene, dir }
  }
  const depot = ({ scene }: { scene: Scene }) =>
    scene.object('Module', 'vpc').metadata.labels[`${apiGroup}/depot`]

  it('takes its modules along with deletionPolicy: Delete, once upstream can be asked', async () => {
    const { scene } = await opened('Delete')
    scene.upstream.faults.set(url, new FillError('FetchFailed', 'git.test is unreachable'))
    await scene.stop()
    await scene.remove('Depot', 'main')
    await scene.run()
    expect(scene.names('Module')).toEqual(['vpc'])
    expect(scene.names('Version')).toEqual(['vpc-1-0-0'])
    scene.upstream.faults.clear()
    await scene.run()
    await eventually(() => expect(scene.names('Version')).toEqual([]))
    await eventually(() => expect(scene.names('Module')).toEqual([]))
    expect(await scene.stored()).toHaveLength(1)
    scene.aheadMs += 25 * 60 * 60_000
    await scene.run()
    expect(await scene.stored()).toEqual([])
  })

  it('leaves its modules otherwise', async () => {
    const { scene } = await opened('Orphan')
    await scene.remove('Depot', 'main')
    await eventually(() => expect(depot({ scene })).toBeUndefined())
    expect(scene.names('Version')).toEqual(['vpc-1-0-0'])
  })

  it('still belongs to its Depot while an unreadable file may be the manifest of that Depot', async () => {
    const { scene, dir } = await opened('Delete')
    await scene.stop()
    await writeFile(join(dir, 'depot-main.yaml'), '')
    await scene.run()
    expect(depot({ scene })).toBe('main')
    expect(scene.names('Version')).toEqual(['vpc-1-0-0'])
  })
})

it('gives a free slot of a shared host to the waiting namespace, not to the one that had both', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'depot-sync-objects-'))
  const scene = await Scene.open(folderPlace(dir), 'few')
  const slow = 'https://shared.test/many.git'
  const tags = Array.from({ length: 12 }, (_, minor) => `1.${minor}.0`)
  const held = [Promise.withResolvers<void>(), Promise.withResolvers<void>()] as const
  onTestFinished(async () => {
    for (const { resolve } of held) resolve()
    await scene.close()
    await rm(dir, { recursive: true })
  })
  const { upstream } = scene
  const write = (namespace: string, source: string, all: readonly string[]) => {
    upstream.repository(source, Object.fromEntries(all.map((version) => [version, version])))
    const own = { fileSystem: { directoryPath: namespace } }
    const moduleConfig = {
      provider: 'aws',
      source: { type: 'git', url: source },
      storageConfig: own,
    }
    const spec = { moduleConfig, versions: versions(...all) }
    return scene.write('Module', namespace, spec, { namespace })
  }
  const fetched = () => upstream.asked.filter((one) => one.startsWith(`fetch ${slow}`))
  upstream.delays.set(slow, held[0].promise)
  await write('many', slow, tags)
  await scene.begin({
    archives: openArchiveStore(
      { filesystemMountPath: scene.storage },
      { text: 'many=file:///many few=file:///few' },
    ),
  })
  await eventually(() => expect(fetched()).toHaveLength(2))
  await write('few', 'https://shared.test/few.git', ['1.0.0'])
  await eventually(() => expect(scene.names('Version')).toEqual(['few-1-0-0']))
  // Work that begins from now on never ends, so the other namespace only gets a slot by turn.
  upstream.delays.set(slow, held[1].promise)
  held[0].resolve()
  await eventually(() => expect(scene.status('Module', 'few').synced).toBe(true))
  expect(fetched().length).toBeLessThanOrEqual(4)
})

it('writes a file for a new version with its README and one for its module, however long the fetch takes', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'depot-sync-objects-'))
  const file = (name: string) => join(dir, `${name}.yaml`)
  const scene = await Scene.open(
    {
      open: () => folderObjects({ dir, apiGroup, watch: true, log }),
      write: (manifest) => writeFile(file(manifest.metadata.name), stringify(manifest)),
      remove: ({ name }) => rm(file(name)),
      configMap: (namespace, name) => configMapIn(dir, namespace, name),
      writeSecret: async () => undefined,
      close: () => rm(dir, { recursive: true }),
    },
    'team',
  )
  onTestFinished(async () => {
    await scene.close()
    await rm(dir, { recursive: true })
  })
  const moduleConfigs = [{ name: 'vpc', provider: 'aws', source: { type: 'git', url } }]
  scene.upstream.repository(url, { 'v1.0.0': 'first' })
  await scene.write('Depot', 'main', { global: { storageConfig }, moduleConfigs })
  await scene.run({ pollAtStart: true })

  const { promise: fetched, resolve: fetch } = Promise.withResolvers<void>()
  scene.upstream.repository(url, { 'v1.0.0': 'first', 'v1.1.0': 'second' })
  scene.upstream.delays.set(url, fetched)
  const written: string[] = []
  for (const folder of ['', 'modules/team', 'versions/team']) {
    const watcher = watch(join(dir, folder), (event, name) => {
      // A file is put in place under its name as a whole.
      if (event === 'rename' && name?.endsWith('.yaml') === true) written.push(join(folder, name))
    })
    onTestFinished(() => watcher.close())
  }
  scene.aheadMs += 60_000
  const sync = await scene.begin({ pollAtStart: true, timings: { progressMs: 10 } })
  await eventually(() => expect(scene.status('Version', 'vpc-1-1-0').syncStatus).toBe('Fetching'))
  fetch()
  await sync.idle()
  expect(scene.status('Module', 'vpc')).toMatchObject({ synced: true, latestVersion: '1.1.0' })
  await eventually(() =>
    expect(written.toSorted()).toEqual(['modules/team/vpc.yaml', 'versions/team/vpc-1-1-0.yaml']),
  )
  const counts = async () => readFile(file('main.status'), 'utf8')
  expect(await counts()).toContain('found: 1')
  await scene.stop()
  expect(await counts()).toContain('found: 2')
})
