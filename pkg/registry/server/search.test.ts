import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { SearchResults } from '../../api/browse/browse.ts'
import { emptyRoot, type ModuleDocs } from '../../api/docs/docs.ts'
import { docsFileName } from '../../api/v1alpha1/v1alpha1.ts'
import { Search, SearchFeed } from '../search/search.ts'
import { AccessFixture } from './access.fixture.ts'

let fixture: AccessFixture
let feed: SearchFeed
let search: Search
beforeEach(() => {
  fixture = new AccessFixture()
  search = new Search(fixture.catalog)
  feed = new SearchFeed({ search, archives: fixture.archives, log: fixture.log })
})
afterEach(() => {
  feed.close()
  fixture[Symbol.dispose]()
})

const packed = (docs: unknown) => gzipSync(JSON.stringify(docs))
const hex = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex')
const docsOf = (type: string): ModuleDocs => ({
  schema: 1,
  root: { ...emptyRoot, resources: [{ mode: 'managed', type, name: 'this' }] },
  submodules: [],
  examples: [],
})

/** @returns writes the documentation to storage */
function documented(name: string, version: string, docs: ModuleDocs): () => void {
  const bytes = packed(docs)
  const content = `archive ${name} ${version}`
  const fileName = `${name}_${version}.zip`
  const artifact = { fileName, docs: { sha256: hex(bytes), sizeBytes: bytes.length } }
  fixture.version('Module', name, version, { content, status: { artifact } })
  const path = join('modules', name, docsFileName(fileName, hex(Buffer.from(content))))
  return () => fixture.write(path, bytes)
}

async function ask(path: string, options: object = {}) {
  const response = await fixture.app({ search, ...options }).request(path)
  const body: unknown = await response.json()
  return { status: response.status, body }
}

async function namesFor(query: string, options: object = {}) {
  const { body } = await ask(`/depot/ui/v1/search?${query}`, options)
  return SearchResults.parse(body).items.map(({ name }) => name)
}

function strangers() {
  const cluster = {
    apiGroup: 'depot.internal',
    address: () => Promise.reject(new Error('no caller is known to it')),
    ttlMs: 1000,
  }
  return fixture.auth({ mode: 'bearer', cluster })
}

/** `subnets` is public, and `network` is not. */
function twoModules(): void {
  fixture.publicNamespace('platform')
  fixture.module('network')
  fixture.version('Module', 'network', '1.0.0')
  const storageConfig = { fileSystem: { directoryPath: 'modules' } }
  const spec = { moduleConfig: { provider: 'aws', storageConfig } }
  fixture.add('Module', 'subnets', { spec }, { labels: { 'depot.internal/public': 'true' } })
  fixture.version('Module', 'subnets', '2.0.0')
}

