import { createHash, randomBytes } from 'node:crypto'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setImmediate as turn } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { RegistryError } from '../../base/errors/errors.ts'
import { createLogger, createMetrics } from '../../base/telemetry/telemetry.ts'
import { createArchives } from './archives.ts'
import { bytesOf } from './conformance.fixture.ts'
import {
  type MisbehavingStore,
  serve,
  serveSome,
  startMisbehavingStore,
} from './remote/misbehaving-store.fixture.ts'
import type { Archive, Archives } from './types.ts'

const bytes = randomBytes(600_000)
const digestOf = (data: Uint8Array) => createHash('sha256').update(data).digest('hex')
const sha256 = digestOf(bytes)
const wrong = digestOf(Buffer.from('not these bytes'))

let dir: string
let store: MisbehavingStore
let annotations: Map<string, string>
let lines: string[]

beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), 'depot-first-'))
  store = await startMisbehavingStore(bytes)
  annotations = new Map()
  lines = []
})
afterEach(() => {
  store.stop()
  rmSync(dir, { recursive: true, force: true })
})

function create({ cache = false, text = '' } = {}): Archives {
  return createArchives({
    grants: {
      text,
      annotationOf: (namespace) => annotations.get(namespace),
      annotation: 'depot.internal/storage',
    },
    filesystemMountPath: join(dir, 'mount'),
    s3: { endpoint: store.endpoint, accessKeyId: 'a', secretAccessKey: 'b' },
    timings: { connectMs: 1000, firstByteMs: 2000, idleMs: 600_000, backoffMs: 2 },
    cache: cache ? { dir: join(dir, 'cache'), sizeBytes: 1e8 } : undefined,
    log: createLogger('info', { write: (line) => void lines.push(line) }),
    metrics: createMetrics({ version: 'test' }),
  })
}

const s3 = (presign: object = {}) => ({ s3: { bucket: 'victim', region: 'eu-west-1' }, presign })
const archiveOf = (digest: string, storage: object = s3(), fileName = '1.zip'): Archive => ({
  location: { storage, configName: 'vpc', fileName },
  sha256: digest,
  label: { namespace: 'mallory', kind: 'Module', name: 'vpc', version: '1.0.0' },
})

/** A file that was written some time ago. */
function write(path: string, content: Uint8Array): void {
  const file = join(dir, 'mount', path)
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, content)
  utimesSync(file, 1e9, 1e9)
}

const read = async (archives: Archives, archive: Archive) =>
  bytesOf((await archives.open(archive)).body)
const failure = async (attempt: Promise<unknown>): Promise<unknown> => {
  const error = await attempt.catch((thrown: unknown) => thrown)
  if (!(error instanceof RegistryError)) return error
  return { status: error.status, message: error.message, headers: error.headers }
}

const places = [
  { name: 's3', storage: s3({ enabled: true }), cache: false },
  { name: 's3 with a cache', storage: s3({ enabled: true }), cache: true },
  { name: 'a folder', storage: { fileSystem: { directoryPath: 'victim' } }, cache: false },
]

