import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
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
  'a mistake': (text: string) => `${text}\n  ]: {`,
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

it('gives a Version whose file lost its status the archive again, and no other one', async () => {
  const { scene, file } = await storedScene()
  const digest = digestOf(scene)
  await scene.stop()
  const text = readFileSync(file, 'utf8')
  writeFileSync(file, text.slice(0, text.indexOf('status:')))
  scene.upstream.repository(url, { 'v1.0.0': 'moved', 'v2.0.0': 'second' })
  await scene.run()
  await eventually(() => expect(scene.status('Module', 'vpc').synced).toBe(true))
  expect(digestOf(scene)).toBe(digest)
})

it('gives the content of upstream to a refusing Version whose file a person removes', async () => {
  const { scene, file } = await storedScene()
  const config = { ...moduleConfig, immutable: true }
  await scene.write('Module', 'vpc', { moduleConfig: config, versions: versions('1.0.0') })
  await scene.run({ confirmRemovals: true })
  const digest = digestOf(scene)
  scene.upstream.repository(url, { 'v1.0.0': 'changed' })
  const annotations = { 'depot.internal/sync-requested-at': 'now' }
  await scene.objects.patch(
    { kind: 'Module', namespace: 'team', name: 'vpc' },
    { metadata: { annotations } },
  )
  await eventually(() =>
    expect(scene.condition('Version', name, 'Ready')).toMatchObject({ reason: 'UpstreamChanged' }),
  )
  await scene.run()
  expect(digestOf(scene)).toBe(digest)
  await scene.stop()
  await rm(file)
  await scene.run()
  await eventually(() => expect(scene.status('Module', 'vpc').synced).toBe(true))
  expect(digestOf(scene)).not.toBe(digest)
})

it('says to correct or remove a file with a mistake, to which a new Version cannot be written', async () => {
  const { scene, file } = await storedScene()
  await scene.stop()
  writeFileSync(file, 'kind: {')
  await scene.run()
  const version = scene.object('Version', name)
  const written = scene.objects.writeStatus(version, { synced: true })
  await expect(written).rejects.toThrow(
    `versions/team/${name}.yaml cannot be read: correct it, or remove it to have it written again`,
  )
  expect(readFileSync(file, 'utf8')).toBe('kind: {')
})

describe('a Depot whose Module has an unreadable file', () => {
  it.each(['', 'kind: {'])('names its stored Versions again with "%s" in it', async (text) => {
    const { scene, dir } = await openedScene()
    const moduleConfigs = [{ name: 'vpc', provider: 'aws', source: { type: 'git', url } }]
    await scene.write('Depot', 'main', { global: { storageConfig }, moduleConfigs })
    await scene.run()
    expect(scene.names('Version')).toHaveLength(6)
    await scene.stop()
    const files = [join(dir, 'modules/team/vpc.yaml'), join(dir, `versions/team/${name}.yaml`)]
    for (const file of files) writeFileSync(file, text)
    const { 'v1.0.0': _, 'v2.0.0': __, ...rest } = tags
    scene.upstream.repository(url, rest)
    scene.aheadMs += 25 * 60 * 60_000
    await scene.run({ pollAtStart: true })
    expect(scene.names('Version')).toHaveLength(6)
    // A file with a mistake is reported, and stays until a person removes it.
    for (const file of files) if (readFileSync(file, 'utf8') === text) await rm(file)
    await eventually(() => expect(digestOf(scene)).toMatch(/^tree1:/))
  })
})
