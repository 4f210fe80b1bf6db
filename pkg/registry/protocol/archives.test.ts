import { createHash } from 'node:crypto'
import { symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { Fixture } from '../server/registry.fixture.ts'

const fixture = new Fixture()
afterAll(() => fixture[Symbol.dispose]())

const content = Buffer.from(Array.from({ length: 1000 }, (_, index) => index % 251))
fixture.module('vpc')
const sha256 = fixture.version('Module', 'vpc', '1.0.0', { content })
fixture.version('Module', 'vpc', '2.0.0', { fileName: 'a b%2Fc+d?.zip' })
fixture.module('other')
const otherSha256 = fixture.version('Module', 'other', '1.0.0')
const badSha256 = fixture.version('Module', 'vpc', '6.6.6', { content: Buffer.alloc(300_000, 1) })
fixture.write('modules/vpc/vpc_6.6.6.zip', Buffer.alloc(300_000, 2))

const app = fixture.app()
const root = '/depot/modules/v1/download/fileSystem'
const good = `${root}/modules/vpc/vpc_1.0.0.zip?fileChecksum=${sha256}`
const get = (path: string, headers: Record<string, string> = {}, method = 'GET') =>
  app.request(path, { headers, method })
const bytes = async (response: Response) => Buffer.from(await response.arrayBuffer())

describe('an archive', () => {
  it('comes whole, with its size and digest', async () => {
    const response = await get(good)
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'accept-ranges': 'bytes',
      'content-length': '1000',
      'content-type': 'application/zip',
      'content-disposition': 'attachment',
      etag: `"${sha256}"`,
    })
    expect(await bytes(response)).toEqual(content)
  })

  it.each([
    ['base64', Buffer.from(sha256, 'hex').toString('base64')],
    ['encoded base64', encodeURIComponent(Buffer.from(sha256, 'hex').toString('base64'))],
    ['base64url', Buffer.from(sha256, 'hex').toString('base64url')],
    ['upper-case hexadecimal', sha256.toUpperCase()],
  ])('takes its digest as %s', async (_, digest) => {
    expect((await get(`${root}/modules/vpc/vpc_1.0.0.zip?fileChecksum=${digest}`)).status).toBe(200)
  })

  it('has a URL that works whatever its file is called', async () => {
    const redirect = await get('/depot/modules/v1/platform/vpc/aws/2.0.0/download')
    const url = new URL(redirect.headers.get('x-terraform-get') ?? '')
    expect((await get(url.pathname + url.search)).status).toBe(200)
  })

  it.each(['.', './', ''])(
    'in the mounted directory itself, written as %j, can be had',
    async (directoryPath) => {
      using own = new Fixture()
      own.module('vpc', { storageConfig: { fileSystem: { directoryPath } } })
      own.version('Module', 'vpc', '1.0.0')
      own.write('vpc/vpc_1.0.0.zip', 'vpc 1.0.0')
      const redirect = await own.app().request('/depot/modules/v1/platform/vpc/aws/1.0.0/download')
      const url = new URL(redirect.headers.get('x-terraform-get') ?? '')
      const response = await own.app().request(url.pathname + url.search)
      expect([response.status, await response.text()]).toEqual([200, 'vpc 1.0.0'])
    },
  )

  it('answers HEAD like GET without the body', async () => {
    const response = await get(good, {}, 'HEAD')
    expect([response.status, response.headers.get('content-length')]).toEqual([200, '1000'])
    expect(await bytes(response)).toHaveLength(0)
  })

  it.each([
    ['bytes=0-0', 206, 'bytes 0-0/1000', 0, 1],
    ['bytes=10-19', 206, 'bytes 10-19/1000', 10, 20],
    ['bytes=990-', 206, 'bytes 990-999/1000', 990, 1000],
    ['bytes=-10', 206, 'bytes 990-999/1000', 990, 1000],
    ['bytes=-5000', 206, 'bytes 0-999/1000', 0, 1000],
    ['bytes=500-99999', 206, 'bytes 500-999/1000', 500, 1000],
    ['bytes=0-1,5-6', 200, null, 0, 1000],
    ['bytes=20-10', 200, null, 0, 1000],
    ['lines=0-1', 200, null, 0, 1000],
    ['bytes=-', 200, null, 0, 1000],
    ['bytes=a-b', 200, null, 0, 1000],
  ])('answers the range %s', async (range, status, contentRange, start, end) => {
    const response = await get(good, { range })
    expect([response.status, response.headers.get('content-range')]).toEqual([status, contentRange])
    expect(await bytes(response)).toEqual(content.subarray(start, end))
  })

  it.each(['bytes=1000-', 'bytes=5000-6000', 'bytes=-0'])('refuses the range %s', async (range) => {
    const response = await get(good, { range })
    expect([response.status, response.headers.get('content-range')]).toEqual([416, 'bytes */1000'])
  })

  it.each([
    ['if-none-match', `"${sha256}"`, 304],
    ['if-none-match', `"x", W/"${sha256}"`, 304],
    ['if-none-match', '*', 304],
    ['if-none-match', '"x"', 200],
    ['if-range', `"${sha256}"`, 206],
    ['if-range', '"x"', 200],
    ['if-range', 'Sat, 01 Jan 2022 00:00:00 GMT', 200],
  ])('with %s: %s answers %i', async (header, value, status) => {
    const range: Record<string, string> = header === 'if-range' ? { range: 'bytes=0-9' } : {}
    expect((await get(good, { [header]: value, ...range })).status).toBe(status)
  })

  it('breaks off before its end if it does not match its digest', async () => {
    const response = await get(`${root}/modules/vpc/vpc_6.6.6.zip?fileChecksum=${badSha256}`)
    await expect(response.arrayBuffer()).rejects.toThrow('checksum')
  })

  it('gives no range if it does not match its digest', async () => {
    const path = `${root}/modules/vpc/vpc_6.6.6.zip?fileChecksum=${badSha256}`
    expect((await get(path, { range: 'bytes=0-9' })).status).toBe(502)
  })

  it('is 404 if its file is missing', async () => {
    using own = new Fixture()
    own.module('vpc')
    const digest = own.version('Module', 'vpc', '1.0.0', { fileName: 'x.zip' })
    own.add('Module', 'vpc', {
      spec: { moduleConfig: { storageConfig: { fileSystem: { directoryPath: 'elsewhere' } } } },
    })
    const response = await own.app().request(`${root}/elsewhere/vpc/x.zip?fileChecksum=${digest}`)
    expect(response.status).toBe(404)
  })
})

