import { createHash } from 'node:crypto'
import { appendFile, mkdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it, vi } from 'vitest'
import type { ArchiveLocation, Version } from '../../api/v1alpha1/v1alpha1.ts'
import { RegistryError } from '../../base/errors/errors.ts'
import { moduleText, startSource, versionText } from './source.fixture.ts'

/** Looks at archives are up to 30 s apart if they take long, as on a busy machine. */
const wait = { timeout: 120_000, interval: 20 }
const files = { 'a.yaml': `${moduleText('vpc')}---\n${versionText('vpc', '1.0.0')}` }
const archive = '../archives/modules/vpc/vpc-1.0.0.zip'
const digestOf = (text: string) => createHash('sha256').update(text).digest('base64')

type Source = Awaited<ReturnType<typeof startSource>>
const statusOf = (source: Source, name = 'vpc-1.0.0') =>
  (source.sink.objects.get(`Version ${name}`) as Version).status

it('has hashed every archive when the start ends', async () => {
  await using source = await startSource({ ...files, [archive]: 'first' })
  expect(statusOf(source)).toEqual({
    checksum: digestOf('first'),
    archiveSizeBytes: 5,
    synced: true,
    syncStatus: 'archive hashed where it is stored',
  })
})

it('follows an archive as it changes, disappears and returns', async () => {
  await using source = await startSource({ ...files, [archive]: 'first' })
  await source.write(archive, 'second')
  await vi.waitFor(() => expect(statusOf(source)?.checksum).toBe(digestOf('second')), wait)
  await rename(join(source.archives, 'modules'), join(source.archives, 'elsewhere'))
  const syncStatus = 'failed: archive modules/vpc/vpc-1.0.0.zip not found under --archives'
  await vi.waitFor(() => expect(statusOf(source)).toEqual({ synced: false, syncStatus }), wait)
  await rename(join(source.archives, 'elsewhere'), join(source.archives, 'modules'))
  await vi.waitFor(
    () => expect(statusOf(source)).toMatchObject({ checksum: digestOf('second'), synced: true }),
    wait,
  )
})

it('hashes an archive that is being written once it is complete', async () => {
  await using source = await startSource(files)
  const path = join(source.dir, archive)
  await mkdir(join(path, '..'), { recursive: true })
  for (let i = 0; i < 200; i++) {
    await appendFile(path, 'part ')
  }
  const checksum = digestOf('part '.repeat(200))
  await vi.waitFor(() => expect(statusOf(source)?.checksum).toBe(checksum), wait)
})

it('leaves a Version with a checksum, and one on another backend, unchanged', async () => {
  const bucket = '    storageConfig: {gcs: {bucket: b}}\n'
  await using source = await startSource({
    'a.yaml': `${moduleText('vpc')}---\n${versionText('vpc', '1.0.0', 'status: {checksum: mine}\n')}`,
    'b.yaml': versionText('vpc', '2.0.0', bucket),
  })
  expect(statusOf(source)).toEqual({ checksum: 'mine' })
  expect(statusOf(source, 'vpc-2.0.0')).toBeUndefined()
  await source.write('a.yaml', files['a.yaml'])
  await vi.waitFor(() => expect(statusOf(source)?.syncStatus).toContain('failed: archive'), wait)
})

describe('finds the archive', () => {
  const owner =
    '  ownerReferences: [{apiVersion: depot.internal/v1alpha1, kind: Module, name: parent}]\nspec:'
  it.each([
    { name: 'by the name of the parent', parent: moduleText('vpc'), version: '' },
    {
      name: 'by the name in the config of the parent',
      parent: moduleText('parent').replace('provider:', 'name: vpc\n    provider:'),
      version: '',
    },
    { name: 'by the owner', parent: moduleText('parent'), version: owner },
  ])('$name', async ({ parent, version }) => {
    const text = versionText('vpc', '1.0.0').replace('spec:', version || 'spec:')
    await using source = await startSource({ 'v.yaml': text, [archive]: 'zip' })
    expect(statusOf(source)).toBeUndefined()
    await source.write('p.yaml', parent)
    await vi.waitFor(() => expect(statusOf(source)?.checksum).toBe(digestOf('zip')), wait)
    await rm(join(source.dir, 'p.yaml'))
    await vi.waitFor(() => expect(statusOf(source)).toBeUndefined(), wait)
  })
})

it.each([
  {
    name: 'the message that is meant for people',
    error: new RegistryError('Forbidden', 'archive vpc is outside --archives'),
    syncStatus: 'failed: archive vpc is outside --archives',
  },
  {
    name: 'no path of the host',
    error: Object.assign(new Error('EACCES: open /secret'), { code: 'EACCES' }),
    syncStatus: 'failed: archive modules/vpc/vpc-1.0.0.zip cannot be read (EACCES)',
  },
])('shows $name in syncStatus', async ({ error, syncStatus }) => {
  const stat = async () => Promise.reject(error)
  await using source = await startSource(files, { probe: { stat, digest: stat } })
  expect(statusOf(source)).toEqual({ synced: false, syncStatus })
})

it('starts without the archives that take too long', async () => {
  const whole = Promise.withResolvers<void>()
  const seen: ArchiveLocation[] = []
  const probe = {
    stat: async () => ({ sizeBytes: 1, fingerprint: 'a' }),
    async digest(location: ArchiveLocation) {
      seen.push(location)
      await whole.promise
      return { sizeBytes: 1, fingerprint: 'a', sha256: 'ab'.repeat(32) }
    },
  }
  await using source = await startSource(files, { probe, firstDigestsMs: 50 })
  expect(statusOf(source)).toBeUndefined()
  whole.resolve()
  await vi.waitFor(() => expect(statusOf(source)?.synced).toBe(true), wait)
  expect(seen).toHaveLength(1)
})

it('logs once that an archive stays missing', async () => {
  await using source = await startSource(files)
  await source.write('b.yaml', versionText('vpc', '2.0.0'))
  await vi.waitFor(() => expect(statusOf(source, 'vpc-2.0.0')?.synced).toBe(false), wait)
  expect(source.logged('archive unavailable')).toHaveLength(2)
})
