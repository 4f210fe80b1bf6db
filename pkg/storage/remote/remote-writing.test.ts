import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest'
import { openArchiveStore } from '../archive-store.ts'
import { localFiles } from '../writing.fixture.ts'

type Answer = (request: IncomingMessage, response: ServerResponse) => unknown

const { file, remove } = localFiles()
const archive = file(Buffer.alloc(3_000_000, 'an archive'))
const objects = new Map<string, Buffer>()
/** Instead of storing, one after the other. */
let faults: Answer[]
let puts: { conditional: boolean }[]

const server = createServer((request, response) => {
  const path = new URL(request.url ?? '', 'http://store').pathname
  const stored = objects.get(path)
  if (request.method === 'HEAD') {
    response.writeHead(stored ? 200 : 404, { 'content-length': stored?.length ?? 0 }).end()
    return
  }
  puts.push({ conditional: request.headers['if-none-match'] === '*' })
  const fault = faults.shift()
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
  puts = []
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
const status =
  (code: number): Answer =>
  (request, response) => {
    request.resume().on('end', () => response.writeHead(code).end())
  }

it('writes where the server reads', async () => {
  expect(place().prefix).toBe('team/vpc/')
  expect(await put()).toBe('created')
  expect([...objects.keys()]).toEqual(['/archives/team/vpc/1.zip'])
  expect(puts).toEqual([{ conditional: true }])
})

it.each([
  { what: 'is cut', fault: ((request) => request.once('data', () => request.destroy())) as Answer },
  { what: 'is answered by nothing', fault: ((request) => request.destroy()) as Answer },
  { what: 'is too much for the store', fault: status(503) },
])('an upload that $what is sent again, whole', async ({ fault }) => {
  faults = [fault, fault]
  expect(await put()).toBe('created')
  expect(puts).toHaveLength(3)
  expect(objects.get('/archives/team/vpc/1.zip')).toHaveLength(3_000_000)
})

it('an upload that never works stores nothing, and says so', async () => {
  faults = Array.from({ length: 9 }, () => (request: IncomingMessage) => request.destroy())
  await expect(put()).rejects.toMatchObject({ reason: 'Unavailable' })
  expect(objects.size).toBe(0)
})

it('a store that knows no conditions is asked without', async () => {
  faults = [status(501)]
  expect(await put()).toBe('created')
  expect(puts).toEqual([{ conditional: true }, { conditional: false }])
})

it('what another one stored meanwhile is left as it is', async () => {
  faults = [
    (request, response) => {
      objects.set('/archives/team/vpc/1.zip', Buffer.from('of another'))
      status(412)(request, response)
    },
  ]
  expect(await put()).toBe('exists')
})

it('what is there is not sent', async () => {
  objects.set('/archives/team/vpc/1.zip', Buffer.from('of another'))
  expect(await put()).toBe('exists')
  expect(puts).toEqual([])
})

it.each([
  { code: 403, message: 'the archive storage refuses this registry; tell its operator' },
  { code: 404, message: 'there is no bucket or container for the archives: create it' },
])('is reported to the operator where the store answers $code', async ({ code, message }) => {
  faults = [status(code)]
  await expect(put()).rejects.toMatchObject({ reason: 'BadGateway', message })
})
