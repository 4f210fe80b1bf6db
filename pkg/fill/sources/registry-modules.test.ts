import { readFile } from 'node:fs/promises'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { tarGzOf, zipOf } from '../../../hack/testbed/registry/archives.ts'
import type { Fault } from '../../../hack/testbed/upstream/faults.ts'
import { GitServer } from '../../../hack/testbed/upstream/git.ts'
import {
  createUpstreamAuthority,
  type HttpsServer,
  serveHttps,
  type UpstreamAuthority,
} from '../../../hack/testbed/upstream/https-server.ts'
import { UpstreamRegistry } from '../../../hack/testbed/upstream/registry.ts'
import { localEgress } from '../egress/egress.fixture.ts'
import { fetching, type LocalSources, localSources } from './sources.fixture.ts'

let authority: UpstreamAuthority
let registry: UpstreamRegistry
let git: GitServer
let local: LocalSources
const { signal } = new AbortController()
const files = [{ path: 'main.tf', content: Buffer.from('locals {}\n') }]

beforeAll(async () => {
  authority = createUpstreamAuthority()
  registry = await UpstreamRegistry.start(authority)
  git = await GitServer.start(authority)
})
beforeEach(async () => {
  const hosts = [registry.host, registry.downloadHost, git.host]
  local = await localSources(authority, hosts)
})
afterEach(async () => {
  registry.token = undefined
  registry.faults.clear()
  registry.leaks.length = 0
  await local.close()
})
afterAll(async () => {
  await Promise.all([registry.close(), git.close()])
  authority.remove()
})

const vpc = (address = 'acme/vpc/aws', more: object = {}) =>
  local.sources.module(
    { source: { type: 'registry', url: `${registry.host}/${address}`, ...more } },
    'team',
  )

async function fetched(address: string, version: string) {
  const source = vpc(address)
  const resolved = await source.resolve(version, { signal })
  const { file, ...rest } = await source.fetch(resolved, fetching)
  await file.remove()
  return rest
}

