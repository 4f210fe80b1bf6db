import { createHash, randomBytes } from 'node:crypto'
import { createServer } from 'node:net'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { RegistryError } from '../../../base/errors/errors.ts'
import { createLogger, createMetrics, type Metrics } from '../../../base/telemetry/telemetry.ts'
import { createArchives } from '../archives.ts'
import { bytesOf } from '../conformance.fixture.ts'
import type { Archive, Archives } from '../types.ts'
import {
  type Behaviour,
  type MisbehavingStore,
  serve,
  serveSome,
  startMisbehavingStore,
} from './misbehaving-store.fixture.ts'

const sizeBytes = 1_000_000
const bytes = randomBytes(sizeBytes)
const sha256 = createHash('sha256').update(bytes).digest('hex')
const other = randomBytes(sizeBytes)
const archive: Archive = {
  location: {
    storage: { s3: { bucket: 'secret-bucket', region: 'eu-west-1' } },
    configName: 'vpc',
    fileName: '1.0.0.zip',
  },
  sha256,
  label: { namespace: 'acme', kind: 'Module', name: 'vpc', version: '1.0.0' },
}

let store: MisbehavingStore
let archives: Archives
let metrics: Metrics
let lines: string[]
let nowMs: number

function createAt(endpoint: string, keys: object = { accessKeyId: 'a', secretAccessKey: 'b' }) {
  metrics = createMetrics({ version: 'test' })
  lines = []
  nowMs = Date.now()
  return createArchives({
    grants: { text: '*=*', annotation: 'depot.internal/storage' },
    filesystemMountPath: '/nowhere',
    s3: { endpoint, ...keys },
    timings: { connectMs: 1000, firstByteMs: 300, idleMs: 300, credentialsMs: 500, backoffMs: 2 },
    log: createLogger('info', { write: (line) => void lines.push(line) }),
    metrics,
    clock: () => nowMs,
  })
}

beforeEach(async () => {
  store = await startMisbehavingStore(bytes)
  archives = createAt(store.endpoint)
})
afterEach(() => store.stop())

/** Downloads like a client: returns all bytes, or an error. */
async function download(from: Archive = archive): Promise<Buffer | RegistryError> {
  try {
    const { body } = await archives.open(from)
    return await bytesOf(body)
  } catch (error) {
    if (error instanceof RegistryError) return error
    throw error
  }
}

const answer =
  (status: number, headers: Record<string, string> = {}, code = ''): Behaviour =>
  (response) =>
    response.writeHead(status, headers).end(code && `<Error><Code>${code}</Code></Error>`)

const cut = (response: { destroy(): unknown }) => void response.destroy()

describe('a body whose connection fails resumes', () => {
  it.each([0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9])('after %f of it', async (share) => {
    const broken = serveSome(bytes, Math.max(1, share * sizeBytes), cut)
    let first = true
    store.behave((response, request, part) => {
      const behaviour = first ? broken : serve(bytes)
      first = false
      behaviour(response, request, part)
    })
    expect(await download()).toEqual(bytes)
    expect(store.requests).toBe(2)
  })

  it('repeatedly, as long as it makes progress', async () => {
    store.behave(serveSome(bytes, sizeBytes / 10, cut))
    expect(await download()).toEqual(bytes)
    expect(lines).toEqual([])
  })

  it('but not if it stalls each time', async () => {
    let first = true
    store.behave((response, request, part) => {
      serveSome(bytes, first ? 1000 : 0, () => {})(response, request, part)
      first = false
    })
    expect(await download()).toMatchObject({ retry: true })
    expect(store.requests).toBeLessThan(10)
  })

  it('but not with bytes of another object', async () => {
    const broken = serveSome(bytes, 1000, cut)
    const conditions: (string | undefined)[] = []
    store.behave((response, request, part) => {
      const behaviour = conditions.length === 0 ? broken : answer(412)
      conditions.push(request.headers['if-match'])
      behaviour(response, request, part)
    })
    expect(await download()).toMatchObject({
      reason: 'Unavailable',
      message: expect.stringContaining('changed'),
    })
    expect(conditions).toEqual([undefined, '"one"'])
  })

  it.each([
    { what: 'other bytes', rest: serve(other), reason: 'BadGateway' },
    { what: 'the whole instead', rest: wholeInstead(bytes), reason: 'BadGateway' },
  ])('but not with $what', async ({ rest, reason }) => {
    const broken = serveSome(bytes, 1000, cut)
    let first = true
    store.behave((response, request, part) => {
      const behaviour = first ? broken : rest
      first = false
      behaviour(response, request, part)
    })
    expect(await download()).toMatchObject({ reason })
  })
})

