import { writeFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Hono } from 'hono'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { tarGzOf, zipOf } from '../../archives/archive/packed.fixture.ts'
import type { ServingEnv } from '../../base/serving/serving.ts'
import { begin, digestOf, mib, PublishingApp, send } from './endpoint.fixture.ts'
import { Staging } from './staging.ts'

let app: PublishingApp
let routes: Hono<ServingEnv>
beforeEach(async () => {
  app = new PublishingApp()
  await app.open()
  routes = app.routes()
})
afterEach(() => {
  vi.restoreAllMocks()
  return app.close()
})

const at = 'providers/team/cmdb/1.0.0'
const stem = 'terraform-provider-cmdb_1.0.0'

/** The files of a release, by their names. */
async function releaseOf(content: string, platforms = ['linux_amd64', 'darwin_arm64']) {
  const files = new Map<string, Buffer>()
  const sums: string[] = []
  for (const platform of platforms) {
    const name = `${stem}_${platform}.zip`
    const zip = await zipOf([
      { path: 'terraform-provider-cmdb_v1.0.0', content: `${content} ${platform}` },
    ])
    files.set(name, zip)
    sums.push(`${digestOf(zip)}  ${name}\n`)
  }
  files.set('SHA256SUMS', Buffer.from(sums.join('')))
  files.set('manifest.json', Buffer.from('{"metadata": {"protocol_versions": ["6.0"]}}'))
  return files
}

const listOf = (files: ReadonlyMap<string, Buffer>) =>
  JSON.stringify({
    files: Object.fromEntries(Array.from(files, ([name, bytes]) => [name, digestOf(bytes)])),
  })

const finish = (body = '', caller = 'ci') =>
  send(routes, `${at}/finish`, body, { method: 'POST', caller })

async function stage(files: ReadonlyMap<string, Buffer>, caller = 'ci') {
  const statuses: number[] = []
  for (const [name, bytes] of files) {
    statuses.push((await send(routes, `${at}/${name}`, bytes, { caller })).status)
  }
  return new Set(statuses)
}

const published = () =>
  app.objects
    .list('Version')
    .map(
      ({ spec }) =>
        spec as { operatingSystem: string; protocols: string[]; upload: { sha256: string } },
    )

it('publishes all files of a release once all are there, and asks for none again', async () => {
  const files = await releaseOf('one')
  const asked = await finish(listOf(files))
  expect(asked).toMatchObject({ status: 409, body: { refusals: [{ reason: 'FilesMissing' }] } })
  expect(asked.body.missing).toHaveLength(4)
  expect(await stage(files)).toEqual(new Set([201]))
  expect(published()).toEqual([])
  expect(await stage(files)).toEqual(new Set([200]))
  expect(await finish(listOf(files))).toMatchObject({ status: 201, body: { outcome: 'published' } })
  expect(published()).toMatchObject([
    { operatingSystem: 'darwin', protocols: ['6.0'] },
    { operatingSystem: 'linux', protocols: ['6.0'] },
  ])
  expect(app.spool.reservedBytes).toBe(0)
  expect(await finish(listOf(files))).toMatchObject({ status: 200, body: { outcome: 'exists' } })
})

it('publishes what was sent if the caller lists nothing', async () => {
  expect(await finish()).toMatchObject({ status: 409, body: { missing: [] } })
  await stage(await releaseOf('one'))
  expect((await finish()).status).toBe(201)
})

it('refuses other zips of a published version before they arrive, with both digests', async () => {
  const first = await releaseOf('one')
  await stage(first)
  await finish()
  const other = await releaseOf('other')
  const name = `${stem}_linux_amd64.zip`
  const zip = other.get(name) ?? Buffer.alloc(0)
  const answers = [await begin(routes, `${at}/${name}`, zip).answer, await finish(listOf(other))]
  for (const { status, body } of answers) {
    expect(status).toBe(409)
    for (const bytes of [zip, first.get(name) ?? zip]) {
      expect(body.errors?.join()).toContain(digestOf(bytes))
    }
  }
  expect(published()).toHaveLength(2)
})