describe('the archive endpoint', () => {
  const secret = createHash('sha256').update('root').digest('hex')
  symlinkSync('/etc/passwd', join(fixture.dir, 'modules/vpc/passwd.zip'))

  it.each([
    ['no digest', `${root}/modules/vpc/vpc_1.0.0.zip`],
    ['an empty digest', `${root}/modules/vpc/vpc_1.0.0.zip?fileChecksum=`],
    ['a digest that no version has', `${root}/modules/vpc/vpc_1.0.0.zip?fileChecksum=${secret}`],
    [
      'the digest of another module',
      `${root}/modules/vpc/vpc_1.0.0.zip?fileChecksum=${otherSha256}`,
    ],
    ['a malformed digest', `${root}/modules/vpc/vpc_1.0.0.zip?fileChecksum=${sha256.slice(1)}`],
    ['another directory', `${root}/providers/vpc/vpc_1.0.0.zip?fileChecksum=${sha256}`],
    ['another name', `${root}/modules/other/vpc_1.0.0.zip?fileChecksum=${sha256}`],
    ['another file', `${root}/modules/vpc/passwd.zip?fileChecksum=${sha256}`],
    ['a traversal', `${root}/..%2F..%2Fetc/vpc/passwd?fileChecksum=${sha256}`],
    ['a doubly encoded traversal', `${root}/%252e%252e/vpc/vpc_1.0.0.zip?fileChecksum=${sha256}`],
    ['an absolute path', `${root}/%2Fetc/vpc/passwd?fileChecksum=${sha256}`],
    ['a NUL byte', `${root}/modules%00/vpc/vpc_1.0.0.zip?fileChecksum=${sha256}`],
    ['a prototype name', `${root}/__proto__/constructor/toString?fileChecksum=${sha256}`],
    ['S3', `/depot/modules/v1/download/s3/b/r/vpc/vpc_1.0.0.zip?fileChecksum=${sha256}`],
    [
      'Azure',
      `/depot/modules/v1/download/azure/s/r/a/https%3A%2F%2F127.0.0.1%2F/vpc/x.zip?fileChecksum=${sha256}`,
    ],
    ['Google', `/depot/modules/v1/download/gcs/b/vpc/vpc_1.0.0.zip?fileChecksum=${sha256}`],
  ])('is 404 with %s', async (_, path) => {
    const response = await get(path)
    expect(response.status).toBe(404)
    expect(await response.json()).toEqual({ errors: [expect.stringContaining('not found')] })
  })

  it('does not follow a link out of the mount, even if a version names it', async () => {
    using own = new Fixture()
    own.module('vpc')
    const digest = own.version('Module', 'vpc', '1.0.0', { fileName: 'real.zip' })
    symlinkSync('/etc/hostname', join(own.dir, 'modules/vpc/linked.zip'))
    own.add('Version', 'linked', {
      spec: {
        type: 'Module',
        version: '2.0.0',
        fileName: 'linked.zip',
        moduleConfigRef: { name: 'vpc' },
      },
      status: { checksum: digest },
    })
    const response = await own
      .app()
      .request(`${root}/modules/vpc/linked.zip?fileChecksum=${digest}`)
    expect(response.status).toBe(404)
  })
})