describe('a module of a registry', () => {
  it('is listed, and fetched from the place that the registry names', async () => {
    const archive = await tarGzOf(files)
    registry.addModule({ address: 'acme/vpc/aws', version: '1.0.0', archive })
    registry.addModule({ address: 'acme/vpc/aws', version: 'v1.1.0', archive, inBody: true })
    const { versions } = await vpc().list({ signal })
    expect(versions).toEqual([
      { version: '1.0.0', ref: '1.0.0' },
      { version: '1.1.0', ref: 'v1.1.0' },
    ])
    expect((await vpc().list({ signal })).unchanged).toBe(true)
    expect(await fetched('acme/vpc/aws', '1.0.0')).toMatchObject({ sizeBytes: archive.length })
    expect(await fetched('acme/vpc/aws', '1.1.0')).toMatchObject({ sizeBytes: archive.length })
  })

  describe('its dates', () => {
    const at = (minor: number) => `2026-11-${10 + minor}T10:00:00Z`
    const dated = (datesOf?: (version: string) => boolean) =>
      vpc('acme/dated/aws').list({ signal, datesOf })
    const details = () => registry.asked.filter((url) => /dated\/aws\/v?\d[^/]*$/.test(url)).length

    beforeAll(async () => {
      const archive = await tarGzOf(files)
      for (let minor = 0; minor < 6; minor += 1) {
        const version = `${minor === 1 ? 'v' : ''}1.${minor}.0`
        const publishedAt = minor === 3 ? {} : { publishedAt: at(minor) }
        registry.addModule({ address: 'acme/dated/aws', version, archive, ...publishedAt })
      }
    })

    it('are asked for only where nobody knows them, and once if another request fails', async () => {
      await dated()
      expect(details()).toBe(0)
      const end = registry.faults.on(/1\.5\.0$/, 'error')
      const isNew = (version: string) => version !== '1.0.0'
      await expect(dated(isNew)).rejects.toMatchObject({ reason: 'FetchFailed' })
      end()
      const { versions } = await dated(isNew)
      expect(versions.map(({ publishedAt }) => publishedAt)).toEqual([
        undefined,
        at(1),
        at(2),
        undefined,
        at(4),
        at(5),
      ])
      expect(details()).toBe(6)
    })

    const faults: Fault[] = [
      'html',
      () => ({ status: 403 }),
      () => ({ body: Buffer.from('{"published_at":7}') }),
    ]
    it.each(faults)(
      'are unknown, after three requests, if the registry answers with %s',
      async (fault) => {
        const before = details()
        const end = registry.faults.on(/dated\/aws\/v?\d[^/]*$/, fault)
        const source = (await local.restart()).sources.module(
          { source: { type: 'registry', url: `${registry.host}/acme/dated/aws` } },
          'team',
        )
        const { versions } = await source.list({ signal, datesOf: () => true })
        end()
        expect(versions.filter(({ publishedAt }) => publishedAt !== undefined)).toEqual([])
        expect(details() - before).toBe(3)
      },
    )

    const fresh = async () => {
      const source = (await local.restart()).sources.module(
        { source: { type: 'registry', url: `${registry.host}/acme/dated/aws` } },
        'team',
      )
      return source.list({ signal, datesOf: () => true })
    }

    it.each([/dated\/aws\/1\.0\.0$/, /dated\/aws\/1\.4\.0$/])(
      'are known of other versions if the registry lacks that of %s',
      async (path) => {
        const end = registry.faults.on(path, () => ({ status: 404 }))
        const { versions } = await fresh()
        end()
        expect(versions.filter(({ publishedAt }) => publishedAt !== undefined)).toHaveLength(4)
      },
    )

    it('fail the list if the registry refuses the caller', async () => {
      const end = registry.faults.on(/dated\/aws\/1\.4\.0$/, () => ({ status: 401 }))
      await expect(fresh()).rejects.toMatchObject({ reason: 'AccessDenied' })
      end()
    })
  })

  it('tells how far the clock of its host is ahead, even if a cache answers', async () => {
    registry.addModule({ address: 'acme/timed/aws', version: '1.0.0', location: 'https://none' })
    const ahead = (minutes: number) => new Date(Date.now() + minutes * 60_000).toUTCString()
    const skewWith = async (headers: Readonly<Record<string, string>>) => {
      const end = registry.faults.on(/timed\/aws\/versions/, (given) => ({
        ...given,
        headers: { ...given.headers, ...headers },
      }))
      const { skewMs = Number.NaN } = await vpc('acme/timed/aws').list({ signal })
      end()
      return Math.round(skewMs / 60_000) + 0
    }
    expect(await skewWith({})).toBe(0)
    expect(await skewWith({ date: ahead(9) })).toBe(9)
    expect(await skewWith({ date: ahead(-9) })).toBe(-9)
    expect(await skewWith({ date: ahead(-9), age: '540' })).toBe(0)
    expect(await skewWith({ date: 'noon' })).toBeNaN()
  })

  it('sends the token to the registry only', async () => {
    registry.addModule({
      address: 'acme/closed/aws',
      version: '1.0.0',
      archive: await tarGzOf(files),
    })
    registry.token = 'secret'
    local.secrets.set('team/registry', { token: Buffer.from('secret') })
    const source = vpc('acme/closed/aws', { secretRef: { name: 'registry' } })
    const resolved = await source.resolve('1.0.0', { signal })
    const { file } = await source.fetch(resolved, fetching)
    await file.remove()
    expect(registry.leaks).toEqual([])
    await expect(vpc('acme/closed/aws').list({ signal })).rejects.toMatchObject({
      reason: 'AccessDenied',
    })
  })

  it('trusts the authority of a Secret only for resources that name the Secret', async () => {
    registry.addModule({
      address: 'acme/own/aws',
      version: '1.0.0',
      archive: await tarGzOf(files),
    })
    const other = createUpstreamAuthority()
    const hosts = [registry.host, registry.downloadHost]
    const egress = localEgress(hosts, other.ca)
    other.remove()
    const apart = await localSources(authority, hosts, { egress })
    try {
      apart.secrets.set('team/own', { 'ca.crt': Buffer.from(authority.ca) })
      const url = `${registry.host}/acme/own/aws`
      const of = (more: object) =>
        apart.sources.module({ source: { type: 'registry', url, ...more } }, 'team')
      const { versions } = await of({ secretRef: { name: 'own' } }).list({ signal })
      expect(versions).toHaveLength(1)
      await expect(of({}).resolve('2.0.0', { signal })).rejects.toMatchObject({
        reason: 'FetchFailed',
        message: expect.stringContaining('certificate') as string,
      })
    } finally {
      await apart.close()
      await egress.close()
    }
  })

  it('may be in a git repository, at a commit and in a folder', async () => {
    const commit = git.tag('mono', 'v1.0.0', { 'modules/vpc/main.tf': '' })
    const address = 'acme/git/aws'
    for (const [version, ref] of [
      ['1.0.0', commit],
      ['1.1.0', 'v1.0.0'],
      ['1.2.0', 'main'],
    ]) {
      const location = `git::${git.urlOf('mono')}//modules/vpc?ref=${ref}`
      registry.addModule({ address, version: version ?? '', location })
    }
    expect(await fetched(address, '1.0.0')).toMatchObject({
      path: 'modules/vpc',
      revision: `1.0.0@sha1:${commit}`,
    })
    expect(await fetched(address, '1.1.0')).toMatchObject({ path: 'modules/vpc' })
    expect(await fetched(address, '1.2.0')).toMatchObject({ path: 'modules/vpc' })
  })

  it('is fetched at the commit that its revision names, though the registry names another by then', async () => {
    const address = 'acme/moving/aws'
    const offer = (name: string, content: string) => {
      const commit = git.tag(name, 'v1.0.0', { 'main.tf': content })
      const location = `git::${git.urlOf(name)}?ref=${commit}`
      registry.addModule({ address, version: '1.0.0', location })
    }
    const take = async (meanwhile: () => unknown) => {
      const source = vpc(address)
      const resolved = await source.resolve('1.0.0', { signal })
      meanwhile()
      const { file, revision, sizeBytes } = await source.fetch(resolved, fetching)
      const bytes = await readFile(file.path)
      await file.remove()
      expect([revision, bytes.length]).toEqual([resolved.revision, sizeBytes])
      return bytes
    }
    offer('first', 'locals {}')
    expect((await take(() => offer('second', 'stolen'))).includes('stolen')).toBe(false)
    expect((await take(() => undefined)).includes('stolen')).toBe(true)
  })

  it('is refused if its checksum differs from the one that the registry names', async () => {
    const place = `https://${registry.downloadHost}/modules/acme-sum-aws-1.0.0.tar.gz`
    const location = `${place}//*/sub?checksum=sha256:${'0'.repeat(64)}`
    registry.addModule({
      address: 'acme/sum/aws',
      version: '1.0.0',
      archive: await tarGzOf(files),
      location,
    })
    await expect(fetched('acme/sum/aws', '1.0.0')).rejects.toMatchObject({
      reason: 'ChecksumMismatch',
    })
    expect(local.spool.reservedBytes).toBe(0)
  })

  it.each([
    ['s3::https://s3.amazonaws.com/b/k', 'FetchFailed'],
    ['git::ssh://git@example.com/x.git', 'FetchFailed'],
    ['git::https://me:secret@example.com/x.git', 'FetchFailed'],
    ['git::file:///etc', 'FetchFailed'],
    ['file:///etc/passwd', 'FetchFailed'],
    ['http://example.com/x.zip', 'FetchFailed'],
    ['https://169.254.169.254/x.zip', 'EgressRefused'],
    ['git::https://127.0.0.1/x.git?ref=v1', 'EgressRefused'],
    ['https://example.com/x.zip?checksum=md5:abc', 'FetchFailed'],
  ])('at %s is refused', async (location, reason) => {
    registry.addModule({ address: 'acme/odd/aws', version: '1.0.0', location })
    await expect(fetched('acme/odd/aws', '1.0.0')).rejects.toMatchObject({ reason })
  })

  it.each(['-x', 'a:b', '--upload-pack=x', 'a..b'])('at the git ref %s is refused', async (ref) => {
    const location = `git::${git.urlOf('mono')}?ref=${encodeURIComponent(ref)}`
    registry.addModule({ address: 'acme/ref/aws', version: '1.0.0', location })
    await expect(fetched('acme/ref/aws', '1.0.0')).rejects.toMatchObject({
      reason: 'UpstreamNotFound',
    })
  })
})

