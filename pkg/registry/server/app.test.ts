import { afterAll, describe, expect, it } from 'vitest'
import { belowBasePath, gate } from './app.ts'
import { Fixture } from './registry.fixture.ts'

const fixture = new Fixture()
afterAll(() => fixture[Symbol.dispose]())
fixture.module('vpc')
fixture.version('Module', 'vpc', '1.0.0')
fixture.provider('hello')
const app = fixture.app()

it('describes every route in its OpenAPI document', async () => {
  const document = await (await app.request('/depot/ui/v1/openapi.json')).json()
  const { paths } = document as { paths: object }
  const described = new Set(Object.keys(paths).map((path) => path.replaceAll(/\{(\w+)\}/g, ':$1')))
  // Other prefixes of the same routes, the document itself, and the broker behind the registry.
  const isAlias = /^\/v1\/|\/openapi\.json$|^\/broker|\*/
  const routes = app.routes.filter(({ method, path }) => method === 'GET' && !isAlias.test(path))
  expect(routes.length).toBeGreaterThan(20)
  expect(routes.map(({ path }) => path).filter((path) => !described.has(path))).toEqual([])
})

describe('methods', () => {
  const path = '/depot/modules/v1/platform/vpc/aws/versions'

  it.each(['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'PROPFIND'])(
    '%s is not allowed',
    async (method) => {
      const response = await app.request(path, { method })
      expect([response.status, response.headers.get('allow')]).toEqual([405, 'GET, HEAD'])
      expect(await response.json()).toEqual({ errors: [expect.stringContaining(method)] })
    },
  )

  it('HEAD answers like GET without a body', async () => {
    const response = await app.request(path, { method: 'HEAD' })
    expect([response.status, await response.text()]).toEqual([200, ''])
  })
})

describe('any input of a client', () => {
  const long = 'x'.repeat(5000)
  const odd = [
    '..',
    '.',
    '%2e%2e',
    '%2F',
    '%5C',
    '%00',
    '%',
    '%zz',
    '%E0%A4%A',
    '%C3%28',
    'ü',
    '日本',
    '%20',
    '+',
    '*',
    '"',
    "'",
    '<script>',
    '__proto__',
    'constructor',
    'hasOwnProperty',
    'toString',
    'null',
    'undefined',
    'NaN',
    '-1',
    '1e999',
    '$%7Bx%7D',
    ':name',
    long,
  ]
  /** Two dots lead to the list of the namespace, which exists. */
  const notUp = (word: string) => (/^(\.|%2e){2}$/.test(word) ? '.' : word)
  const routes: [route: string, fill: (word: string) => string][] = [
    ['module versions', (word) => `/depot/modules/v1/${word}/${word}/${word}/versions`],
    ['module of a known namespace', (word) => `/depot/modules/v1/platform/vpc/${word}/versions`],
    [
      'module download',
      // A segment of one dot is nothing, and without a version this is the latest one.
      (word) => `/depot/modules/v1/platform/vpc/aws/${word === '.' ? '..' : word}/download`,
    ],
    [
      'archive',
      (word) =>
        `/depot/modules/v1/download/fileSystem/${word}/${word}/${word}?fileChecksum=${word}`,
    ],
    ['provider versions', (word) => `/depot/providers/v1/${word}/${word}/versions`],
    [
      'package metadata',
      (word) =>
        `/depot/providers/v1/platform/hello/${notUp(word)}/download/${notUp(word)}/${notUp(word)}`,
    ],
    [
      'provider archive',
      (word) => `/depot/providers/v1/download/platform/hello/${word}?os=${word}&arch=${word}`,
    ],
    [
      'checksums',
      (word) =>
        `/depot/providers/v1/platform/hello/${notUp(word)}/SHA256SUMS/${notUp(word)}/${notUp(word)}`,
    ],
    [
      'signature',
      (word) =>
        `/depot/providers/v1/platform/hello/${notUp(word)}/SHA256SUMS.sig/${notUp(word)}/${notUp(word)}`,
    ],
    ['no route', (word) => `/${word}/${word}`],
  ]

  it.each(routes)('%s answers 4xx with a message', async (_, fill) => {
    for (const word of odd) {
      const response = await app.request(fill(word))
      expect([response.status, word]).toEqual([
        expect.toSatisfy((code) => code >= 400 && code < 500),
        word,
      ])
      expect(await response.json()).toEqual({ errors: [expect.any(String)] })
    }
  })
})

describe('a base URL with a path', () => {
  const baseUrl = 'https://example.com/tools/depot'
  const { fetch: answer, request } = fixture.app({ baseUrl })
  const below = belowBasePath(answer, baseUrl)
  const path = '/depot/modules/v1/platform/vpc/aws/versions'

  it('is in the answers of discovery', async () => {
    expect(await (await request('/.well-known/terraform.json')).json()).toMatchObject({
      'modules.v1': '/tools/depot/depot/modules/v1/',
    })
  })

  it.each([path, `/tools/depot${path}`])('is served at %s', async (at) => {
    expect((await below(new Request(`http://localhost${at}`), {})).status).toBe(200)
  })
})

describe('before the catalog is filled', () => {
  let missing = ['the manifests']
  const gated = gate({ fetch: app.fetch, hot: () => undefined }, () => missing)
  const get = async (path: string) => gated.fetch(new Request(`http://localhost${path}`), {})

  it.each([
    ['/.well-known/terraform.json', 200, null],
    ['/.well-known/registry.json?x=1', 200, null],
    ['/depot/modules/v1/platform/vpc/aws/versions', 503, '5'],
    ['/nowhere', 503, '5'],
  ])('%s is %i', async (path, status, retryAfter) => {
    const response = await get(path)
    expect([response.status, response.headers.get('retry-after')]).toEqual([status, retryAfter])
  })

  it('answers everything from then on', async () => {
    missing = []
    expect((await get('/depot/modules/v1/platform/vpc/aws/versions')).status).toBe(200)
  })
})

it('answers 500 to an unexpected error, without its details', async () => {
  const broken = fixture.app()
  broken.get('/broken', () => {
    throw new TypeError('secret at /srv/depot')
  })
  const response = await broken.request('/broken')
  expect(response.status).toBe(500)
  expect(await response.json()).toEqual({ errors: ['internal error: see the log of the server'] })
})