it('keeps the files of callers apart, and lets one of two win', async () => {
  const [ours, theirs] = [await releaseOf('ours'), await releaseOf('theirs')]
  await stage(ours, 'us')
  expect((await finish('', 'them')).status).toBe(409)
  await stage(theirs, 'them')
  const answers = await Promise.all([finish(listOf(ours), 'us'), finish(listOf(theirs), 'them')])
  expect(answers.map(({ status }) => status)).toEqual([201, 409])
  const [, lost] = answers
  for (const files of [ours, theirs]) {
    const zip = files.get(`${stem}_darwin_arm64.zip`)
    expect(lost?.body.errors?.join()).toContain(digestOf(zip ?? Buffer.alloc(0)))
  }
  expect(app.spool.reservedBytes).toBe(0)
})

it('takes no file of another build while it publishes', async () => {
  const [one, other] = [await releaseOf('one'), await releaseOf('other')]
  const { objects } = app
  const create = objects.create.bind(objects)
  const late: Awaited<ReturnType<typeof send>>[] = []
  vi.spyOn(objects, 'create').mockImplementation(async (object) => {
    const [[name, bytes] = ['', Buffer.alloc(0)] as const] = other
    late.push(await send(routes, `${at}/${name}`, bytes))
    return create(object)
  })
  await stage(one)
  expect((await finish(listOf(one))).status).toBe(201)
  expect(late.map(({ status }) => status)).toEqual([503, 503])
  expect(published().map(({ upload }) => upload.sha256)).toEqual(
    Array.from(one.values(), digestOf).slice(0, 2).toReversed(),
  )
  expect(app.spool.reservedBytes).toBe(0)
})

it('publishes nothing of a release that lacks a file, has another one, or does not match', async () => {
  const files = await releaseOf('one')
  const [zip = ''] = files.keys()
  const bytes = files.get(zip) ?? Buffer.alloc(0)
  await stage(new Map([...files].slice(1)))
  expect((await finish()).body.errors?.join()).toContain('lists zips for linux_amd64')
  await send(routes, `${at}/${zip}`, bytes)
  const [extra = ['', Buffer.alloc(0)] as const] = await releaseOf('one', ['windows_amd64'])
  await send(routes, `${at}/${extra[0]}`, extra[1])
  expect((await finish()).body.errors?.join()).toContain('has none for it')
  const other = await releaseOf('other')
  await send(routes, `${at}/${zip}`, other.get(zip) ?? bytes)
  expect((await finish(listOf(files))).body.missing).toEqual([zip])
  expect(published()).toEqual([])
  await send(routes, `${at}/${zip}`, bytes)
  // The list leaves the other file out.
  expect((await finish(listOf(files))).status).toBe(201)
  expect(published()).toHaveLength(2)
})

it.each([
  [422, 'is not a file of this release', 'terraform-provider-cmdb_2.0.0_linux_amd64.zip', {}],
  [415, 'has Content-Type', `${stem}_linux_amd64.zip`, { 'content-type': 'text/html' }],
  [422, 'X-Depot-Sha256 says', 'SHA256SUMS', { 'x-depot-sha256': 'a'.repeat(64) }],
  [413, 'is larger than', 'SHA256SUMS', { 'content-length': `${2 * mib}` }],
])('answers %i, %s, to a PUT of %s', async (status, words, name, headers) => {
  const answer = await send(routes, `${at}/${name}`, Buffer.from('x'), { headers })
  expect(answer.status).toBe(status)
  expect(answer.body.errors?.join()).toContain(words)
  expect(app.spool.reservedBytes).toBe(0)
})

it('answers 404 without a Provider, and 400 to a list that it cannot read', async () => {
  const absent = await send(routes, 'providers/team/other/1.0.0/SHA256SUMS', Buffer.from('x'))
  expect(absent.status).toBe(404)
  for (const body of ['{', '{"files": {"SHA256SUMS": "none"}}']) {
    expect((await finish(body)).status).toBe(400)
  }
})

it('keeps nothing of an upload that breaks off, and takes the file again', async () => {
  const files = await releaseOf('one')
  const [[name, bytes] = ['', Buffer.alloc(0)] as const] = files
  const { answer, abort } = begin(routes, `${at}/${name}`, bytes.subarray(0, 10))
  await vi.waitFor(() => expect(app.spool.reservedBytes).toBe(mib))
  await abort()
  expect((await answer).status).toBe(400)
  expect(app.spool.reservedBytes).toBe(0)
  expect(await stage(files)).toEqual(new Set([201]))
})

