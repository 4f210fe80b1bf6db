import { createHash, randomBytes } from 'node:crypto'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { type FileHandle, open as openFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate as turn } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createLogger, createMetrics, type Metrics } from '../../../base/telemetry/telemetry.ts'
import { type ByteSource, GrowingFile } from '../../spool/spool.ts'
import { createArchives } from '../archives.ts'
import { bytesOf } from '../conformance.fixture.ts'
import {
  type MisbehavingStore,
  serve,
  serveSome,
  startMisbehavingStore,
} from '../remote/misbehaving-store.fixture.ts'
import type { Archive, Archives } from '../types.ts'

const megabyte = 1_000_000
/** Larger than every buffer between the backend and the reader. */
const bytes = randomBytes(8 * megabyte)
const digestOf = (data: Uint8Array) => createHash('sha256').update(data).digest('hex')
const sha256 = digestOf(bytes)

const archiveOf = (digest: string, name = 'vpc'): Archive => ({
  location: {
    storage: { s3: { bucket: 'bucket', region: 'eu-west-1' } },
    configName: name,
    fileName: '1.0.0.zip',
  },
  sha256: digest,
  label: { namespace: 'acme', kind: 'Module', name, version: '1.0.0' },
})
const archive = archiveOf(sha256)

let dir: string
let store: MisbehavingStore
let archives: Archives
let metrics: Metrics
let lines: string[]

function create(sizeBytes = 100 * megabyte): Archives {
  metrics = createMetrics({ version: 'test' })
  lines = []
  archives = createArchives({
    grants: { text: '*=*', annotation: 'depot.internal/storage' },
    filesystemMountPath: '/nowhere',
    s3: { endpoint: store.endpoint, accessKeyId: 'a', secretAccessKey: 'b' },
    timings: { backoffMs: 1, connectMs: 500, firstByteMs: 500, idleMs: 500 },
    cache: { dir, sizeBytes },
    log: createLogger('info', { write: (line) => void lines.push(line) }),
    metrics,
  })
  return archives
}

beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), 'depot-cache-'))
  store = await startMisbehavingStore(bytes)
  create()
})
afterEach(() => {
  store.stop()
  rmSync(dir, { recursive: true, force: true })
})

