import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import {
  appendFile,
  link,
  mkdir,
  open,
  rename,
  symlink,
  truncate,
  unlink,
  utimes,
  writeFile,
} from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { bytesOf, driverConformance } from '../conformance.fixture.ts'
import type { Driver } from '../driver.ts'
import { directoryInMount, fileError } from './file-reading.ts'
import { createFilesystemDriver } from './filesystem.ts'
import { openFiles } from './open-files.fixture.ts'
import { outcomesWhileSwapped } from './swapped-directory.fixture.ts'

driverConformance('the filesystem', async () => {
  const mountPath = tempDir()
  return {
    driver: createFilesystemDriver({ mountPath }),
    async put(object, bytes) {
      const path = join(mountPath, object)
      await mkdir(dirname(path), { recursive: true })
      await writeFile(path, bytes)
    },
    held: () => openFiles(mountPath),
    close: async () => rmSync(mountPath, { recursive: true }),
  }
})

const absent = { name: 'RegistryError', reason: 'NotFound' }
let base: string
let mountPath: string
let driver: Driver

beforeEach(() => {
  base = tempDir()
  mountPath = join(base, 'mount')
  mkdirSync(join(mountPath, 'vpc'), { recursive: true })
  mkdirSync(join(base, 'outside'))
  driver = createFilesystemDriver({ mountPath })
})
afterEach(async () => {
  await vi.waitUntil(() => openFiles(base) === 0)
  rmSync(base, { recursive: true })
})

describe('the mount', () => {
  it.each([
    { what: 'a link to a file outside', link: 'vpc/1.zip', target: '../../outside/secret' },
    { what: 'an absolute link outside', link: 'vpc/1.zip', target: '/etc/passwd' },
    { what: 'a link to itself', link: 'vpc/1.zip', target: '1.zip' },
    { what: 'a dangling link', link: 'vpc/1.zip', target: 'nothing' },
    { what: 'a link to a device', link: 'vpc/1.zip', target: '/dev/zero' },
    { what: 'a link to an open file', link: 'vpc/1.zip', target: '/proc/self/fd/0' },
  ])('is not left by $what', async ({ link: path, target }) => {
    await writeFile(join(base, 'outside/secret'), 'secret')
    await symlink(target, join(mountPath, path))
    await expect(driver.open(path)).rejects.toMatchObject(absent)
    await expect(driver.stat(path)).rejects.toMatchObject(absent)
  })

  it('is not left through a linked directory, nor confused with a directory of the same prefix', async () => {
    await mkdir(join(base, 'mount-of-others'))
    await writeFile(join(base, 'mount-of-others/1.zip'), 'secret')
    await symlink('../mount-of-others', join(mountPath, 'linked'))
    await expect(driver.open('linked/1.zip')).rejects.toMatchObject(absent)
  })

  it('may be a link, and contain links to its own files', async () => {
    await writeFile(join(mountPath, 'vpc/1.zip'), 'one')
    await symlink('vpc', join(mountPath, 'network'))
    await symlink('1.zip', join(mountPath, 'vpc/latest.zip'))
    await symlink(mountPath, join(base, 'linked-mount'))
    const linked = createFilesystemDriver({ mountPath: join(base, 'linked-mount') })
    const { body } = await linked.open('network/latest.zip')
    expect((await bytesOf(body)).toString()).toBe('one')
  })

  it('is not left while a directory in the path is repeatedly replaced by a link', async () => {
    await writeFile(join(mountPath, 'vpc/1.zip'), 'inside')
    await writeFile(join(base, 'outside/1.zip'), 'secret')
    const outside = 'there is no such archive in storage: it is outside of the mount'
    const read = async () => (await bytesOf((await driver.open('vpc/1.zip')).body)).toString()
    const seen = await outcomesWhileSwapped(
      mountPath,
      () => read().catch(({ message }: Error) => message),
      { rounds: 1500, awaited: ['inside', outside] },
    )
    expect(seen).not.toContain('secret')
    expect(Array.from(seen)).toEqual(expect.arrayContaining(['inside', outside]))
  })

  it('makes archives unavailable, not unknown, while it is missing', async () => {
    const unmounted = createFilesystemDriver({ mountPath: join(base, 'nothing') })
    await expect(unmounted.open('vpc/1.zip')).rejects.toMatchObject({
      reason: 'Unavailable',
      message: 'the storage of the archives is not mounted; try again in a moment',
      cause: { code: 'ENOENT' },
    })
  })
})