it('lets a caller hold an eighth of the spool, and a few releases', async () => {
  const large = { headers: { 'content-length': `${9 * mib}` } }
  const zip = `${at}/${stem}_linux_amd64.zip`
  expect((await begin(routes, zip, undefined, large).answer).status).toBe(413)
  for (let patch = 0; patch < 4; patch += 1) {
    const path = `providers/team/cmdb/2.0.${patch}/SHA256SUMS`
    expect((await send(routes, path, Buffer.from('x'))).status).toBe(201)
  }
  const fifth = 'providers/team/cmdb/2.0.4/SHA256SUMS'
  const refused = await send(routes, fifth, Buffer.from('x'))
  expect(refused.body.errors?.join()).toContain('finish one of them, or wait an hour')
  expect((await send(routes, fifth, Buffer.from('x'), { caller: 'other' })).status).toBe(201)
})

it('counts releases and files that begin at the same moment', async () => {
  const staging = new Staging(app.spool)
  const { signal } = new AbortController()
  const refusals = async (versions: readonly string[], sizeBytes: number) => {
    const key = (version: string) => ({ caller: 'ci', version })
    const begun = await Promise.allSettled(
      versions.map((version, index) =>
        staging.begin(key(version), String(index), { sizeBytes }, { maxBytes: 1, signal }),
      ),
    )
    for (const one of begun) {
      if (one.status === 'fulfilled') await one.value[Symbol.asyncDispose]()
    }
    expect(app.spool.reservedBytes).toBe(0)
    return begun.flatMap((one) => (one.status === 'rejected' ? String(one.reason) : []))
  }
  const releases = ['a', 'b', 'c', 'd', 'e', 'f']
  expect(await refusals(releases, 1)).toEqual(
    [1, 2].map(() => expect.stringContaining('you have begun to send 4 releases')),
  )
  expect(await refusals(['a', 'a', 'b'], 3 * mib)).toEqual([
    expect.stringContaining(`larger than ${8 * mib} bytes`),
  ])
  expect(
    await refusals(
      Array.from({ length: 101 }, () => 'a'),
      1,
    ),
  ).toEqual([expect.stringContaining('a release has 100 files at most')])
})

it('counts no release whose first file is refused', async () => {
  const all = new Uint8Array(8 * mib)
  const other = begin(routes, `${at}/${stem}_linux_amd64.zip`, all, { caller: 'other' })
  await vi.waitFor(() => expect(app.spool.reservedBytes).toBe(8 * mib))
  const path = (patch: number) => `providers/team/cmdb/2.0.${patch}/SHA256SUMS`
  for (let patch = 0; patch < 4; patch += 1) {
    expect((await send(routes, path(patch), Buffer.from('x'))).status).toBe(503)
  }
  await other.abort()
  await other.answer
  expect((await send(routes, path(4), Buffer.from('x'))).status).toBe(201)
})

it('gives modules and other releases the space that a forgotten release does not need', async () => {
  const zip = `${at}/${stem}_linux_amd64.zip`
  const all = new Uint8Array(8 * mib)
  expect((await send(routes, zip, all, { caller: 'forgetful' })).status).toBe(201)
  const module = await tarGzOf([{ path: 'main.tf', content: '' }])
  expect((await send(routes, 'modules/team/vpc/aws/1.0.0', module)).status).toBe(201)
  const sums = 'providers/team/cmdb/2.0.0/SHA256SUMS'
  expect((await send(routes, sums, Buffer.from('x'))).status).toBe(503)
  vi.spyOn(performance, 'now').mockReturnValue(performance.now() + 60_001)
  expect((await send(routes, sums, Buffer.from('x'))).status).toBe(201)
  expect(app.spool.reservedBytes).toBe(mib)
  // Its files are missing, and are sent again.
  expect((await finish('', 'forgetful')).body).toMatchObject({ missing: [] })
})

it('keeps the files of a release that goes on after a rest, although another one needs space', async () => {
  const zip = (platform: string) => `${at}/${stem}_${platform}.zip`
  expect((await send(routes, zip('darwin_arm64'), new Uint8Array(7 * mib))).status).toBe(201)
  vi.spyOn(performance, 'now').mockReturnValue(performance.now() + 60_001)
  const sums = 'providers/team/cmdb/2.0.0/SHA256SUMS'
  const own = begin(routes, zip('linux_amd64'), new Uint8Array(mib))
  await vi.waitFor(() => expect(app.spool.reservedBytes).toBe(8 * mib))
  expect((await send(routes, sums, Buffer.from('x'), { caller: 'other' })).status).toBe(503)
  await own.abort()
  await own.answer
  expect(app.spool.reservedBytes).toBe(7 * mib)
})