function wholeInstead(whole: Buffer): Behaviour {
  return (response) =>
    response.writeHead(200, { 'Content-Length': whole.length, ETag: '"one"' }).end(whole)
}

describe('a wrong archive is never sent completely', () => {
  it.each([
    { what: 'other bytes', served: other },
    { what: 'one bit flipped at the end', served: flipLast(bytes) },
    { what: 'one byte less', served: bytes.subarray(1) },
    { what: 'one byte more', served: Buffer.concat([bytes, Buffer.from('x')]) },
    { what: 'nothing', served: Buffer.alloc(0) },
  ])('$what', async ({ served }) => {
    store.behave(wholeInstead(served))
    expect(await download()).toMatchObject({ reason: 'BadGateway', status: 502 })
    expect(lines.join()).toContain('"version":"1.0.0"')
    const aborted = await metrics.getSingleMetricAsString('depot_archive_aborts_total')
    expect(aborted).toContain('{backend="s3",reason="ChecksumMismatch"} 1')
  })

  it('is not read again for a minute, whatever the number of requests', async () => {
    store.behave(wholeInstead(other))
    expect(await download()).toMatchObject({ reason: 'BadGateway' })
    for (let request = 0; request < 50; request += 1) {
      expect(await download()).toMatchObject({
        reason: 'BadGateway',
        headers: { 'Retry-After': '60' },
      })
    }
    const storage = { ...archive.location.storage, presign: { enabled: true } }
    const location = { ...archive.location, storage }
    const signing = archives.presign({ ...archive, location })
    await expect(signing).rejects.toMatchObject({ reason: 'BadGateway' })
    // One request that read it, and one that checked whether it had changed.
    expect(store.requests).toBe(2)
    store.behave(serve(bytes))
    nowMs += 60_001
    expect(await download()).toEqual(bytes)
  })

  it('is read again as soon as its entity tag changes', async () => {
    store.behave(wholeInstead(other))
    expect(await download()).toMatchObject({ reason: 'BadGateway' })
    store.behave((response) => {
      response.writeHead(200, { 'Content-Length': sizeBytes, ETag: '"two"' }).end(bytes)
    })
    nowMs += 1001
    expect(await download()).toEqual(bytes)
  })

  it('if it is shorter than promised, even after retries', async () => {
    store.behave((response, request, part) => {
      serveSome(bytes.subarray(0, 500_000), 500_000, cut)(response, request, part)
    })
    const short = { ...archive, sha256 }
    expect(await download(short)).toBeInstanceOf(RegistryError)
  })
})

function flipLast(original: Buffer): Buffer {
  const copy = Buffer.from(original)
  copy.writeUInt8(copy.readUInt8(sizeBytes - 1) ^ 1, sizeBytes - 1)
  return copy
}