const read = async (wanted = archive) => bytesOf((await archives.open(wanted)).body)
const files = () =>
  readdirSync(dir, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
const pathOf = (digest: string) => join(dir, 'archives', digest.slice(0, 2), digest)
const cached = (count = 1) =>
  vi.waitFor(async () => {
    const used = await metrics.getSingleMetric('depot_archive_cache_bytes')?.get()
    expect(used?.values[0]?.value).toBeGreaterThanOrEqual(count * megabyte)
  })

describe('an archive after its first read', () => {
  it('is served from disk while its backend is unavailable', async () => {
    expect(digestOf(await read())).toBe(sha256)
    await cached()
    store.stop()
    expect(digestOf(await read())).toBe(sha256)
    expect(await archives.sizeOf(archive)).toBe(bytes.length)
    const part = await archives.open(archive, { start: 5, end: 9 })
    expect(await bytesOf(part.body)).toEqual(bytes.subarray(5, 10))
    const from = await metrics.getSingleMetricAsString('depot_archive_bytes_total')
    expect(from).toContain(`{source="backend"} ${bytes.length}`)
    expect(from).toContain(`{source="cache"} ${bytes.length + 5}`)
    const used = await metrics.getSingleMetricAsString('depot_archive_cache_bytes')
    expect(used).toContain(`depot_archive_cache_bytes ${bytes.length}`)
  })

  it('is served by the next process, which removes partial files', async () => {
    await read()
    await cached()
    writeFileSync(join(dir, 'partial/half'), 'half')
    store.stop()
    create()
    expect(digestOf(await read())).toBe(sha256)
    expect(files()).toHaveLength(1)
  })

  it.each([
    {
      what: 'other bytes',
      damage: async (path: string) => {
        const file = await openFile(path, 'r+')
        await file.write(Buffer.from('damaged'), 0, 7, 1000)
        await file.close()
      },
    },
    { what: 'missing bytes', damage: async (path: string) => writeFileSync(path, 'short') },
    { what: 'no file', damage: async (path: string) => rmSync(path) },
    {
      what: 'a directory',
      damage: async (path: string) => {
        rmSync(path)
        mkdirSync(path)
      },
    },
  ])('is fetched again if it has $what on disk', async ({ damage }) => {
    await read()
    await cached()
    await damage(pathOf(sha256))
    store.behave(serve(bytes))
    expect(digestOf(await read())).toBe(sha256)
    expect(store.requests).toBe(1)
  })

  it('serves ranges, and is fetched for them if necessary', async () => {
    const { range, body } = await archives.open(archive, { start: 100, end: 199 })
    expect(range).toEqual({ start: 100, end: 199 })
    expect(await bytesOf(body)).toEqual(bytes.subarray(100, 200))
    expect(store.requests).toBe(1)
  })
})

describe('concurrent requests', () => {
  it('cause one request, and all get the archive', async () => {
    const opened = await Promise.all(Array.from({ length: 500 }, () => archives.open(archive)))
    const found = await Promise.all(
      opened.map(async ({ body }, index) => {
        // Hashing them all would take longer than serving them.
        const hash = index % 25 === 0 ? createHash('sha256') : undefined
        let sizeBytes = 0
        for (let chunk = await body.read(); chunk; chunk = await body.read()) {
          hash?.update(chunk)
          sizeBytes += chunk.length
        }
        body.close()
        return `${sizeBytes} ${hash?.digest('hex') ?? ''}`
      }),
    )
    const size = bytes.length
    expect(new Set(found)).toEqual(new Set([`${size} `, `${size} ${sha256}`]))
    expect(store.requests).toBe(1)
  }, 60_000)

  it('get the bytes that have arrived before the rest arrives', async () => {
    store.behave(serveSome(bytes, 5 * megabyte, () => {}))
    const [first, second] = await Promise.all([archives.open(archive), archives.open(archive)])
    expect((await first.body.read())?.length).toBeGreaterThan(0)
    expect((await second.body.read())?.length).toBeGreaterThan(0)
    expect(store.requests).toBe(1)
    first.body.close()
    second.body.close()
  })

  it('all fail if the archive is wrong, and nothing of it stays on disk', async () => {
    const wrong = Buffer.from(bytes)
    wrong.writeUInt8(wrong.readUInt8(0) ^ 1, 0)
    store.behave(serve(wrong))
    const results = await Promise.allSettled(Array.from({ length: 50 }, () => read()))
    expect(new Set(results.map(({ status }) => status))).toEqual(new Set(['rejected']))
    expect(store.requests).toBe(1)
    await vi.waitFor(() => expect(files()).toEqual([]))
  })

  it('are independent: a reader that disconnects does not affect others', async () => {
    const [first, second] = await Promise.all([archives.open(archive), archives.open(archive)])
    await first.body.read()
    first.body.close()
    expect(digestOf(await bytesOf(second.body))).toBe(sha256)
  })
})

describe('the size of the cache', () => {
  const small = Array.from({ length: 4 }, () => randomBytes(megabyte))
  const wanted = small.map((content, index) => archiveOf(digestOf(content), `m${index}`))

  it('is limited: the least recently used archive is removed', async () => {
    store.behave((response, request, part) => {
      const index = Number(/\/m(\d)\//.exec(request.url ?? '')?.[1])
      serve(small[index] as Buffer)(response, request, {
        start: part.start,
        end: Math.min(part.end, megabyte - 1),
      })
    })
    create(3 * megabyte)
    for (const index of [0, 1, 2]) {
      await read(wanted[index])
      await cached(index + 1)
    }
    await read(wanted[0])
    await read(wanted[3])
    await vi.waitFor(() => expect(existsSync(pathOf(wanted[3]?.sha256 ?? ''))).toBe(true))
    const kept = files().map(({ name }) => name)
    expect(kept.toSorted()).toEqual(
      [0, 2, 3].map((index) => wanted[index]?.sha256 ?? '').toSorted(),
    )
  })

  it('does not limit archives: a larger one is streamed', async () => {
    create(megabyte)
    expect(digestOf(await read())).toBe(sha256)
    expect(files()).toEqual([])
  })

  it('may be reduced for the next process', async () => {
    await read()
    await cached()
    create(megabyte)
    store.behave(serve(bytes))
    expect(digestOf(await read())).toBe(sha256)
    expect(store.requests).toBeGreaterThan(0)
    expect(files()).toEqual([])
  })
})

describe('a disk that fails', () => {
  it('from the start causes streaming, and the log says why', async () => {
    writeFileSync(join(dir, 'file'), '')
    dir = join(dir, 'file')
    create()
    expect(digestOf(await read())).toBe(sha256)
    expect(lines.join()).toContain('archive cache cannot be used')
    dir = join(dir, '..')
  })

  it('when a file is created causes streaming', async () => {
    await read()
    rmSync(join(dir, 'partial'), { recursive: true })
    rmSync(pathOf(sha256), { force: true })
    store.behave(serve(bytes))
    expect(digestOf(await read())).toBe(sha256)
  })

  it.each([0, 3 * megabyte])(
    'after %i bytes: followers continue with another source',
    async (spaceBytes) => {
      const file = await openFile(join(dir, 'full'), 'wx+')
      const fetch = new GrowingFile(
        sourceOf(bytes),
        fullAfter(file, spaceBytes),
        bytes.length,
        () => Promise.resolve(),
      )
      const instead = async (fromByte: number) => sourceOf(bytes.subarray(fromByte))
      const followers = [fetch.follow(instead), fetch.follow(instead)]
      for (const follower of followers) {
        expect(digestOf(await bytesOf(follower as ByteSource))).toBe(sha256)
      }
      await expect(fetch.done).rejects.toThrow('cannot write')
      expect(statSync(join(dir, 'full')).size).toBe(spaceBytes)
    },
  )
})

function sourceOf(data: Uint8Array): ByteSource {
  let position = 0
  return {
    async read() {
      await turn()
      const chunk = data.subarray(position, position + 500_000)
      position += chunk.length
      return chunk.length === 0 ? undefined : chunk
    },
    close() {},
  }
}

/** Opens a file on a disk with this much free space. */
function fullAfter(file: FileHandle, spaceBytes: number): FileHandle {
  return new Proxy(file, {
    get(target, name) {
      if (name !== 'write') {
        const value = Reflect.get(target, name) as unknown
        return typeof value === 'function' ? value.bind(target) : value
      }
      return (chunk: Uint8Array, from: number, length: number, position: number) => {
        const allowed = Math.min(length, spaceBytes - position)
        if (allowed > 0) return target.write(chunk, from, allowed, position)
        return Promise.reject(Object.assign(new Error('no space left'), { code: 'ENOSPC' }))
      }
    },
  })
}