describe.each(places)('outside the places granted to a namespace: $name', ({ storage, cache }) => {
  let archives: Archives
  beforeEach(() => {
    write('victim/vpc/1.zip', bytes)
    archives = create({ cache })
  })

  it('a Version without the digest gets nothing, and always the same answer', async () => {
    const foreign = archiveOf(wrong, storage)
    const attempts = [
      () => archives.open(foreign),
      () => archives.open(foreign, { start: 0, end: 9 }),
      () => archives.open(foreign, { start: 1e9, end: 1e9 }),
      () => archives.sizeOf(foreign),
      () => archives.presign(archiveOf(wrong, { ...storage, presign: { enabled: true } })),
      () => archives.open(foreign),
    ]
    const failures: unknown[] = []
    for (const attempt of attempts) failures.push(await failure(attempt()))
    expect(new Set(failures.map((one) => JSON.stringify(one))).size).toBe(1)
    expect(failures[0]).toMatchObject({ status: 404, headers: {} })
    expect(lines.join('\n')).toContain('archive does not match its checksum')

    if ('fileSystem' in storage) rmSync(join(dir, 'mount/victim/vpc/1.zip'))
    else store.behave((response) => response.writeHead(404).end())
    expect(await failure(archives.open(archiveOf(sha256, storage)))).toEqual(failures[0])
    expect(await failure(archives.sizeOf(archiveOf(sha256, storage)))).toEqual(failures[0])
  })

  it('a Version with the digest gets everything, and the check is remembered', async () => {
    const own = archiveOf(sha256, storage)
    expect(await archives.sizeOf(own)).toBe(bytes.length)
    expect(await read(archives, own)).toEqual(bytes)
    const { body, range } = await archives.open(own, { start: 10, end: 19 })
    expect(range).toEqual({ start: 10, end: 19 })
    expect(await bytesOf(body)).toEqual(bytes.subarray(10, 20))
    const before = lines.length
    expect(await read(archives, own)).toEqual(bytes)
    expect(lines.slice(before)).toEqual([])
  })

  it('an object that changes after its check is read again before a byte of it is sent', async () => {
    const own = archiveOf(sha256, storage)
    expect(await read(archives, own)).toEqual(bytes)
    const secret = randomBytes(bytes.length + 1)
    write('victim/vpc/1.zip', secret)
    store.behave((response) => {
      response.writeHead(200, { ETag: '"two"', 'Content-Length': secret.length }).end(secret)
    })
    // The copy in the cache is right, whatever happened to its origin.
    const outcome = await archives.sizeOf(own).catch((error: RegistryError) => error.status)
    expect(outcome).toBe(cache ? bytes.length : 404)
    const presigned = archiveOf(sha256, { ...storage, presign: { enabled: true } })
    expect(await failure(archives.presign(presigned))).toMatchObject({ status: 404 })
  })

  it('is logged once for each namespace, with advice', async () => {
    await read(archives, archiveOf(sha256, storage))
    await failure(archives.open(archiveOf(wrong, storage)))
    const announced = lines.filter((line) => line.includes('read and checked once'))
    expect(announced).toHaveLength(1)
    expect(JSON.parse(announced[0] ?? '')).toMatchObject({
      namespace: 'mallory',
      annotation: 'depot.internal/storage',
    })
  })
})

describe('a pre-signed URL', () => {
  it('is signed without a read if the place is granted', async () => {
    annotations.set('mallory', 's3://victim')
    const url = await create().presign(archiveOf(sha256, s3({ enabled: true, ttl: '1h' })))
    expect(new URL(url ?? '').searchParams.get('X-Amz-Expires')).toBe('3600')
    expect(store.requests).toBe(0)
  })

  it('is signed after a first read elsewhere, and is valid for at most a minute', async () => {
    const url = await create().presign(archiveOf(sha256, s3({ enabled: true, ttl: '168h' })))
    expect(new URL(url ?? '').searchParams.get('X-Amz-Expires')).toBe('60')
    expect(store.requests).toBeGreaterThan(0)
  })

  it('is not signed for another place with the same digest in the cache', async () => {
    const archives = create({ cache: true })
    await read(archives, archiveOf(sha256))
    store.behave((response) => response.writeHead(200, { ETag: '"x"' }).end('a foreign object'))
    const foreign = archiveOf(sha256, s3({ enabled: true }), 'foreign.zip')
    expect(await failure(archives.presign(foreign))).toMatchObject({ status: 404 })
  })
})

describe('a link inside the mount', () => {
  it('proves nothing if it leads out of the granted folder', async () => {
    write('victim/secret.zip', bytes)
    mkdirSync(join(dir, 'mount/mallory/vpc'), { recursive: true })
    symlinkSync('../../victim/secret.zip', join(dir, 'mount/mallory/vpc/1.zip'))
    annotations.set('mallory', 'file:///mallory')
    const archives = create()
    const linked = (digest: string) =>
      archiveOf(digest, { fileSystem: { directoryPath: 'mallory' } })
    expect(await failure(archives.open(linked(wrong)))).toMatchObject({ status: 404 })
    expect(await failure(archives.sizeOf(linked(wrong)))).toMatchObject({ status: 404 })
    expect(await read(archives, linked(sha256))).toEqual(bytes)
  })
})

