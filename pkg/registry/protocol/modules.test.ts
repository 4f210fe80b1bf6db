import { afterAll, describe, expect, it } from 'vitest'
import { Fixture } from '../server/registry.fixture.ts'

const fixture = new Fixture()
afterAll(() => fixture[Symbol.dispose]())

fixture.module('vpc')
const digest = fixture.version('Module', 'vpc', '1.2.0')
fixture.version('Module', 'vpc', 'v1.10.0')
fixture.version('Module', 'vpc', '2.0.0-rc.1', { fileName: 'vpc-2.0.0-rc.1.tar.gz' })
fixture.version('Module', 'vpc', '3.0.0', { status: { checksum: undefined } })
fixture.version('Module', 'vpc', '3.1.0', {
  status: { checksum: undefined, syncStatus: 'failed: no such tag' },
})
fixture.version('Module', 'vpc', 'not-semver')
fixture.module('empty')
fixture.module('any', { provider: undefined })
fixture.version('Module', 'any', '1.0.0')
fixture.module('tarred', { fileFormat: 'tar' })
fixture.version('Module', 'tarred', '1.0.0', { fileName: 'archive' })

const app = fixture.app()
const root = '/depot/modules/v1'
const get = (path: string, init?: RequestInit) => app.request(path, init)

describe('service discovery', () => {
  it.each(['/.well-known/terraform.json', '/.well-known/registry.json'])(
    'answers %s',
    async (path) => {
      const response = await get(path)
      expect(response.headers.get('content-type')).toBe('application/json')
      expect(await response.json()).toEqual({
        'modules.v1': '/depot/modules/v1/',
        'providers.v1': '/depot/providers/v1/',
      })
    },
  )
})

it('answers at the paths of tools that skip discovery', async () => {
  const answer = await get('/v1/modules/platform/vpc/aws/versions')
  expect(await answer.text()).toBe(await (await get(`${root}/platform/vpc/aws/versions`)).text())
  const download = await get('/v1/modules/platform/vpc/aws/1.2.0/download')
  expect(download.status).toBe(204)
})

describe('module versions', () => {
  it('lists what can be downloaded, newest first, without v', async () => {
    const response = await get(`${root}/platform/vpc/aws/versions`)
    expect(response.status).toBe(200)
    expect(await response.json()).toEqual({
      modules: [
        { versions: [{ version: '2.0.0-rc.1' }, { version: '1.10.0' }, { version: '1.2.0' }] },
      ],
    })
  })

  it('is an empty list for a module without versions', async () => {
    const response = await get(`${root}/platform/empty/aws/versions`)
    expect(await response.json()).toEqual({ modules: [{ versions: [] }] })
  })

  it('answers for every system if the module names none', async () => {
    expect((await get(`${root}/platform/any/gcp/versions`)).status).toBe(200)
  })

  it.each([
    ['module', 'platform/nope/aws', 'module platform/nope not found'],
    ['namespace', 'other/vpc/aws', 'module other/vpc not found'],
    ['system', 'platform/vpc/gcp', 'module platform/vpc is for aws, not for gcp'],
    ['prototype name', '__proto__/constructor/toString', 'module __proto__/constructor not found'],
  ])('is 404 for an unknown %s', async (_, address, message) => {
    const response = await get(`${root}/${address}/versions`)
    expect(response.status).toBe(404)
    expect(await response.json()).toEqual({ errors: [expect.stringContaining(message)] })
  })

  it('sees a new version at once', async () => {
    using own = new Fixture()
    own.module('vpc')
    const list = async () => (await own.app().request(`${root}/platform/vpc/aws/versions`)).text()
    expect(await list()).not.toContain('1.0.0')
    own.version('Module', 'vpc', '1.0.0')
    expect(await list()).toContain('1.0.0')
  })
})