describe('a file that is not regular', () => {
  it('is not an archive: directories', async () => {
    await expect(driver.open('vpc')).rejects.toMatchObject(absent)
  })

  it('is not an archive: pipes, which do not block', async () => {
    execFileSync('mkfifo', [join(mountPath, 'vpc/pipe.zip')])
    await expect(driver.open('vpc/pipe.zip')).rejects.toMatchObject(absent)
  })

  it('is not an archive: sockets', async () => {
    const server = createServer().listen(join(mountPath, 'vpc/s'))
    await expect(driver.open('vpc/s')).rejects.toMatchObject(absent)
    await new Promise((resolve) => server.close(resolve))
  })
})

describe('a file that changes while it is read', () => {
  const object = 'vpc/1.zip'
  const sizeBytes = 2_000_000
  const changed = expect.objectContaining({
    name: 'RegistryError',
    reason: 'Unavailable',
  }) as unknown
  const overwrite = async (path: string) => {
    const file = await open(path, 'r+')
    await file.write('other bytes', sizeBytes - 11)
    await file.close()
  }

  it.each([
    { how: 'is cut', change: (path: string) => truncate(path, 1_000_000), end: 'ended' },
    { how: 'grows', change: (path: string) => appendFile(path, 'more'), end: changed },
    { how: 'is overwritten in place', change: overwrite, end: changed },
  ])('$how: the body is incomplete', async ({ change, end }) => {
    const path = join(mountPath, object)
    await writeFile(path, Buffer.alloc(sizeBytes))
    await utimes(path, 0, 0)
    const { body } = await driver.open(object)
    let seenBytes = (await body.read())?.length ?? 0
    await change(path)
    let ending: unknown = 'ended'
    try {
      for (let part = await body.read(); part; part = await body.read()) seenBytes += part.length
    } catch (error) {
      ending = error
    }
    expect(ending).toEqual(end)
    expect(seenBytes).toBeLessThan(sizeBytes)
  })

  it('is deleted or replaced: the body is that of the opened file', async () => {
    const path = join(mountPath, object)
    await writeFile(path, Buffer.alloc(sizeBytes, 1))
    await link(path, `${path}.kept`)
    const opened = [await driver.open(object), await driver.open(object)]
    await writeFile(`${path}.new`, Buffer.alloc(sizeBytes, 2))
    await rename(`${path}.new`, path)
    await unlink(`${path}.kept`)
    for (const { body } of opened) {
      expect(await bytesOf(body)).toEqual(Buffer.alloc(sizeBytes, 1))
    }
  })

  it('has another fingerprint afterwards', async () => {
    const path = join(mountPath, object)
    await writeFile(path, 'one')
    const before = await driver.stat(object)
    expect(await driver.stat(object)).toEqual(before)
    await writeFile(path, 'two')
    await vi.waitFor(async () => {
      await writeFile(path, 'two')
      expect((await driver.stat(object)).fingerprint).not.toBe(before.fingerprint)
    })
  })
})

describe('directoryInMount', () => {
  it.each([
    ['/data/modules', 'team', 'team'],
    ['/data/modules', './team//a/', 'team/a'],
    ['/data/modules', '', ''],
    ['/data/modules', '.', ''],
    ['/data/modules', '/data/modules', ''],
    ['/data/modules', '/data/modules/', ''],
    ['/data/modules/', '/data/modules/team', 'team'],
    ['/', '/data', 'data'],
    ['/data/modules', '__proto__', '__proto__'],
  ])('in %s resolves %j to %j', (mount, directory, expected) => {
    expect(directoryInMount(mount, directory)).toBe(expected)
  })

  it.each([
    '..',
    '../modules',
    'team/../..',
    '/',
    '/data',
    '/data/modules2',
    '/etc',
    '/data/modules/..',
  ])('refuses %j', (directory) => {
    expect(() => directoryInMount('/data/modules', directory)).toThrow(/outside of the mounted/)
  })
})

describe('errors of the file system', () => {
  it.each([
    ['ENOENT', 'NotFound'],
    ['ENOTDIR', 'NotFound'],
    ['ELOOP', 'NotFound'],
    ['EACCES', 'Unavailable'],
    ['EIO', 'Unavailable'],
    ['EMFILE', 'Unavailable'],
    ['ESTALE', 'Unavailable'],
  ])('%s is %s, and only the cause contains a path', (code, reason) => {
    const cause = Object.assign(new Error(`${code}: open '/data/modules/1.zip'`), { code })
    const error = fileError(cause)
    expect(error).toMatchObject({ reason, cause })
    expect(error.message).not.toContain('/data')
  })
})

function tempDir(): string {
  return realpathSync(mkdtempSync(join(tmpdir(), 'depot-storage-')))
}
