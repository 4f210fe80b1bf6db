import { createHash, randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { bytesOf, impossibleNames, oddNames } from './conformance.fixture.ts'
import type { ListedObject, LocalFile, WritableDriver } from './driver.ts'

/** A driver with an empty place to write to. */
export interface WritableDriverUnderTest {
  readonly driver: WritableDriver
  /** Number of open files or connections of the driver. */
  held(): number
  close(): Promise<void>
}

/** Files to store, in a folder of their own. */
export function localFiles() {
  const folder = mkdtempSync(join(tmpdir(), 'depot-stored-'))
  return {
    folder,
    file: (bytes: Uint8Array): LocalFile => {
      const sha256 = createHash('sha256').update(bytes).digest('hex')
      const path = join(folder, sha256)
      writeFileSync(path, bytes)
      return { path, sizeBytes: bytes.length, sha256 }
    },
    remove: () => rmSync(folder, { recursive: true }),
  }
}

/** Tests for every driver that can write. `driverConformance` tests reading. */
export function writingConformance(
  name: string,
  make: () => Promise<WritableDriverUnderTest>,
): void {
  describe(`${name}, written`, () => {
    const { file, remove: removeFiles } = localFiles()
    const one = file(Buffer.from('one archive'))
    const two = file(Buffer.from('two archives'))
    let tried: WritableDriverUnderTest
    let driver: WritableDriver

    beforeAll(async () => {
      tried = await make()
      driver = tried.driver
    })
    afterAll(async () => {
      await tried.close()
      removeFiles()
    })
    const textOf = async (object: string) =>
      (await bytesOf((await driver.open(object)).body)).toString()
    const listed = async (prefix: string): Promise<ListedObject[]> => {
      const objects = await Array.fromAsync(driver.list(prefix))
      return objects.toSorted((a, b) => (a.object < b.object ? -1 : 1))
    }
    const absent = { name: 'RegistryError', reason: 'NotFound' }
    const nothingHeld = () => vi.waitFor(() => expect(tried.held()).toBe(0))

    it('stores a file', async () => {
      expect(await driver.put('stored/one.zip', one)).toBe('created')
      expect(await textOf('stored/one.zip')).toBe('one archive')
      await nothingHeld()
    })

    it('leaves an existing object of that name unchanged, and reports it', async () => {
      await driver.put('existing/one.zip', one)
      expect(await driver.put('existing/one.zip', two)).toBe('exists')
      expect(await driver.put('existing/one.zip', one)).toBe('exists')
      expect(await textOf('existing/one.zip')).toBe('one archive')
      await nothingHeld()
    })

    it('stores an empty file', async () => {
      expect(await driver.put('stored/empty.zip', file(new Uint8Array()))).toBe('created')
      expect(await driver.stat('stored/empty.zip')).toMatchObject({ sizeBytes: 0 })
    })

    it('stores a large file without keeping it in memory', async () => {
      const large = file(randomBytes(60_000_000))
      const before = process.memoryUsage().arrayBuffers
      let mostBytes = 0
      const watching = setInterval(() => {
        mostBytes = Math.max(mostBytes, process.memoryUsage().arrayBuffers - before)
      }, 5)
      expect(await driver.put('stored/large.zip', large)).toBe('created')
      clearInterval(watching)
      expect(mostBytes).toBeLessThan(30_000_000)
      expect(await driver.verify('stored/large.zip', large)).toBe(true)
      await nothingHeld()
    })

    it.each(oddNames)('accepts the name %j unchanged', async (object) => {
      expect(await driver.put(object, one)).toBe('created')
      expect(await textOf(object)).toBe('one archive')
      const folder = object.slice(0, object.lastIndexOf('/') + 1)
      expect((await listed(folder)).map((entry) => entry.object)).toContain(object)
      await driver.remove(object)
      await expect(driver.stat(object)).rejects.toMatchObject(absent)
    })

    it.each(
      impossibleNames.filter((object) =>
        /^(?!conformance|a$|missing).|\.\.?\/|\\|\0|\/$|\/\/|\ud800|ü/.test(object),
      ),
    )('stores nothing under the name %j', async (object) => {
      await expect(driver.put(object, one)).rejects.toMatchObject(absent)
      await expect(driver.remove(object)).rejects.toMatchObject(absent)
      await nothingHeld()
    })

    it('stores nothing if the file is shorter than announced', async () => {
      const cut = file(randomBytes(3_000_000))
      truncateSync(cut.path, 2_000_000)
      await expect(driver.put('cut/one.zip', cut)).rejects.toMatchObject({ name: 'RegistryError' })
      await expect(driver.stat('cut/one.zip')).rejects.toMatchObject(absent)
      expect(await listed('cut/')).toEqual([])
      await nothingHeld()
    })

    it('stores nothing if it is aborted', async () => {
      const large = file(randomBytes(20_000_000))
      const signal = AbortSignal.abort(new Error('called off'))
      await expect(driver.put('aborted/one.zip', large, { signal })).rejects.toThrow('called off')
      const controller = new AbortController()
      const putting = driver.put('aborted/two.zip', large, { signal: controller.signal })
      setImmediate(() => controller.abort(new Error('called off')))
      await expect(putting).rejects.toThrow('called off')
      expect(await listed('aborted/')).toEqual([])
      await nothingHeld()
    })

    it('verifies that an object has the expected digest', async () => {
      await driver.put('verified/one.zip', one)
      const { sizeBytes, sha256 } = one
      const differs = 'f'.repeat(64)
      expect(await driver.verify('verified/one.zip', one)).toBe(true)
      expect(await driver.verify('verified/one.zip', { sizeBytes, sha256: differs })).toBe(false)
      expect(await driver.verify('verified/one.zip', { sizeBytes: 12, sha256 })).toBe(false)
      expect(await driver.verify('verified/nothing.zip', one)).toBe(false)
      await nothingHeld()
    })

    it.each<{ read?: boolean }>([{}, { read: true }])(
      'verifies a large object, too: %j',
      async (how) => {
        const large = file(randomBytes(3_000_000))
        const object = `verified/large-${how.read ?? false}.zip`
        await driver.put(object, large)
        expect(await driver.verify(object, large, how)).toBe(true)
        const { sizeBytes } = large
        const other = { sizeBytes, sha256: one.sha256 }
        expect(await driver.verify(object, other, how)).toBe(false)
        await nothingHeld()
      },
    )

    it('checks an object by reported values, without reading it', async () => {
      await driver.put('checked/one.zip', one)
      expect(await driver.check('checked/one.zip', one)).toBe(true)
      expect(await driver.check('checked/one.zip', {})).toBe(true)
      expect(await driver.check('checked/one.zip', { ...one, sizeBytes: 12 })).toBe(false)
      expect(await driver.check('checked/nothing.zip', one)).toBe(false)
      await nothingHeld()
    })

    it('notices that a file was changed before it was stored', async () => {
      const altered = file(randomBytes(100_000))
      writeFileSync(altered.path, randomBytes(100_000))
      const stored = await driver.put('altered/one.zip', altered).catch(() => 'refused')
      expect(stored === 'refused' || !(await driver.verify('altered/one.zip', altered))).toBe(true)
      await nothingHeld()
    })

    it('removes only the object, and accepts that it is missing', async () => {
      await driver.put('removed/one.zip', one)
      await driver.put('removed/two.zip', two)
      await driver.remove('removed/one.zip')
      await driver.remove('removed/one.zip')
      await driver.remove('removed/never/there.zip')
      expect((await listed('removed/')).map(({ object }) => object)).toEqual(['removed/two.zip'])
      expect(await driver.put('removed/one.zip', two)).toBe('created')
    })

    it('lists everything below a prefix, with size and time', async () => {
      await driver.put('listed/one.zip', one)
      await driver.put('listed/below/two.zip', two)
      await driver.put('listed-too/one.zip', one)
      const found = await listed('listed/')
      const recently = expect.toSatisfy((ms: number) => Math.abs(Date.now() - ms) < 600_000)
      expect(found).toEqual([
        { object: 'listed/below/two.zip', sizeBytes: 12, changedAtMs: recently },
        { object: 'listed/one.zip', sizeBytes: 11, changedAtMs: recently },
      ])
      expect((await listed('')).length).toBeGreaterThan(2)
      expect(await listed('nowhere/')).toEqual([])
      await nothingHeld()
    })

    it('lists more than one page', async () => {
      const count = 1100
      const names = Array.from({ length: count }, (_, index) => `pages/${index}.zip`)
      const rest = names.values()
      const workers = Array.from({ length: 20 }, async () => {
        for (const object of rest) await driver.put(object, one)
      })
      await Promise.all(workers)
      const found = await listed('pages/')
      expect(new Set(found.map(({ object }) => object))).toEqual(new Set(names))
      expect(found).toHaveLength(count)
    }, 60_000)

    it('limits the time of a listing', async () => {
      for await (const { object } of driver.list('')) {
        expect(object).not.toBe('')
        break
      }
      await nothingHeld()
    })

    it('stores exactly one of many concurrent uploads, completely', async () => {
      const files = Array.from({ length: 8 }, (_, index) => file(Buffer.alloc(1_000_000, index)))
      const answers = await Promise.all(files.map((each) => driver.put('race/one.zip', each)))
      expect(answers.filter((answer) => answer === 'created')).toHaveLength(1)
      const winner = files[answers.indexOf('created')]
      expect(await driver.verify('race/one.zip', winner ?? one)).toBe(true)
      expect(await listed('race/')).toHaveLength(1)
    })
  })
}
