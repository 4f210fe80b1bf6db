import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { conditionOf, type ScanPolicy, sourceFileOf } from '../../api/v1alpha1/v1alpha1.ts'
import { type ArchiveStore, openArchiveStore } from '../../archives/storage/storage.ts'
import { RegistryError } from '../../base/errors/errors.ts'
import type { Objects } from '../../records/store/store.ts'
import { ScanScene } from './scan.fixture.ts'
import { execScanner } from './scan.ts'

let scene: ScanScene
beforeEach(async () => {
  scene = await ScanScene.open()
})
afterEach(() => scene.close())

const platforms = ['linux', 'darwin', 'windows']
const repository = 'https://git.test/terraform-provider-random'
const goMod = 'module example.test/random\n'

/** Stores a provider for each platform, with the go.mod of its source. */
async function store(source: object = {}, scanPolicy?: ScanPolicy): Promise<string | undefined> {
  const digests = new Set<string>()
  for (const os of platforms) {
    const more = { source, ...(scanPolicy && { scanPolicy }) }
    digests.add(await scene.storeSource(os, goMod, more))
  }
  const [digest, ...others] = digests
  expect(others).toEqual([])
  return digest
}

/** Writes a line for each run, and finds what it was given. */
const counting = (more = '') => {
  const runs = JSON.stringify(join(scene.folder, 'runs'))
  return scene.scanner(
    `fs.appendFileSync(${runs}, target + '\\n')
     ${more}
     print([{ vulnerabilityID: 'CVE-1', pkgName: target, severity: target === 'source' ? 'HIGH' : 'LOW',
       title: target === 'source' ? fs.readFileSync(folder + '/go.mod', 'utf8') : '' }])`,
  )
}
const runs = async (target: string) =>
  ((await scene.text('runs')) ?? '').split('\n').filter((line) => line === target).length
const said = async (os: string) => {
  const { status, reason, message } = conditionOf(await scene.status(os), 'SourceScanned') ?? {}
  return { status, reason, message }
}

const sourcePath = async (name: string) =>
  join(
    scene.folder,
    'archives/stored',
    name,
    sourceFileOf((await scene.status(name)).artifact) ?? '',
  )

/** A storage that cannot be reached while somebody reads the source of a provider. */
function withoutSources(): ArchiveStore {
  const archives = openArchiveStore({ filesystemMountPath: join(scene.folder, 'archives') })
  const { driver } = archives.for({ fileSystem: { directoryPath: 'stored' } }, 'random')
  const open = driver.open.bind(driver)
  vi.spyOn(driver, 'open').mockImplementation(async (object, ...more) => {
    if (object.endsWith('.source.zip')) throw new RegistryError('Unavailable', 'no answer')
    return open(object, ...more)
  })
  return archives
}

it('scans go.mod and go.sum of a provider once, and writes the findings of all platforms', async () => {
  await counting()
  const sha256 = await store()
  expect((await scene.run()).done).toBe(platforms.length + 1)
  expect([await runs('source'), await runs('binary')]).toEqual([1, platforms.length])
  const all = await Promise.all(platforms.map((os) => scene.status(os)))
  for (const { sourceScan, binaryScan, dependencyScan, scan } of all) {
    expect(sourceScan).toEqual(all[0]?.sourceScan)
    expect(sourceScan?.findings).toMatchObject([{ pkgName: 'source', title: goMod.trim() }])
    expect(binaryScan?.findings).toMatchObject([{ pkgName: 'binary' }])
    expect(dependencyScan).toMatchObject({ sha256, counts: { high: 1, low: 0 } })
    expect(scan?.counts).toMatchObject({ high: 0, low: 1 })
  }
  expect(await said('linux')).toMatchObject({
    status: 'True',
    reason: 'Scanned',
    message: expect.stringMatching(/^1 high, by scanner of /),
  })
  expect((await scene.run()).done).toBe(0)
  scene.aheadMs = 30 * 3_600_000
  expect((await scene.run({ slots: 4 })).done).toBe(platforms.length + 1)
  expect(await runs('source')).toBe(2)
})