describe('a store that refuses', () => {
  it.each([
    { name: '401', behaviour: answer(401), reason: 'StorageCredentialsRefused', requests: 1 },
    {
      name: '403 for a key',
      behaviour: answer(403, {}, 'InvalidAccessKeyId'),
      reason: 'StorageCredentialsRefused',
      requests: 1,
    },
    {
      name: '403 for an object',
      behaviour: answer(403, {}, 'AccessDenied'),
      reason: 'BadGateway',
      requests: 1,
    },
    { name: '404', behaviour: answer(404, {}, 'NoSuchKey'), reason: 'NotFound', requests: 1 },
    {
      name: '404 bucket',
      behaviour: answer(404, {}, 'NoSuchBucket'),
      reason: 'NotFound',
      requests: 1,
    },
    { name: '500', behaviour: answer(500, {}, 'InternalError'), reason: 'BadGateway', requests: 3 },
    { name: '502', behaviour: answer(502), reason: 'BadGateway', requests: 3 },
    { name: '503', behaviour: answer(503, {}, 'SlowDown'), reason: 'Unavailable', requests: 3 },
    {
      name: '503 with Retry-After',
      behaviour: answer(503, { 'Retry-After': '7' }),
      reason: 'Unavailable',
      requests: 1,
    },
    { name: '504', behaviour: answer(504), reason: 'GatewayTimeout', requests: 3 },
    { name: 'a cut before the head', behaviour: cut, reason: 'Unavailable', requests: 3 },
    { name: 'no answer', behaviour: () => {}, reason: 'GatewayTimeout', requests: 1 },
    { name: 'nonsense', behaviour: answer(206), reason: 'BadGateway', requests: 1 },
  ])('with $name is $reason', async ({ behaviour, reason, requests }) => {
    store.behave(behaviour)
    const error = await download()
    expect(error).toMatchObject({ reason })
    expect(store.requests).toBeGreaterThanOrEqual(requests)
    expect(store.requests).toBeLessThanOrEqual(requests + 1)
    expect((error as RegistryError).message).not.toMatch(/secret-bucket|127\.0\.0\.1|vpc/)
    const counted = await metrics.getSingleMetricAsString('depot_storage_errors_total')
    expect(counted).toContain(`{backend="s3",reason="${reason}"} 1`)
  })

  it('passes on when to retry', async () => {
    store.behave(answer(503, { 'Retry-After': '7' }))
    expect(await download()).toMatchObject({ headers: { 'Retry-After': '7' } })
    store.behave(answer(429, { 'Retry-After': '99999' }))
    expect(await download()).toMatchObject({ headers: { 'Retry-After': '120' } })
  })

  it('passes on a date for a retry as seconds from now', async () => {
    const date = new Date(Date.now() + 110_000).toUTCString()
    store.behave(answer(503, { 'Retry-After': date }))
    const { headers } = (await download()) as RegistryError
    expect(Number(headers['Retry-After'])).toBeGreaterThan(0)
    expect(Number(headers['Retry-After'])).toBeLessThanOrEqual(110)
  })

  it.each(['0', 'soon', 'Sun, 06 Nov 1994 08:49:37 GMT'])(
    'ignores a Retry-After of %s',
    async (retryAfter) => {
      store.behave(answer(503, { 'Retry-After': retryAfter }))
      expect(await download()).toMatchObject({
        message: 'the archive storage is overloaded; try again in a moment',
        headers: {},
      })
    },
  )

  it.each([
    [403, 'AccessDenied', /secret-bucket.*403 AccessDenied.*AWS_ACCESS_KEY_ID/],
    [404, 'NoSuchBucket', /secret-bucket.*no bucket of this name.*storageConfig/],
  ])('with %i %s logs which settings to check', async (status, code, cause) => {
    store.behave(answer(status, {}, code))
    expect((await download()) as RegistryError).toMatchObject({
      cause: { message: expect.stringMatching(cause) },
    })
  })

  it('is asked again, and then works', async () => {
    let requests = 0
    store.behave((response, request, part) => {
      requests += 1
      const behaviour = requests < 3 ? answer(500) : serve(bytes)
      behaviour(response, request, part)
    })
    expect(await download()).toEqual(bytes)
  })
})

describe('a redirect', () => {
  it.each([301, 302, 307, 308])('%i is not followed', async (status) => {
    let connections = 0
    const canary = createServer((socket) => {
      connections += 1
      socket.destroy()
    }).listen(0, '127.0.0.1')
    await new Promise((resolve) => canary.once('listening', resolve))
    const { port } = canary.address() as { port: number }
    store.behave(answer(status, { Location: `http://127.0.0.1:${port}/elsewhere` }))
    expect(await download()).toMatchObject({ reason: 'BadGateway' })
    canary.close()
    expect(connections).toBe(0)
  })
})

describe('an unreachable store', () => {
  it.each([
    { what: 'a host without an address', endpoint: 'http://nowhere.invalid' },
    { what: 'a port without a listener', endpoint: 'http://127.0.0.1:1' },
  ])('$what is Unavailable', async ({ endpoint }) => {
    archives = createAt(endpoint)
    expect(await download()).toMatchObject({
      reason: 'Unavailable',
      message: expect.not.stringContaining(new URL(endpoint).hostname),
    })
  })

  it('works again later', async () => {
    const { port } = store
    store.stop()
    expect(await download()).toMatchObject({ reason: 'Unavailable' })
    store = await startMisbehavingStore(bytes)
    archives = createAt(store.endpoint)
    expect(await download()).toEqual(bytes)
    expect(port).not.toBe(0)
  })

  it('says which variable to set if there are no credentials', async () => {
    archives = createAt(store.endpoint, {})
    const error = await download()
    expect(error).toMatchObject({
      reason: 'StorageCredentialsRefused',
      cause: { message: expect.stringContaining('AWS_ACCESS_KEY_ID') },
    })
    expect(store.requests).toBe(0)
  })
})
