import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  statSync,
} from 'node:fs'
import { readdir, symlink, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { WritableDriver } from '../driver.ts'
import { localFiles, writingConformance } from '../writing.fixture.ts'
import { createFilesystemDriver } from './filesystem.ts'
import { openFiles } from './open-files.fixture.ts'
import { outcomesWhileSwapped } from './swapped-directory.fixture.ts'

writingConformance('the filesystem', async () => {
  const mountPath = realpathSync(mkdtempSync(join(tmpdir(), 'depot-storage-')))
  return {
    driver: createFilesystemDriver({ mountPath }),
    held: () => openFiles(mountPath),
    close: async () => rmSync(mountPath, { recursive: true }),
  }
})

let base: string
let mountPath: string
let driver: WritableDriver
const { file, remove } = localFiles()
const archive = file(Buffer.from('an archive'))

beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), 'depot-storage-')))
  mountPath = join(base, 'mount')
  mkdirSync(join(mountPath, 'vpc'), { recursive: true })
  mkdirSync(join(base, 'outside'))
  driver = createFilesystemDriver({ mountPath })
})
afterEach(async () => {
  await vi.waitUntil(() => openFiles(base) === 0)
  rmSync(base, { recursive: true })
  return () => remove()
})

describe('the mount', () => {
  it('is not left through a link in place of a directory', async () => {
    await symlink('../outside', join(mountPath, 'linked'))
    for (const object of ['linked/1.zip', 'linked/below/1.zip']) {
      await expect(driver.put(object, archive)).rejects.toMatchObject({ reason: 'NotFound' })
    }
    await writeFile(join(base, 'outside/2.zip'), 'of others')
    await expect(driver.remove('linked/2.zip')).rejects.toMatchObject({ reason: 'NotFound' })
    expect(await Array.fromAsync(driver.list('linked/'))).toEqual([])
    expect(readdirSync(join(base, 'outside'))).toEqual(['2.zip'])
  })

  it('is not left while a directory in the path is repeatedly replaced by a link', async () => {
    const outside = 'the directory of the archive is outside of the mounted storage'
    const seen = await outcomesWhileSwapped(
      mountPath,
      (round) => driver.put(`vpc/${round}.zip`, archive).catch(({ message }: Error) => message),
      { rounds: 400, awaited: ['created', outside] },
    )
    expect(Array.from(seen)).toEqual(expect.arrayContaining(['created', outside]))
    expect(readdirSync(join(base, 'outside'))).toEqual([])
  })

  it('follows links that stay inside', async () => {
    await symlink('vpc', join(mountPath, 'network'))
    expect(await driver.put('network/1.zip', archive)).toBe('created')
    expect(readdirSync(join(mountPath, 'vpc'))).toEqual(['1.zip'])
  })

  it('is unavailable if it is missing, and is not created', async () => {
    const unmounted = createFilesystemDriver({ mountPath: join(base, 'nothing') })
    await expect(unmounted.put('vpc/1.zip', archive)).rejects.toMatchObject({
      reason: 'Unavailable',
      message: 'the storage of the archives is not mounted; try again in a moment',
    })
    expect(existsSync(join(base, 'nothing'))).toBe(false)
  })
})

it('removes files of killed processes after a day', async () => {
  const part = (digit: string) => join(mountPath, 'vpc', `.depot-${digit.repeat(36)}.part`)
  await writeFile(part('a'), 'old')
  await utimes(part('a'), 0, 0)
  await writeFile(part('b'), 'being written')
  expect(await Array.fromAsync(driver.list('vpc/'))).toEqual([])
  await driver.put('vpc/1.zip', archive)
  expect(readdirSync(join(mountPath, 'vpc')).toSorted()).toEqual([
    part('b').split('/').at(-1),
    '1.zip',
  ])
})

it('removes abandoned temporary files of directories that are only listed', async () => {
  await driver.put('vpc/deep/a.zip', archive)
  const part = (digit: string) => `.depot-${digit.repeat(36)}.part`
  const folder = join(mountPath, 'vpc', 'deep')
  for (const digit of ['a', 'b']) await writeFile(join(folder, part(digit)), 'cut off')
  await utimes(join(folder, part('a')), 0, 0)
  const listed = await Array.fromAsync(driver.list('vpc/'))
  expect(listed.map(({ object }) => object)).toEqual(['vpc/deep/a.zip'])
  expect((await readdir(folder)).toSorted()).toEqual([part('b'), 'a.zip'])
})

it('never treats an archive as a temporary file', async () => {
  const putting = driver.put(`vpc/.depot-${'a'.repeat(36)}.part`, archive)
  await expect(putting).rejects.toMatchObject({ reason: 'NotFound' })
})

it('stores files that everyone can read and nobody else can write', async () => {
  await driver.put('vpc/1.zip', archive)
  expect(statSync(join(mountPath, 'vpc/1.zip')).mode & 0o777).toBe(0o644)
})

it('does not remove a directory', async () => {
  await expect(driver.remove('vpc')).rejects.toMatchObject({ name: 'RegistryError' })
  expect(readdirSync(mountPath)).toEqual(['vpc'])
})