it('says why the source of a provider has no scan, which is not a clean one', async () => {
  await counting()
  const problem = `${repository} has no go.mod at v1.0.0`
  await store({ problem })
  await scene.run()
  expect(await said('linux')).toEqual({
    status: 'Unknown',
    reason: 'SourceUnknown',
    message: problem,
  })
  expect((await scene.status('linux')).sourceScan).toBeUndefined()
  const writtenAt = await scene.writtenAt('linux')
  await scene.run()
  expect(await scene.writtenAt('linux')).toBe(writtenAt)
})

it('scans files under the name that an earlier release gave them', async () => {
  await counting()
  await scene.storeSource('linux', goMod, { isOld: true })
  expect((await scene.run()).failures()).toEqual([])
  expect((await scene.status('linux')).dependencyScan?.counts).toMatchObject({ high: 1 })
})

it.each([true, false])(
  'drops its findings when the source is no longer known, but not those of another program (providers are scanned: %s)',
  async (scansProviders) => {
    await counting()
    await store()
    await scene.run()
    const { artifact, ...status } = await scene.status('linux')
    const { source: _, ...unsourced } = artifact ?? {}
    await scene.writeStatus('linux', { ...status, artifact: unsourced })
    const { dependencyScan: __, ...foreign } = await scene.status('darwin')
    await scene.writeStatus('darwin', { ...foreign, artifact: unsourced })
    await scene.run({ scansProviders })
    const after = await scene.status('linux')
    expect([after.sourceScan, after.dependencyScan]).toEqual([undefined, undefined])
    expect(after.binaryScan?.findings).toHaveLength(1)
    expect(await said('linux')).toEqual({})
    expect((await scene.status('darwin')).sourceScan?.findings).toHaveLength(1)
  },
)

it('keeps findings of a source that was stored and scanned while its absence was written', async () => {
  await counting()
  await store()
  await scene.run()
  const scanned = await scene.status('linux')
  const { artifact, ...status } = scanned
  const { source: _, ...unsourced } = artifact ?? {}
  await scene.writeStatus('linux', { ...status, artifact: unsourced })
  let conflicts = 0
  const through = (objects: Objects): Objects => ({
    ...objects,
    async writeStatus(object, next, options) {
      if (object.metadata.name === 'linux' && conflicts === 0) {
        conflicts += 1
        await objects.writeStatus(object, { ...scanned, syncStatus: 'by another scanner' })
      }
      return objects.writeStatus(object, next, options)
    },
  })
  const scans = await scene.begin({ through })
  await scans.idle()
  expect(conflicts).toBe(1)
  const { sourceScan, dependencyScan } = await scene.status('linux')
  const known = { sourceScan: scanned.sourceScan, dependencyScan: scanned.dependencyScan }
  expect({ sourceScan, dependencyScan }).toEqual(known)
  expect(await said('linux')).toMatchObject({ reason: 'Scanned' })
})

it('quarantines a version by findings in its source', async () => {
  await counting()
  await store(undefined, { block: 'HIGH' })
  await scene.run()
  expect((await scene.status('linux')).quarantinedBy?.[0]?.message).toContain('CVE-1')
  const ignore = [{ id: 'CVE-1', reason: 'not called', until: '2999-01-01' }]
  await scene.stop()
  await store(undefined, { block: 'HIGH', ignore })
  await scene.run()
  expect((await scene.status('linux')).quarantinedBy).toBeUndefined()
})