it('gives the space of a file back that another one of its name replaces at the same moment', async () => {
  const staging = new Staging(app.spool)
  const key = { caller: 'ci', version: 'team/cmdb/1.0.0' }
  const { signal } = new AbortController()
  const keep = async (content: string): Promise<void> => {
    await using upload = await staging.begin(key, 'a', { sizeBytes: 1 }, { maxBytes: 1, signal })
    await upload.space.grow(1)
    await writeFile(upload.space.path, content)
    await upload.keep(content)
  }
  await Promise.all(['1', '2', '3'].map(keep))
  expect(app.spool.reservedBytes).toBe(mib)
  await staging.drop(key)
  expect(app.spool.reservedBytes).toBe(0)
})

it('takes no file while a release is in work, and none that began to arrive before', async () => {
  const staging = new Staging(app.spool)
  const key = { caller: 'ci', version: 'team/cmdb/1.0.0' }
  const { signal } = new AbortController()
  const start = () => staging.begin(key, 'a', { sizeBytes: 1 }, { maxBytes: 1, signal })
  {
    await using upload = await start()
    await writeFile(upload.space.path, '1')
    await staging.inTurn(key, async () => {
      await expect(upload.keep('1')).rejects.toThrow('are being published')
      await expect(start()).rejects.toThrow('are being published')
      expect(staging.filesOf(key).size).toBe(0)
    })
    await upload.keep('1')
  }
  expect(staging.filesOf(key)).toEqual(new Map([['a', '1']]))
  await staging.drop(key)
  expect(app.spool.reservedBytes).toBe(0)
})

it('refuses two zips of one platform before it publishes any', async () => {
  const files = await releaseOf('one', ['darwin_arm64', 'linux_amd64'])
  const other = await releaseOf('other', ['linux_amd64-0123456789ab'])
  const zips = new Map([...files, ...other].filter(([name]) => name.endsWith('.zip')))
  await stage(zips)
  const refused = await finish()
  expect(refused.status).toBe(422)
  expect(refused.body.errors?.join()).toContain('several zips for linux_amd64')
  expect(published()).toEqual([])
})

it('publishes nothing of a release with a platform that no Version can have', async () => {
  await stage(await releaseOf('one', ['darwin_arm64', 'linux_aarch64']))
  const refused = await finish()
  expect(refused).toMatchObject({ status: 422, body: { refusals: [{ reason: 'InvalidSpec' }] } })
  expect(refused.body.errors?.join()).toMatch(/linux_aarch64.* spec\.architecture must be arm64/)
  expect([published(), app.objects.list('Provider').length]).toEqual([[], 1])
})

it('refuses zips that spell the version otherwise before they arrive', async () => {
  const name = 'terraform-provider-cmdb_v1.0.0_linux_amd64.zip'
  const refused = await begin(routes, `${at}/${name}`).answer
  expect(refused.status).toBe(422)
  expect(refused.body.errors?.join()).toContain(`send ${stem}_OS_ARCH.zip`)
})

it('says of a release without files which platforms are published', async () => {
  await stage(await releaseOf('one'))
  expect((await finish()).status).toBe(201)
  const again = await finish()
  expect(again).toMatchObject({ status: 409, body: { refusals: [{ reason: 'FilesMissing' }] } })
  expect(again.body.errors?.join()).toContain('is published with darwin_arm64, linux_amd64, and')
})

it('drops files that nobody publishes', async () => {
  const staging = new Staging(app.spool, 20)
  const key = { caller: 'ci', version: 'team/cmdb/1.0.0' }
  const { signal } = new AbortController()
  {
    await using upload = await staging.begin(key, 'a', { sizeBytes: 0 }, { maxBytes: 1, signal })
    await upload.space.grow(1)
    await writeFile(upload.space.path, 'a')
    await upload.keep('digest')
    await sleep(40)
    expect(staging.filesOf(key).size).toBe(1)
  }
  await vi.waitFor(() => expect(staging.filesOf(key).size).toBe(0))
  await vi.waitFor(() => expect(app.spool.reservedBytes).toBe(0))
})