it.each(['acme/vpc', 'a/b/c/d/e', '../../x/y', 'acme/vpc/aws?x', ''])(
  'the address %j is refused',
  (url) => {
    const make = () => local.sources.module({ source: { type: 'registry', url } }, 'team')
    expect(make).toThrow(expect.objectContaining({ reason: 'InvalidSpec' }))
  },
)

it('refuses a registry that is not an upstream host', () => {
  const url = 'registry.example.com/acme/vpc/aws'
  const make = () => local.sources.module({ source: { type: 'registry', url } }, 'team')
  expect(make).toThrow('is not among --upstream-hosts')
})

describe('an archive at a URL', () => {
  let server: HttpsServer
  let archive: Buffer
  beforeAll(async () => {
    archive = await zipOf(files)
    server = await serveHttps(authority, 'files', (incoming, outgoing) => {
      if (incoming.url === '/vpc-1.0.0.zip' && incoming.headers.authorization === 'Bearer secret') {
        outgoing.writeHead(200, { etag: '"1"' }).end(incoming.method === 'HEAD' ? '' : archive)
        return
      }
      outgoing.writeHead(incoming.headers.authorization === undefined ? 401 : 404).end()
    })
  })
  afterAll(() => server.close())

  it('is fetched with the credentials of its Secret, and has no list', async () => {
    const files1 = await localSources(authority, [server.host])
    files1.secrets.set('team/files', { token: Buffer.from('secret') })
    const url = `${server.origin}/vpc-{version}.zip`
    const source = files1.sources.module(
      { source: { type: 'archive', url, secretRef: { name: 'files' }, path: 'sub' } },
      'team',
    )
    const resolved = await source.resolve('v1.0.0', { signal })
    expect(resolved.revision).toMatch(/^1\.0\.0@mark:[0-9a-f]{16}$/)
    const { file, sizeBytes, path } = await source.fetch(resolved, fetching)
    await file.remove()
    expect([sizeBytes, path, source.identity]).toEqual([archive.length, 'sub', `archive:${url}`])
    await expect(source.resolve('2.0.0', { signal })).rejects.toMatchObject({
      reason: 'UpstreamNotFound',
    })
    await expect(source.list({ signal })).rejects.toMatchObject({
      reason: 'NoListing',
      terminal: true,
    })
    await files1.close()
  })

  it.each([undefined, 'https://example.com/x.zip', 'http://example.com/{version}.zip'])(
    'is refused at %s',
    (url) => {
      const make = () => local.sources.module({ source: { type: 'archive', url } }, 'team')
      expect(make).toThrow(expect.objectContaining({ reason: 'InvalidSpec' }))
    },
  )
})
