import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmdirSync } from 'node:fs'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it, onTestFinished, vi } from 'vitest'
import { defaultLimits } from '../../archives/archive/archive.ts'
import { tarGzOf } from '../../archives/archive/packed.fixture.ts'
import { openArchiveStore } from '../../archives/storage/storage.ts'
import { createMetrics } from '../../base/telemetry/telemetry.ts'
import { ApiError } from '../../records/kube/kube.ts'
import { begin, mib, PublishingApp, send } from './endpoint.fixture.ts'
import type { PublishRoutesOptions } from './endpoint.ts'

let app: PublishingApp
beforeEach(async () => {
  app = new PublishingApp()
})
afterEach(() => app.close())

const path = 'modules/team/vpc/aws/1.0.0'

it('says file and line of what cannot be parsed', async () => {
  await app.open()
  const put = async (version: string, type: string) => {
    const content = `variable "x" {\n  type = ${type}\n}\n`
    const archive = await tarGzOf([{ path: 'main.tf', content }])
    return send(app.routes(), `modules/team/vpc/aws/${version}`, archive)
  }
  expect(await put('1.0.0', '')).toMatchObject({
    status: 201,
    body: { incomplete: [expect.stringMatching(/^main\.tf:2: Invalid expression/)] },
  })
  expect((await put('1.0.1', 'string')).body.incomplete).toBeUndefined()
})

it('reserves space for what has arrived only, and an eighth of the spool for modules at most', async () => {
  await app.open()
  const routes = app.routes()
  const uploads = Array.from({ length: 8 }, () => begin(routes, path))
  await vi.waitFor(() => expect(app.spool.reservedBytes).toBe(8 * mib))
  const refused = await begin(routes, path).answer
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '5'])
  const announced = await begin(routes, path, undefined, {
    headers: { 'content-length': `${mib}` },
  }).answer
  expect(announced.status).toBe(503)
  const file = 'providers/team/cmdb/1.0.0/manifest.json'
  expect((await send(routes, file, Buffer.from('{}'))).status).toBe(201)
  await Promise.all(uploads.map(({ end }) => end()))
  const answers = await Promise.all(uploads.map(({ answer }) => answer))
  // The spool has space for them, and none is an archive.
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([422]))
  // The file of the release waits for the others.
  expect(app.spool.reservedBytes).toBe(mib)
})

it('ends an upload whose bytes do not arrive', async () => {
  await app.open()
  const { answer } = begin(app.routes({ mibMs: 50 }), path)
  expect((await answer).status).toBe(400)
  expect(app.spool.reservedBytes).toBe(0)
})

it('refuses what no archive changes before any of it arrives', async () => {
  await app.open()
  const routes = app.routes()
  const unknown = await begin(routes, 'modules/team/dns/aws/1.0.0').answer
  expect(unknown).toMatchObject({ status: 404, body: { refusals: [{ reason: 'NoParent' }] } })
  const archive = await tarGzOf([{ path: 'main.tf', content: '' }])
  expect((await send(routes, 'modules/team/vpc/aws/1.0.1', archive)).status).toBe(201)
  const older = await begin(routes, path).answer
  expect(older).toMatchObject({ status: 422, body: { refusals: [{ reason: 'OlderVersion' }] } })
  expect((await send(routes, 'modules/team/vpc/aws/1.0.1', archive)).status).toBe(200)
})

it('creates a missing module from the template, complete and without its source', async () => {
  await app.open()
  const storage = { fileSystem: { directoryPath: 'shared' } }
  const source = { type: 'git', url: 'https://example.com/x.git' }
  const own = { fileFormat: 'zip', versionPolicy: 'Enforce', storageConfig: storage }
  await app.add('Module', 'template', {
    moduleConfig: { ...own, name: 'other', provider: 'none', source, versionConstraints: '< 1' },
  })
  const rights: unknown[] = []
  const publisherOf: PublishRoutesOptions['publisherOf'] = async (_, asked) => {
    rights.push(asked)
    return {}
  }
  const archive = await tarGzOf([{ path: 'main.tf', content: '' }])
  const create = (template: string, name = 'dns') =>
    send(app.routes({ template, publisherOf }), `modules/team/${name}/aws/1.0.0`, archive)
  expect(await create('template')).toMatchObject({ status: 201, body: { newModule: true } })
  expect(app.objects.get('Module', 'team', 'dns-aws')?.spec).toEqual({
    moduleConfig: { ...own, name: 'dns', provider: 'aws' },
    versions: [],
  })
  expect(await create('template')).toMatchObject({ status: 200, body: { newModule: false } })
  expect(rights).toEqual([
    { kind: 'Module', namespace: 'team', name: 'dns-aws', isNew: true },
    { kind: 'Module', namespace: 'team', name: 'dns-aws', isNew: false },
  ])
  expect((await create('team/template', 'net')).status).toBe(201)
  const absent = await create('absent', 'none')
  expect(absent.status).toBe(404)
  expect(absent.body.errors?.join()).toContain('no Module team/absent as its template')
})

it('answers 413 to a body that is larger than announced, and to one that unpacks to too much', async () => {
  await app.open()
  const { module } = defaultLimits
  const limitedTo = (limit: Partial<typeof module>) =>
    app.routes({ limits: { ...defaultLimits, module: { ...module, ...limit } } })
  const bomb = await tarGzOf([{ path: 'main.tf', content: Buffer.alloc(2 * mib) }])
  for (const [routes, message] of [
    [limitedTo({ packedBytes: 100 }), 'the body is larger than 100 bytes'],
    [limitedTo({ unpackedBytes: mib }), 'more than 1 MiB'],
  ] as const) {
    const upload = begin(routes, path, bomb)
    void upload.end().catch(() => undefined)
    const { status, body } = await upload.answer
    expect([status, body.errors]).toEqual([413, [expect.stringContaining(message)]])
  }
  expect(app.spool.reservedBytes).toBe(0)
  expect(app.objects.list('Version')).toEqual([])
})