it('releases a version when the source whose findings held it is no longer known', async () => {
  await counting()
  await scene.storeSource('linux', goMod, { scanPolicy: { block: 'HIGH' } })
  await scene.run()
  const { artifact, ...status } = await scene.status('linux')
  expect(status.quarantinedBy).toHaveLength(1)
  const { source: _, ...unsourced } = artifact ?? {}
  await scene.writeStatus('linux', { ...status, artifact: unsourced })
  await scene.run()
  expect((await scene.status('linux')).quarantinedBy).toBeUndefined()
})

it('quarantines a version by findings in its source although its archive has no scan', async () => {
  await counting(`if (target === 'binary') process.exit(1)`)
  await store(undefined, { block: 'HIGH', onMissing: 'Serve' })
  await scene.run()
  const { scan, quarantinedBy } = await scene.status('linux')
  expect(scan).toBeUndefined()
  expect(quarantinedBy?.[0]?.message).toMatch(/^scans found CRITICAL or HIGH: CVE-1; /)
  await scene.stop()
  await store(undefined, { block: 'CRITICAL', onMissing: 'Serve' })
  await scene.run()
  expect((await scene.status('linux')).quarantinedBy).toBeUndefined()
})

it('decides by the scan of its archive while the storage does not give its source', async () => {
  await scene.scanner(
    `print(fs.readdirSync(folder)[0].endsWith('bad') ? [{ vulnerabilityID: 'CVE-1', severity: 'CRITICAL' }] : [])`,
  )
  await scene.storeSource('bad', goMod, { scanPolicy: { block: 'CRITICAL', onMissing: 'Serve' } })
  await scene.storeSource('good', goMod, { scanPolicy: { block: 'CRITICAL' } })
  const since = '2026-11-01T00:00:00Z'
  const held = [{ by: 'ScanPolicy' as const, message: 'it was not scanned yet', since }]
  await scene.writeStatus('good', { ...(await scene.status('good')), quarantinedBy: held })
  const { failures } = await scene.run({ archives: withoutSources() })
  const message = 'no answer'
  expect(failures()).toEqual(
    ['bad', 'good'].map((name) => ({ key: `team/${name} (source)`, message })),
  )
  expect((await scene.status('bad')).quarantinedBy?.[0]?.message).toContain('CVE-1')
  expect((await scene.status('good')).quarantinedBy).toBeUndefined()
})

it('scans the other platforms while the file of one is lost, and names it there only', async () => {
  await counting()
  await store()
  await rm(await sourcePath('linux'))
  const message = expect.stringMatching(/^storage has no archive terraform-provider-linux_/)
  for (const database of ['first', 'second', 'third']) {
    const command = execScanner(join(scene.folder, 'scanner'))
    const identity = async () => ({ scanner: 'scanner 1', databases: { dependencies: database } })
    const { failures } = await scene.run({ scanner: { ...command, identity }, slots: 4 })
    expect(failures()).toEqual([{ key: 'team/linux (source)', message }])
    for (const os of ['darwin', 'windows']) {
      expect((await scene.status(os)).dependencyScan?.database).toBe(database)
    }
    scene.aheadMs += 30 * 3_600_000
  }
  expect(await said('linux')).toMatchObject({ reason: 'ScanFailed', message })
})

it('refuses files that differ from what was fetched, and fails once for all platforms', async () => {
  await counting()
  await store()
  for (const os of platforms) {
    await writeFile(await sourcePath(os), 'altered')
  }
  const { failures } = await scene.run()
  expect(failures().map(({ key }) => key)).toEqual(
    platforms.toSorted().map((os) => `team/${os} (source)`),
  )
  expect(await said('linux')).toMatchObject({
    reason: 'ScanFailed',
    message: expect.stringMatching(/^storage has no archive .*source\.zip with the digest/),
  })
  const { sourceScan, binaryScan } = await scene.status('linux')
  expect([sourceScan, binaryScan?.findings.length]).toEqual([undefined, 1])
  expect(await runs('source')).toBe(0)
  await store()
  await counting(`if (target === 'source') process.exit(1)`)
  await scene.run()
  expect(await runs('source')).toBe(1)
})
