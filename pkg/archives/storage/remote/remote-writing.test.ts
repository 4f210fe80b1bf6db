import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { openArchiveStore } from '../places.ts'
import { localFiles } from '../writing.fixture.ts'

type Answer = (request: IncomingMessage, response: ServerResponse) => unknown

const { file, remove } = localFiles()
const archive = file(Buffer.alloc(3_000_000, 'an archive'))
const objects = new Map<string, Buffer>()
/** Failures instead of storing, one after the other. */
let faults: Answer[]
/** The status and the code with which the store refuses an upload permanently. */
let refuses: (headers: IncomingHttpHeaders) => [number, string] | undefined
let puts: { conditional: boolean; checksum: boolean }[]
let reads: number

const server = createServer((request, response) => {
  const path = new URL(request.url ?? '', 'http://store').pathname
  const stored = objects.get(path)
  if (request.method === 'HEAD') {
    response.writeHead(stored ? 200 : 404, { 'content-length': stored?.length ?? 0 }).end()
    return
  }
  if (request.method === 'GET') {
    reads += 1
    response.writeHead(stored ? 200 : 404, { 'content-length': stored?.length ?? 0 }).end(stored)
    return
  }
  puts.push({
    conditional: request.headers['if-none-match'] === '*',
    checksum: 'x-amz-checksum-sha256' in request.headers,
  })
  const refused = refuses(request.headers)
  const fault = refused === undefined ? faults.shift() : status(...refused)
  if (fault !== undefined) {
    fault(request, response)
    return
  }
  const store = async () => {
    objects.set(path, await buffer(request))
    response.end()
  }
  store().catch(() => undefined)
})

beforeAll(async () => {
  await new Promise<void>((done) => {
    server.listen(0, '127.0.0.1', done)
  })
})
afterAll(() => {
  server.closeAllConnections()
  server.close()
  remove()
})
beforeEach(() => {
  faults = []
  refuses = () => undefined
  puts = []
  reads = 0
})
afterEach(() => objects.clear())

function place() {
  const { port } = server.address() as AddressInfo
  const store = openArchiveStore({
    filesystemMountPath: '/nowhere',
    s3: { endpoint: `http://127.0.0.1:${port}`, accessKeyId: 'a', secretAccessKey: 'b' },
    timings: { backoffMs: 1, firstByteMs: 5000 },
  })
  return store.for({ s3: { bucket: 'archives', region: 'eu-west-1', key: '/team/' } }, 'vpc')
}

const put = () => {
  const { driver, object } = place()
  return driver.put(object('1.zip'), archive)
}
function status(number: number, code = ''): Answer {
  return (request, response) => {
    const body = code && `<Error><Code>${code}</Code></Error>`
    request.resume().on('end', () => response.writeHead(number).end(body))
  }
}

it('writes to the place that the server reads from', async () => {
  expect(place().prefix).toBe('team/vpc/')
  expect(await put()).toBe('created')
  expect([...objects.keys()]).toEqual(['/archives/team/vpc/1.zip'])
  expect(puts).toEqual([{ conditional: true, checksum: true }])
})

it.each([
  { what: 'is cut', fault: ((request) => request.once('data', () => request.destroy())) as Answer },
  { what: 'is answered by nothing', fault: ((request) => request.destroy()) as Answer },
  { what: 'is too much for the store', fault: status(503) },
])('an upload that $what is sent again, as a whole', async ({ fault }) => {
  faults = [fault, fault]
  expect(await put()).toBe('created')
  expect(puts).toHaveLength(3)
  expect(objects.get('/archives/team/vpc/1.zip')).toHaveLength(3_000_000)
})

it('an upload that always fails stores nothing, and reports the failure', async () => {
  faults = Array.from({ length: 9 }, () => (request: IncomingMessage) => request.destroy())
  await expect(put()).rejects.toMatchObject({ reason: 'Unavailable' })
  expect(objects.size).toBe(0)
})

describe('a store that does not support all headers', () => {
  const whole = { conditional: true, checksum: true }
  const unchecked = { conditional: true, checksum: false }
  const unconditional = { conditional: false, checksum: true }
  const plain = { conditional: false, checksum: false }
  const checksum = (headers: IncomingHttpHeaders) => 'x-amz-checksum-sha256' in headers
  const condition = (headers: IncomingHttpHeaders) => 'if-none-match' in headers
  const either = (headers: IncomingHttpHeaders) => checksum(headers) || condition(headers)

  it.each([
    {
      what: 'no checksums (400)',
      refused: checksum,
      answer: [400, 'InvalidArgument'] as const,
      first: [whole, unchecked],
      later: [unchecked],
    },
    {
      what: 'no checksums (501)',
      refused: checksum,
      answer: [501, 'NotImplemented'] as const,
      first: [whole, unchecked],
      later: [unchecked],
    },
    {
      what: 'no conditions (501)',
      refused: condition,
      answer: [501, 'NotImplemented'] as const,
      first: [whole, unchecked, unconditional],
      later: [whole, unconditional],
    },
    {
      what: 'neither (501)',
      refused: either,
      answer: [501, 'NotImplemented'] as const,
      first: [whole, unchecked, unconditional, plain],
      later: [unchecked, plain],
    },
  ])('that knows $what gets requests without it', async ({ refused, answer, first, later }) => {
    refuses = (headers) => (refused(headers) ? [...answer] : undefined)
    const { driver, object } = place()
    expect(await driver.put(object('1.zip'), archive)).toBe('created')
    expect(puts).toEqual(first)
    puts = []
    expect(await driver.put(object('2.zip'), archive)).toBe('created')
    expect(puts).toEqual(later)
    expect(await driver.verify(object('2.zip'), archive)).toBe(true)
    expect(reads).toBe(1)
  })

  it('reports its refusal if that has another cause', async () => {
    const { driver, object } = place()
    refuses = () => [400, 'ExpiredToken']
    await expect(driver.put(object('1.zip'), archive)).rejects.toMatchObject({
      reason: 'StorageCredentialsRefused',
      cause: { message: expect.stringContaining('answered 400 ExpiredToken') as string },
    })
    expect(puts).toEqual([whole, unchecked])
    refuses = () => undefined
    puts = []
    expect(await driver.put(object('1.zip'), archive)).toBe('created')
    expect(puts).toEqual([whole])
    refuses = () => [400, 'RequestTimeout']
    puts = []
    await expect(driver.put(object('2.zip'), archive)).rejects.toThrow('refuses this registry')
    expect(puts).toEqual([whole])
  })
})

it('leaves an object unchanged that another writer stored meanwhile', async () => {
  faults = [
    (request, response) => {
      objects.set('/archives/team/vpc/1.zip', Buffer.from('of another'))
      status(412)(request, response)
    },
  ]
  expect(await put()).toBe('exists')
})

it('does not send an existing object again', async () => {
  objects.set('/archives/team/vpc/1.zip', Buffer.from('of another'))
  expect(await put()).toBe('exists')
  expect(puts).toEqual([])
})

it.each([
  { code: 403, message: 'the archive storage refuses this registry; tell its operator' },
  { code: 404, message: 'there is no bucket or container for the archives: create it' },
])('is reported to the operator if the store answers $code', async ({ code, message }) => {
  faults = [status(code)]
  await expect(put()).rejects.toMatchObject({ reason: 'BadGateway', message })
})