it('counts how attempts ended', async () => {
  await app.open()
  const metrics = createMetrics({ version: '0' })
  const routes = app.routes({ metrics })
  const archive = await tarGzOf([{ path: 'main.tf', content: '' }])
  await send(routes, path, archive)
  await send(routes, path, archive)
  await send(routes, path, Buffer.from('none'))
  const text = await metrics.metrics()
  for (const labels of [
    'outcome="published",reason=""',
    'outcome="exists",reason=""',
    'outcome="refused",reason="NotAnArchive"',
  ]) {
    expect(text).toContain(`depot_publish_total{kind="Module",${labels}} 1`)
  }
  expect(text).toContain(
    `depot_publish_received_bytes_total{kind="Module"} ${2 * archive.length + 4}`,
  )
  expect(text).toContain('depot_publish_duration_seconds_count{kind="Module"} 2')
})

it.runIf(process.getuid?.() === 0)('says so if the disk of the spool is full', async () => {
  const disk = mkdtempSync(join(tmpdir(), 'depot-disk-'))
  execFileSync('sh', ['-c', 'mount -t tmpfs -o size=1m none "$0"', disk])
  onTestFinished(() => {
    execFileSync('sh', ['-c', 'umount "$0"', disk])
    rmdirSync(disk)
  })
  await app.open(join(disk, 'spool'))
  const full = await send(app.routes(), path, Buffer.alloc(2 * mib))
  expect(full).toMatchObject({
    status: 503,
    body: { errors: [expect.stringContaining('the disk of the controller')] },
  })
  await app.spool.close()
})

it.each([
  ['Forbidden', 422, 'exceeded quota', 'refused'],
  ['Invalid', 422, 'denied by a webhook', 'refused'],
  ['Unavailable', 503, 'try again in a moment', 'failed'],
] as const)('answers what the cluster says: %s', async (reason, status, text, outcome) => {
  await app.open()
  const metrics = createMetrics({ version: '0' })
  const message = reason === 'Unavailable' ? '10.0.0.1' : text
  const create = async () => {
    throw new ApiError(reason, message)
  }
  const objects = { ...app.objects, create }
  const archive = await tarGzOf([{ path: 'main.tf', content: '' }])
  const answer = await send(app.routes({ objects, metrics }), path, archive)
  expect(answer.status).toBe(status)
  expect(answer.body.errors?.join()).toContain(text)
  expect(answer.body.errors?.join()).not.toContain('10.0.0.1')
  expect(answer.headers.get('retry-after')).toBe(status === 503 ? '5' : null)
  const counted = `outcome="${outcome}",reason="${reason}"`
  expect(await metrics.metrics()).toContain(`depot_publish_total{kind="Module",${counted}} 1`)
})

it('checks the right to the name that a new module gets', async () => {
  await app.open()
  const storage = { fileSystem: { directoryPath: 'shared' } }
  await app.add('Module', 'template', { moduleConfig: { storageConfig: storage } })
  await app.add('Module', 'dns-aws', { moduleConfig: { name: 'x', provider: 'google' } })
  const names: string[] = []
  const publisherOf: PublishRoutesOptions['publisherOf'] = async (_, { name }) => {
    names.push(name)
    return {}
  }
  const archive = await tarGzOf([{ path: 'main.tf', content: '' }])
  const routes = app.routes({ template: 'template', publisherOf })
  expect((await send(routes, 'modules/team/dns/aws/1.0.0', archive)).status).toBe(201)
  expect(names).toEqual([expect.stringMatching(/^dns-aws-.+/)])
  const created = app.objects.get('Module', 'team', names[0] ?? '')
  expect(created?.spec).toMatchObject({ moduleConfig: { name: 'dns', provider: 'aws' } })
})

it('packs modules while storage of others does not answer', async () => {
  await app.open()
  const sockets: Socket[] = []
  const stalled = createServer((socket) => {
    sockets.push(socket.on('error', () => undefined))
  })
  await once(stalled.listen(0, '127.0.0.1'), 'listening')
  const { port } = stalled.address() as AddressInfo
  const s3 = { endpoint: `http://127.0.0.1:${port}`, accessKeyId: 'a', secretAccessKey: 'b' }
  const storageConfig = { s3: { bucket: 'bucket', region: 'eu-west-1' } }
  await app.add('Module', 'slow', { moduleConfig: { provider: 'aws', storageConfig } })
  const routes = app.routes({
    archives: openArchiveStore({ filesystemMountPath: app.archives, s3 }),
  })
  const archive = await tarGzOf([{ path: 'main.tf', content: '' }])
  const leaving = new AbortController()
  let answered = 0
  const waiting = [1, 2, 3, 4].map((major) =>
    send(routes, `modules/team/slow/aws/${major}.0.0`, archive, {
      signal: leaving.signal,
    }).finally(() => {
      answered += 1
    }),
  )
  await vi.waitFor(() => expect(sockets.length).toBeGreaterThanOrEqual(4))
  expect((await send(routes, path, archive)).status).toBe(201)
  expect(answered).toBe(0)
  leaving.abort()
  for (const socket of sockets) socket.destroy()
  stalled.close()
  await Promise.allSettled(waiting)
})