describe('module download', () => {
  const location = async (path: string, init?: RequestInit) => {
    const response = await get(`${root}/${path}/download`, init)
    const [own, terraform] = ['x-registry-get', 'x-terraform-get'].map((name) =>
      response.headers.get(name),
    )
    expect([response.status, own]).toEqual([204, terraform])
    return new URL(own ?? '')
  }

  it('is not kept by shared caches, unless its URL is the same for everybody', async () => {
    const path = `${root}/platform/vpc/aws/1.2.0/download`
    const controls = [app, fixture.app({ baseUrl: 'https://depot.test' })].map(async (server) =>
      (await server.request(path)).headers.get('cache-control'),
    )
    expect(await Promise.all(controls)).toEqual(['private, no-cache', null])
  })

  it('redirects to the archive with its format and checksum for the CLI', async () => {
    const url = await location('platform/vpc/aws/1.2.0')
    expect(url.href).toBe(
      `http://localhost${root}/download/fileSystem/modules/vpc/vpc_1.2.0.zip?fileChecksum=${digest}&version=platform%2Fvpc-1.2.0&archive=zip&checksum=sha256:${digest}`,
    )
  })

  it.each([
    ['by the ending of the file', 'platform/vpc/aws/2.0.0-rc.1', 'tar.gz'],
    ['by the module', 'platform/tarred/aws/1.0.0', 'tar.gz'],
  ])('names the format of the archive %s', async (_, path, format) => {
    expect((await location(path)).searchParams.get('archive')).toBe(format)
  })

  it('treats v1.2.0 and 1.2.0 as the same version', async () => {
    expect((await location('platform/vpc/aws/v1.2.0')).pathname).toContain('vpc_1.2.0.zip')
    expect((await location('platform/vpc/aws/1.10.0')).pathname).toContain('vpc_v1.10.0.zip')
  })

  it.each([
    ['an unknown version', '9.9.9', 'module platform/vpc has no version 9.9.9'],
    [
      'a version that was never synchronised',
      '3.0.0',
      'cannot be downloaded yet: its archive has not been synchronised yet',
    ],
    ['a version that failed', '3.1.0', '(failed: no such tag)'],
    ['a version that is not semver', 'not-semver', 'its version is not a semantic version'],
  ])('says what is wrong with %s', async (_, version, message) => {
    const response = await get(`${root}/platform/vpc/aws/${version}/download`)
    expect(response.status).toBe(404)
    expect(await response.json()).toEqual({ errors: [expect.stringContaining(message)] })
  })

  it.each([
    ['the Host header', {}, { host: 'depot.example.com:8443' }, 'http://depot.example.com:8443'],
    [
      'no proxy that is not trusted',
      {},
      { 'x-forwarded-host': 'evil.example', 'x-forwarded-proto': 'https' },
      'http://localhost',
    ],
    [
      'a trusted proxy',
      { trustProxy: true },
      { 'x-forwarded-host': 'a.example, b.example', 'x-forwarded-proto': 'https' },
      'https://a.example',
    ],
    [
      'the base URL before all',
      { baseUrl: 'https://depot.example/x', trustProxy: true },
      { 'x-forwarded-host': 'a.example' },
      'https://depot.example/x',
    ],
  ])('builds absolute links from %s', async (_, options, headers, origin) => {
    const response = await fixture
      .app(options)
      .request(`${root}/platform/vpc/aws/1.2.0/download`, { headers: { ...headers } })
    expect(response.headers.get('x-terraform-get')).toMatch(new RegExp(`^${origin}/depot/`))
  })

  it.each(['a b', 'x"y', 'a/b', 'http://x', 'a@b', '[::1', 'x:99999', '1.2.3.4.5'])(
    'refuses the host %j',
    async (host) => {
      const response = await fixture
        .app({ trustProxy: true })
        .request(`${root}/platform/vpc/aws/1.2.0/download`, {
          headers: { 'x-forwarded-host': host },
        })
      expect(response.status).toBe(400)
    },
  )
})

describe('an address', () => {
  const own = new Fixture()
  afterAll(() => own[Symbol.dispose]())
  own.module('network', { provider: 'aws' })
  own.module('network-azurerm', { name: 'network', provider: 'azurerm' })
  own.version('Module', 'network', '1.0.0')
  own.version('Module', 'network-azurerm', '2.0.0')

  it.each([
    ['network/aws', '"1.0.0"'],
    ['network/azurerm', '"2.0.0"'],
    ['network-azurerm/azurerm', '"2.0.0"'],
    ['network/google', 'is for aws'],
  ])('%s answers %s', async (address, text) => {
    const response = await own.app().request(`${root}/platform/${address}/versions`)
    expect(await response.text()).toContain(text)
  })
})