describe('GET /depot/ui/v1/search', () => {
  it('finds names and what documentation of the latest version has', async () => {
    fixture.module('network')
    documented('network', '1.0.0', docsOf('aws_old_thing'))()
    documented('network', '1.1.0', docsOf('aws_route_table'))()
    expect(await namesFor('q=netw')).toEqual(['network'])
    expect(await namesFor('q=route')).toEqual([])
    feed.start()
    await vi.waitFor(async () => expect(await namesFor('q=route')).toEqual(['network']))
    expect(await namesFor('q=old')).toEqual([])
    expect(await ask('/depot/ui/v1/search?q=route+team')).toEqual({
      status: 200,
      body: { items: [], totalCount: 0 },
    })
    expect(await ask('/depot/ui/v1/search?q=route')).toMatchObject({
      body: {
        items: [
          {
            address: 'network/aws',
            latestVersion: '1.1.0',
            matched: [{ field: 'resource', text: 'aws_route_table' }],
          },
        ],
      },
    })
  })

  it('reads documentation later again that storage did not have', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout'] })
    const warned = vi.spyOn(fixture.log, 'warn')
    try {
      fixture.module('network')
      fixture.module('vpc')
      const debugged = vi.spyOn(fixture.log, 'debug')
      const write = documented('network', '1.0.0', docsOf('aws_route_table'))
      documented('vpc', '1.0.0', docsOf('aws_vpc'))
      feed.start()
      await vi.waitUntil(() => warned.mock.calls.length + debugged.mock.calls.length > 1)
      expect(warned).toHaveBeenCalledTimes(1)
      write()
      expect(await namesFor('q=route')).toEqual([])
      await vi.advanceTimersByTimeAsync(300_000)
      await vi.waitUntil(async () => (await namesFor('q=route')).length === 1)
    } finally {
      vi.useRealTimers()
    }
  })

  it('goes on with the cursor, and filters by kind and namespace', async () => {
    for (const name of ['vpc', 'vpc-a', 'vpc-b']) fixture.module(name)
    fixture.provider('vpc-c')
    const first = await ask('/depot/ui/v1/search?q=vpc&limit=2')
    expect(first.body).toMatchObject({ items: [{ name: 'vpc' }, { name: 'vpc-a' }], next: '2' })
    expect(await namesFor('q=vpc&limit=2&cursor=2')).toEqual(['vpc-b', 'vpc-c'])
    expect(await namesFor('q=vpc&kind=provider')).toEqual(['vpc-c'])
    expect(await namesFor('q=vpc&namespace=elsewhere')).toEqual([])
  })

  it('answers with an ETag until a module changes', async () => {
    fixture.module('network')
    const app = fixture.app({ search })
    const url = '/depot/ui/v1/search?q=net'
    const headers = { 'If-None-Match': (await app.request(url)).headers.get('ETag') ?? '' }
    expect((await app.request(url, { headers })).status).toBe(304)
    fixture.module('nettle')
    expect(await (await app.request(url, { headers })).json()).toMatchObject({
      items: [{ name: 'nettle' }, { name: 'network' }],
    })
  })

  it('matches nothing that the caller may not see', async () => {
    twoModules()
    const auth = strangers()
    expect(await namesFor('q=platform', { auth })).toEqual(['subnets'])
    expect(await namesFor('q=network', { auth })).toEqual([])
    await auth.close()
  })

  it.each([
    ['', 'q must be given'],
    ['q=', 'q must not be empty'],
    ['q=a+b+c+d+e+f+g+h+i', 'q must have at most 8 words'],
    [`q=${'a'.repeat(257)}`, 'q must have at most 256 bytes'],
    ['q=a&limit=101', 'limit must be a whole number from 1 to 100'],
    ['q=a&cursor=x', 'cursor must be `next` of an earlier answer'],
    ['q=a&kind=x', 'kind must be one of module, provider'],
  ])('refuses %j', async (query, message) => {
    const answer = await ask(`/depot/ui/v1/search?${query}`)
    expect(answer).toEqual({ status: 400, body: { errors: [expect.stringContaining(message)] } })
  })
})

describe('GET /v1/modules/search', () => {
  it('answers as the lists do, best first', async () => {
    twoModules()
    fixture.module('subnets-google', { name: 'subnets', provider: 'google' })
    fixture.version('Module', 'subnets-google', '1.0.0')
    for (const prefix of ['/v1/modules', '/depot/modules/v1']) {
      expect(await ask(`${prefix}/search?q=subnets&limit=1`)).toMatchObject({
        status: 200,
        body: {
          meta: {
            limit: 1,
            current_offset: 0,
            next_offset: 1,
            next_url: `${prefix}/search?q=subnets&limit=1&offset=1`,
          },
          modules: [{ id: 'platform/subnets/aws/2.0.0' }],
        },
      })
    }
    const google = await ask('/v1/modules/search?q=subnets&provider=google&namespace=platform')
    expect(google.body).toMatchObject({ modules: [{ id: 'platform/subnets/google/1.0.0' }] })
    const none = await ask('/v1/modules/search?q=subnets&namespace=elsewhere')
    expect(none).toMatchObject({ status: 200, body: { modules: [] } })
  })

  it('gives descriptions, as the other lists do', async () => {
    fixture.module('vpc')
    const docs = docsOf('aws_vpc')
    documented('vpc', '1.0.0', { ...docs, root: { ...docs.root, description: 'A network.' } })()
    feed.start()
    for (const path of ['/v1/modules/search?q=network', '/v1/modules/platform']) {
      await expect
        .poll(async () => (await ask(path)).body)
        .toMatchObject({ modules: [{ name: 'vpc', description: 'A network.' }] })
    }
  })

  it('shows a stranger only what is public', async () => {
    twoModules()
    const auth = strangers()
    const { body } = await ask('/v1/modules/search?q=aws', { auth })
    await auth.close()
    expect(body).toMatchObject({ modules: [{ id: 'platform/subnets/aws/2.0.0' }] })
  })

  it.each(['', '?q=', '?q=a+b+c+d+e+f+g+h+i', '?q=a&limit=0'])('refuses %j', async (query) =>
    expect((await ask(`/v1/modules/search${query}`)).status).toBe(400),
  )
})
