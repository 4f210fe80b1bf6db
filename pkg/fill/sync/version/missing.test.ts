import { readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { ApiError } from '../../../records/kube/kube.ts'
import type { FolderObjects } from '../../../records/store/store.ts'
import { FillError } from '../../sources/sources.ts'
import { eventually, storageConfig, url, versions } from '../scenario-parts.fixture.ts'
import { Scene } from '../scene.fixture.ts'
import { folderPlace } from '../upstreams.fixture.ts'

const moduleConfig = { provider: 'aws', source: { type: 'git', url }, storageConfig }
const name = 'vpc-1-0-0'

const tags = Object.fromEntries(
  [1, 2, 3, 4, 5, 6].map((major) => [`v${major}.0.0`, `text ${major}`]),
)

async function openedScene() {
  const dir = await mkdtemp(join(tmpdir(), 'depot-sync-objects-'))
  const scene = await Scene.open(folderPlace(dir), 'team')
  onTestFinished(async () => {
    await scene.close()
    await rm(dir, { recursive: true })
  })
  scene.upstream.repository(url, tags)
  return { scene, dir }
}

/** A folder with two stored Versions. */
async function storedScene() {
  const { scene, dir } = await openedScene()
  await scene.write('Module', 'vpc', { moduleConfig, versions: versions('1.0.0', '2.0.0') })
  await scene.run()
  return { scene, file: join(dir, `versions/team/${name}.yaml`) }
}

const digestOf = (scene: Scene) => scene.status('Version', name).artifact?.contentDigest
const breakUpstream = (scene: Scene) =>
  scene.upstream.faults.set(url, new FillError('FetchFailed', 'git.test is unreachable'))

const emptied = {
  'no text': () => '',
  'only a comment': () => '# Looked at by Jo.\n',
  'only zeros, as after a power cut': (text: string) => '\0'.repeat(text.length),
}
const unfinished = {
  'half of its text': (text: string) => text.slice(0, text.indexOf('spec:') + 8),
  'a mistake': (text: string) => text.replace('\nspec:', '\n  ]: {\nspec:'),
}

it.each(Object.entries(emptied))(
  'gives a Version whose file has %s its archive again without upstream',
  async (how, change) => {
    const { scene, file } = await storedScene()
    const [digest, stored] = [digestOf(scene), await scene.stored()]
    await scene.stop()
    writeFileSync(file, change(readFileSync(file, 'utf8')))
    breakUpstream(scene)
    await scene.run()
    await eventually(() => expect(scene.status('Module', 'vpc').synced).toBe(true))
    expect(digestOf(scene)).toBe(digest)
    expect(readFileSync(file, 'utf8')).toContain(digest)
    expect(readFileSync(file, 'utf8').startsWith('# Looked at')).toBe(how === 'only a comment')
    expect(await scene.stored()).toEqual(stored)
  },
)

it.each(Object.entries({ ...emptied, ...unfinished }))(
  'knows the archive of a Version whose file had %s for two processes, and then was missing',
  async (_, change) => {
    const { scene, file } = await storedScene()
    const [digest, stored] = [digestOf(scene), await scene.stored()]
    writeFileSync(file, change(readFileSync(file, 'utf8')))
    breakUpstream(scene)
    await scene.run()
    await scene.run()
    renameSync(file, `${file}.aside`)
    await eventually(() => expect(scene.status('Module', 'vpc').synced).toBe(true))
    expect(digestOf(scene)).toBe(digest)
    await scene.run()
    expect(digestOf(scene)).toBe(digest)
    expect(await scene.stored()).toEqual(stored)
  },
)

describe.each(['status:', 'sha256:', 'contentDigest:', 'sourceKey:'])(
  'a Version whose file was cut before its last lines, at %s',
  (field) => {
    it.each(['one process', 'two processes'])('gets the archive again, in %s', async (when) => {
      const { scene, file } = await storedScene()
      const { artifact } = scene.status('Version', name)
      if (when === 'two processes') await scene.stop()
      const text = readFileSync(file, 'utf8')
      // The end of the line may be missing, too.
      writeFileSync(file, text.slice(0, text.indexOf(field) + (field === 'sha256:' ? 12 : 0)))
      scene.upstream.repository(url, { 'v1.0.0': 'moved', 'v2.0.0': 'text 2' })
      if (when === 'two processes') await scene.run()
      const { verifiedAt: _, rehashedAt: __, docs: ___, ...stored } = artifact ?? {}
      await eventually(() => expect(scene.status('Version', name).artifact).toMatchObject(stored))
      await eventually(() => expect(scene.status('Module', 'vpc').synced).toBe(true))
      expect(scene.status('Version', name).artifact).toMatchObject(stored)
    })
  },
)

const immutable = { ...moduleConfig, immutable: true }

/** A folder with a Version that refuses the content of upstream. */
async function refusingScene(...others: readonly string[]) {
  const { scene, file } = await storedScene()
  const all = versions('1.0.0', ...others)
  await scene.write('Module', 'vpc', { moduleConfig: immutable, versions: all })
  await scene.run({ confirmRemovals: true })
  const digest = digestOf(scene)
  scene.upstream.repository(url, { ...tags, 'v1.0.0': 'changed' })
  const annotations = { 'depot.internal/sync-requested-at': 'now' }
  await scene.objects.patch(
    { kind: 'Module', namespace: 'team', name: 'vpc' },
    { metadata: { annotations } },
  )
  await eventually(() =>
    expect(scene.condition('Version', name, 'Ready')).toMatchObject({ reason: 'UpstreamChanged' }),
  )
  return { scene, file, digest }
}

it('gives the content of upstream to a refusing Version whose file a person removes', async () => {
  const { scene, file, digest } = await refusingScene()
  await scene.run()
  expect(digestOf(scene)).toBe(digest)
  await scene.stop()
  await rm(file)
  await scene.run()
  await eventually(() => expect(scene.status('Module', 'vpc').synced).toBe(true))
  expect(digestOf(scene)).not.toBe(digest)
})

it('gives a refusing Version the archive again if its parent deleted it right before a kill', async () => {
  const { scene, digest } = await refusingScene('2.0.0')
  scene.through = (objects) => {
    let isKilled = false
    const alive = () => {
      if (isKilled) throw new ApiError('Unavailable', 'the process was killed')
    }
    return {
      ...objects,
      delete: async (ref, given) => {
        // Nothing else is written after the deletion.
        isKilled = true
        await objects.delete(ref, given)
      },
      apply: async (object) => (alive(), objects.apply(object)),
      patch: async (...given) => (alive(), objects.patch(...given)),
      writeStatus: async (...given) => (alive(), objects.writeStatus(...given)),
      notes: {
        ...objects.notes,
        put: async (key, text) => (alive(), objects.notes.put(key, text)),
      },
    }
  }
  await scene.write('Module', 'vpc', { moduleConfig: immutable, versions: versions('2.0.0') })
  await scene.run()
  expect(scene.object('Version', name).metadata.deletionTimestamp).toBeDefined()
  scene.through = undefined
  await scene.run()
  await eventually(() => expect(scene.names('Version')).toEqual(['vpc-2-0-0']))
  const both = versions('1.0.0', '2.0.0')
  await scene.write('Module', 'vpc', { moduleConfig: immutable, versions: both })
  await eventually(() => expect(digestOf(scene)).toMatch(/^tree1:/))
  expect(digestOf(scene)).toBe(digest)
})

it('says to correct or remove a file with a mistake, to which a new Version cannot be written', async () => {
  const { scene, file } = await storedScene()
  await scene.stop()
  await rm(join(file, '../../../.depot-removals'), { recursive: true })
  writeFileSync(file, 'kind: {')
  await scene.run()
  const version = scene.object('Version', name)
  const written = scene.objects.writeStatus(version, { synced: true })
  await expect(written).rejects.toThrow(
    `versions/team/${name}.yaml cannot be read: correct it, or remove it to have it written again`,
  )
  expect(readFileSync(file, 'utf8')).toBe('kind: {')
})

const brokenFiles = (file: string) =>
  readdirSync(join(file, '..'))
    .filter((one) => one.startsWith('.') && one.includes('.broken'))
    .map((one) => readFileSync(join(file, '..', one), 'utf8'))

describe('a Version that sync made', () => {
  const damaged = {
    ...unfinished,
    'the beginning of its first line': () => 'apiVersion: depot.int',
    'the beginning of its name': (text: string) => text.slice(0, text.indexOf('vpc-1') + 5),
    'its text up to its spec': (text: string) => text.slice(0, text.indexOf('spec:')),
    'bytes that are not text': (text: string) => Buffer.from(text.slice(0, 90)).fill(0xff, 20, 30),
  }

  it.each(Object.entries(damaged))(
    'is written again without upstream after its file had %s',
    async (_, change) => {
      const { scene, file } = await storedScene()
      const [digest, stored] = [digestOf(scene), await scene.stored()]
      await scene.stop()
      const broken = change(readFileSync(file, 'utf8'))
      writeFileSync(file, broken)
      // Upstream has only the other one by now.
      scene.upstream.repository(url, { 'v2.0.0': 'text 2' })
      breakUpstream(scene)
      await scene.run()
      await eventually(() => expect(scene.status('Module', 'vpc').synced).toBe(true))
      expect(digestOf(scene)).toBe(digest)
      expect(readFileSync(file, 'utf8')).toContain(digest)
      expect(brokenFiles(file)).toEqual([broken.toString()])
      await eventually(() => expect(scene.objects.unreadable()).toBeUndefined())
      expect(await scene.stored()).toEqual(stored)
    },
  )

  it.each(Object.entries(damaged))(
    'is written again while sync watches and its file has %s',
    async (_, change) => {
      const { scene, file } = await storedScene()
      breakUpstream(scene)
      const whole = readFileSync(file, 'utf8')
      writeFileSync(file, change(whole))
      await eventually(() => expect(readFileSync(file, 'utf8')).toBe(whole))
      expect(brokenFiles(file)).toEqual([change(whole).toString()])
      expect(scene.status('Module', 'vpc').synced).toBe(true)
    },
  )

  it('is written again after its cut file was missing for a moment', async () => {
    const { scene, file } = await storedScene()
    breakUpstream(scene)
    const [digest, whole] = [digestOf(scene), readFileSync(file, 'utf8')]
    writeFileSync(file, whole.slice(0, 200))
    await eventually(() => expect(scene.objects.unreadable()).toBeDefined())
    renameSync(file, `${file}.aside`)
    await eventually(() => expect(scene.objects.unreadable()).toBeUndefined())
    renameSync(`${file}.aside`, file)
    await eventually(() => expect(readFileSync(file, 'utf8')).toContain(digest))
    expect(brokenFiles(file)).toEqual([whole.slice(0, 200)])
    await eventually(() => expect(scene.status('Module', 'vpc').synced).toBe(true))
  })

  it('keeps each of several broken files', async () => {
    const { scene, file } = await storedScene()
    const whole = readFileSync(file, 'utf8')
    for (const broken of ['kind: {', 'kind: [', 'kind: {']) {
      writeFileSync(file, broken)
      await eventually(() => expect(readFileSync(file, 'utf8')).toBe(whole))
    }
    expect(brokenFiles(file)).toEqual(['kind: {', 'kind: ['])
    await eventually(() => expect(scene.objects.unreadable()).toBeUndefined())
  })

  it('stays as a person left it if its spec has a mistake', async () => {
    const { scene, file } = await storedScene()
    const mistaken = readFileSync(file, 'utf8').replace('type: Module', 'type: Modul')
    writeFileSync(file, mistaken)
    await scene.run()
    await eventually(() => expect(scene.objects.unreadable()).toBeDefined())
    await (scene.objects as FolderObjects).settled()
    await scene.run()
    expect(readFileSync(file, 'utf8')).toBe(mistaken)
    expect(brokenFiles(file)).toEqual([])
  })
})

it.each(['one process', 'the next process'])(
  'does not touch the cut file of a Version that a person wrote, in %s',
  async (when) => {
    const { scene, dir } = await openedScene()
    await scene.write('Module', 'vpc', { moduleConfig, versions: versions('1.0.0') })
    await scene.write('Version', 'own', {
      type: 'Module',
      version: '2.0.0',
      moduleConfigRef: { name: 'vpc', ...moduleConfig },
    })
    await scene.run()
    await eventually(() => expect(scene.status('Version', 'own').synced).toBe(true))
    if (when === 'the next process') await scene.stop()
    const file = join(dir, 'version-own.yaml')
    const broken = readFileSync(file, 'utf8').slice(0, 90)
    writeFileSync(file, broken)
    if (when === 'the next process') await scene.run()
    await eventually(() => expect(scene.objects.unreadable()).toBe('version-own.yaml'))
    await (scene.objects as FolderObjects).settled()
    await scene.run()
    expect(readFileSync(file, 'utf8')).toBe(broken)
    expect(brokenFiles(file)).toEqual([])
  },
)

describe('a Depot whose Module and Provider have unreadable files', () => {
  const unreadable = {
    'no text': () => '',
    'a mistake': () => 'kind: {',
    'half of its text': (text: string) => text.slice(0, text.length / 2),
  }
  it.each(Object.entries(unreadable))('has them again after they had %s', async (_, change) => {
    const { scene, dir } = await openedScene()
    const moduleConfigs = [{ name: 'vpc', provider: 'aws', source: { type: 'git', url } }]
    const providerConfigs = [{ name: 'dns', namespace: 'acme' }]
    const signed = { platforms: ['linux/amd64'], signer: 'A'.repeat(40) }
    scene.upstream.provider('acme/dns', { '1.0.0': signed })
    await scene.write('Depot', 'main', {
      global: { storageConfig },
      moduleConfigs,
      providerConfigs,
    })
    await scene.run()
    expect(scene.names('Version')).toHaveLength(7)
    const { signingKey } = scene.status('Provider', 'dns') as { signingKey?: string }
    expect(signingKey).toBeDefined()
    await scene.stop()
    for (const file of ['modules/team/vpc', 'providers/team/dns', `versions/team/${name}`]) {
      const path = join(dir, `${file}.yaml`)
      writeFileSync(path, change(readFileSync(path, 'utf8')))
    }
    const { 'v1.0.0': _first, 'v2.0.0': _second, ...rest } = tags
    scene.upstream.repository(url, rest)
    scene.aheadMs += 25 * 60 * 60_000
    await scene.run({ pollAtStart: true })
    expect(scene.names('Version')).toHaveLength(7)
    expect(scene.objects.unreadable()).toBeUndefined()
    expect(scene.object('Module', 'vpc').metadata.labels['depot.internal/depot']).toBe('main')
    expect(scene.status('Provider', 'dns')).toMatchObject({ signingKey })
    await eventually(() => expect(digestOf(scene)).toMatch(/^tree1:/))
    await scene.idle()
    expect(scene.condition('Depot', 'main', 'Ready')).toMatchObject({ status: 'True' })
  })

  it('has them again while sync watches', async () => {
    const { scene, dir } = await openedScene()
    const moduleConfigs = [{ name: 'vpc', provider: 'aws', source: { type: 'git', url } }]
    await scene.write('Depot', 'main', { global: { storageConfig }, moduleConfigs })
    await scene.run()
    const path = join(dir, 'modules/team/vpc.yaml')
    const whole = readFileSync(path, 'utf8')
    writeFileSync(path, whole.slice(0, whole.length / 3))
    await eventually(() => expect(readFileSync(path, 'utf8')).toBe(whole))
    expect(brokenFiles(path)).toEqual([whole.slice(0, whole.length / 3)])
    writeFileSync(path, 'kind: {')
    await eventually(() => expect(scene.objects.unreadable()).toBeDefined())
    renameSync(path, `${path}.aside`)
    await eventually(() => expect(scene.objects.unreadable()).toBeUndefined())
    renameSync(`${path}.aside`, path)
    await eventually(() => expect(readFileSync(path, 'utf8')).toContain('moduleConfig:'))
    await eventually(() => expect(scene.status('Module', 'vpc').synced).toBe(true))
    expect(scene.names('Version')).toHaveLength(6)
  })
})