it('many requests for a wrong archive cause few requests to storage', async () => {
  const archives = create()
  const foreign = archiveOf(wrong)
  expect(await failure(archives.open(foreign))).toMatchObject({ status: 404 })
  const before = store.requests
  const failures = await Promise.all(
    Array.from({ length: 100 }, () => failure(archives.open(foreign))),
  )
  expect(failures.every((one) => (one as { status: number }).status === 404)).toBe(true)
  expect(store.requests - before).toBeLessThanOrEqual(2)
})

describe('a store that refuses', () => {
  const refuse = (status: number, code: string) =>
    store.behave((response, request) => {
      const body = `<Error><Code>${code}</Code></Error>`
      response.writeHead(status, { 'content-type': 'application/xml' })
      response.end(request.method === 'HEAD' ? undefined : body)
    })

  it.each([
    [403, 'InvalidAccessKeyId'],
    [403, 'SignatureDoesNotMatch'],
    [400, 'ExpiredToken'],
    [401, 'Unauthorized'],
  ])('the credentials (%i %s) causes a 502, and operators see it', async (status, code) => {
    refuse(status, code)
    const archives = create()
    expect(archives.impaired()).toEqual([])
    expect(await failure(archives.open(archiveOf(sha256)))).toMatchObject({
      status: 502,
      message: expect.stringContaining('does not accept the credentials'),
    })
    expect(archives.impaired()).toEqual([expect.stringContaining(code)])
    store.behave(serve(bytes))
    expect(await read(archives, archiveOf(sha256))).toEqual(bytes)
  })

  it('a single object answers as if the object did not exist', async () => {
    refuse(403, 'AccessDenied')
    const archives = create()
    const denied = await failure(archives.open(archiveOf(sha256)))
    expect(denied).toMatchObject({ status: 404 })
    expect(archives.impaired()).toEqual([])
    store.behave((response) => response.writeHead(404).end())
    expect(await failure(archives.open(archiveOf(sha256)))).toEqual(denied)
  })
})

describe('a store without entity tags', () => {
  const untagged = (content: Uint8Array) =>
    store.behave((response) => {
      response.writeHead(200, { 'Content-Length': content.length }).end(content)
    })

  it('is refused without a cache, and the log says what to grant', async () => {
    untagged(bytes)
    expect(await failure(create().open(archiveOf(sha256)))).toMatchObject({ status: 404 })
    const line = lines.find((each) => each.includes('archive not served'))
    expect(JSON.parse(line ?? '{}')).toMatchObject({
      level: 'warn',
      namespace: 'mallory',
      place: 's3://victim/vpc/1.zip',
      message: expect.stringMatching(/grant s3:.* annotation depot\.internal\/storage/),
    })
  })

  it('is served from checked copies in the cache', async () => {
    untagged(bytes)
    const archives = create({ cache: true })
    expect(await read(archives, archiveOf(sha256))).toEqual(bytes)
    expect(await archives.sizeOf(archiveOf(sha256))).toBe(bytes.length)
    untagged(randomBytes(600_000))
    expect(await read(archives, archiveOf(sha256))).toEqual(bytes)
    expect(await failure(archives.open(archiveOf(wrong)))).toMatchObject({ status: 404 })
  })
})

it.each([false, true])(
  'a first read of more than 25 s continues while the caller is asked to come back; cache: %s',
  async (cache) => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    try {
      const held = Promise.withResolvers<void>()
      store.behave((response, request, part) => {
        if (request.method === 'HEAD') return serve(bytes)(response, request, part)
        serveSome(bytes, 300_000, () => {
          void held.promise.then(() => response.end(bytes.subarray(300_000)))
        })(response, request, part)
      })
      const archives = create({ cache })
      const answers: unknown[] = []
      void failure(archives.sizeOf(archiveOf(sha256))).then((answer) => answers.push(answer))
      while (answers.length === 0) {
        await turn()
        await vi.advanceTimersByTimeAsync(store.requests >= 2 ? 1000 : 0)
      }
      expect(answers[0]).toMatchObject({ status: 503, message: expect.stringContaining('again') })
      vi.useRealTimers()
      held.resolve()
      await vi.waitFor(async () => {
        store.behave(serve(bytes))
        expect(await archives.sizeOf(archiveOf(sha256))).toBe(bytes.length)
      })
    } finally {
      vi.useRealTimers()
    }
  },
)
