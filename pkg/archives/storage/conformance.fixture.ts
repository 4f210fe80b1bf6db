import { createHash, randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import type { ByteSource } from '../spool/spool.ts'
import type { Driver } from './driver.ts'

/** A driver with its own place for tests. */
export interface DriverUnderTest {
  readonly driver: Driver
  /** Stores an object as users of the backend do. */
  put(object: string, bytes: Uint8Array): Promise<void>
  /** Number of open files or connections of the driver. */
  held(): number
  close(): Promise<void>
}

export const oddNames = [
  'with blanks/a b.zip',
  'plus/1.0.0+build.5.zip',
  'percent/a%2Fb%00.zip',
  'quotes/\'single\' "double".zip',
  'unicode/größe-模块-🚀.zip',
  'signs/a&b=c;d,e!f$g(h)[i]{j}@k~l#m?n*o:p|q^r`s<t>.zip',
  'dots/...zip',
  '-rf/--help',
  '__proto__/constructor',
  'constructor/prototype.zip',
  'toString/hasOwnProperty',
  `long/${'x'.repeat(200)}.zip`,
]

export const impossibleNames = [
  '',
  '/',
  'a',
  'conformance',
  'conformance/',
  '/conformance/small.zip',
  'conformance//small.zip',
  'conformance/./small.zip',
  'conformance/../conformance/small.zip',
  '../conformance/small.zip',
  'conformance\\small.zip',
  'conformance/small.zip\0',
  'conformance/small.zip/more',
  'conformance/Small.zip',
  'conformance/\ud800.zip',
  `conformance/${'ü'.repeat(200)}`,
  'x/'.repeat(600).concat('x'),
]

/**
 * Tests for every driver. The test of a driver consists of this suite and of mistakes that only that driver can make.
 *
 * @param make called once before all tests; gives an empty place each time
 */
export function driverConformance(name: string, make: () => Promise<DriverUnderTest>): void {
  describe(`${name} as a driver`, () => {
    const small = Buffer.from('an archive of 26 bytes....')
    const large = randomBytes(30_000_000)
    let tried: DriverUnderTest
    let driver: Driver

    beforeAll(async () => {
      tried = await make()
      driver = tried.driver
      await tried.put('conformance/small.zip', small)
      await tried.put('conformance/empty.zip', new Uint8Array())
      await tried.put('conformance/large.zip', large)
    })
    afterAll(async () => tried.close())

    const nothingHeld = () => vi.waitFor(() => expect(tried.held()).toBe(0))

    it('returns the size of an object', async () => {
      expect(await driver.stat('conformance/small.zip')).toMatchObject({ sizeBytes: 26 })
      expect(await driver.stat('conformance/large.zip')).toMatchObject({ sizeBytes: large.length })
      await nothingHeld()
    })

    it('returns the whole object', async () => {
      const { info, body } = await driver.open('conformance/small.zip')
      expect(info.sizeBytes).toBe(26)
      expect(await bytesOf(body)).toEqual(small)
      await nothingHeld()
    })

    it.each([
      { what: 'the first byte', range: { start: 0, end: 0 }, bytes: 'a' },
      { what: 'the last byte', range: { start: 25, end: 25 }, bytes: '.' },
      { what: 'the middle', range: { start: 3, end: 9 }, bytes: 'archive' },
      { what: 'everything', range: { start: 0, end: 25 }, bytes: small.toString() },
      { what: 'as much as there is', range: { start: 20, end: 1e15 }, bytes: 'es....' },
    ])('returns $what of an object', async ({ range, bytes }) => {
      const { info, body } = await driver.open('conformance/small.zip', range)
      expect(info.sizeBytes).toBe(26)
      expect((await bytesOf(body)).toString()).toBe(bytes)
    })

    it('returns a range of a large object that crosses its chunks', async () => {
      const range = { start: 262_143, end: 9_999_999 }
      const { body } = await driver.open('conformance/large.zip', range)
      expect(digestOf(await bytesOf(body))).toBe(digestOf(large.subarray(262_143, 10_000_000)))
    })

    it.each([
      { what: 'that starts beyond the end', object: 'small.zip', range: { start: 26, end: 30 } },
      { what: 'that is inverted', object: 'small.zip', range: { start: 5, end: 4 } },
      { what: 'that starts before the object', object: 'small.zip', range: { start: -1, end: 4 } },
      { what: 'that is not a number', object: 'small.zip', range: { start: Number.NaN, end: 4 } },
      { what: 'of an empty object', object: 'empty.zip', range: { start: 0, end: 0 } },
    ])('refuses a range $what', async ({ object, range }) => {
      const opening = driver.open(`conformance/${object}`, range)
      await expect(opening).rejects.toMatchObject({
        reason: 'RangeNotSatisfiable',
        headers: { 'Content-Range': `bytes */${object === 'empty.zip' ? 0 : 26}` },
      })
      await nothingHeld()
    })

    it('returns an empty object', async () => {
      const { info, body } = await driver.open('conformance/empty.zip')
      expect(info.sizeBytes).toBe(0)
      expect(await bytesOf(body)).toHaveLength(0)
      expect(await driver.stat('conformance/empty.zip')).toMatchObject({ sizeBytes: 0 })
      await nothingHeld()
    })

    it.each(['conformance/missing.zip', 'missing/small.zip', ...impossibleNames])(
      'says that there is no object %j',
      async (object) => {
        const absent = { name: 'RegistryError', reason: 'NotFound' }
        await expect(driver.stat(object)).rejects.toMatchObject(absent)
        await expect(driver.open(object)).rejects.toMatchObject(absent)
        await expect(driver.open(object, { start: 0, end: 0 })).rejects.toMatchObject(absent)
        await nothingHeld()
      },
    )

    it.each(oddNames)('accepts the name %j unchanged', async (object) => {
      await tried.put(object, Buffer.from(object))
      const { body } = await driver.open(object)
      expect((await bytesOf(body)).toString()).toBe(object)
      expect(await driver.stat(object)).toMatchObject({ sizeBytes: Buffer.byteLength(object) })
    })

    it('reads a large object without keeping it in memory', async () => {
      const { body } = await driver.open('conformance/large.zip')
      const hash = createHash('sha256')
      let largestBytes = 0
      for (let chunk = await body.read(); chunk; chunk = await body.read()) {
        hash.update(chunk)
        largestBytes = Math.max(largestBytes, chunk.byteLength)
      }
      body.close()
      expect(hash.digest('hex')).toBe(digestOf(large))
      expect(largestBytes).toBeLessThanOrEqual(1024 * 1024)
      await nothingHeld()
    })

    it('leaves a chunk unchanged while the next one is read', async () => {
      const { body } = await driver.open('conformance/large.zip')
      let position = 0
      let chunk = await body.read()
      for (let count = 0; chunk !== undefined && count < 30; count += 1) {
        const next = await body.read()
        expect(large.compare(chunk, 0, chunk.length, position, position + chunk.length)).toBe(0)
        position += chunk.length
        chunk = next
      }
      body.close()
    })

    it('waits for a slow reader instead of reading on', async () => {
      const before = process.memoryUsage().arrayBuffers
      const opened = await Promise.all(
        Array.from({ length: 20 }, () => driver.open('conformance/large.zip')),
      )
      await Promise.all(opened.map(({ body }) => body.read()))
      await new Promise((resolve) => setTimeout(resolve, 200))
      // Read completely, 20 objects would take 600 MB.
      expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(100e6)
      for (const { body } of opened) body.close()
      await nothingHeld()
    })

    it('releases everything when a reader stops', async () => {
      const early = await driver.open('conformance/large.zip')
      early.body.close()
      const { body } = await driver.open('conformance/large.zip')
      for (let chunks = 0; chunks < 20; chunks += 1) await body.read()
      const reading = body.read()
      body.close()
      body.close()
      await reading
      expect(await body.read()).toBeUndefined()
      await nothingHeld()
    })

    it('serves many readers at once, each its own part', async () => {
      const parts = Array.from({ length: 100 }, (_, index) => index * 250_000)
      const found = await Promise.all(
        parts.map(async (start) => {
          const range = { start, end: start + 299_999 }
          const { body } = await driver.open('conformance/large.zip', range)
          return digestOf(await bytesOf(body))
        }),
      )
      expect(found).toEqual(parts.map((start) => digestOf(large.subarray(start, start + 300_000))))
      await nothingHeld()
    })
  })
}

/** Reads all bytes of a source and closes it. */
export async function bytesOf(source: ByteSource): Promise<Buffer> {
  const chunks: Uint8Array[] = []
  try {
    for (let chunk = await source.read(); chunk; chunk = await source.read()) {
      chunks.push(Buffer.from(chunk))
    }
  } finally {
    source.close()
  }
  return Buffer.concat(chunks)
}

const digestOf = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')
