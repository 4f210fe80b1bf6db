import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { emptyRoot } from '../../api/docs/docs.ts'
import type { ModuleList } from '../../api/registry/registry.ts'
import { Search } from '../search/search.ts'
import { AccessFixture } from './access.fixture.ts'

let fixture: AccessFixture
beforeEach(() => {
  fixture = new AccessFixture()
  fixture.module('network')
  fixture.module('network-azurerm', { name: 'network', provider: 'azurerm' })
  fixture.module('empty')
  for (const name of ['network', 'network-azurerm']) {
    fixture.version('Module', name, '1.0.0')
    fixture.version('Module', name, '1.1.0')
  }
  fixture.module('vpc')
  fixture.version('Module', 'vpc', '2.0.0')
})
afterEach(() => fixture[Symbol.dispose]())

describe('lists of modules in the form of the public registry', () => {
  const list = async (path: string) => {
    const response = await fixture.app().request(`/v1/modules${path}`)
    const { meta, modules } = (await response.json()) as ModuleList
    return { meta, ids: modules.map(({ id }) => id) }
  }
  const all = [
    'platform/network/aws/1.1.0',
    'platform/network/azurerm/1.1.0',
    'platform/vpc/aws/2.0.0',
  ]

  it.each([
    ['', all],
    ['/platform', all],
    ['/platform/network', all.slice(0, 2)],
    ['/platform?provider=aws', ['platform/network/aws/1.1.0', 'platform/vpc/aws/2.0.0']],
  ])('%s has the latest version of each module that has one', async (path, ids) => {
    expect(await list(path)).toEqual({ meta: { limit: 15, current_offset: 0 }, ids })
  })

  it('name source, tag and time as far as they are known', async () => {
    const repoUrl = 'https://git.example.com/network'
    fixture.module('network', { repoUrl })
    const artifact = { revision: 'v1.1.0@sha1:abc', storedAt: '2026-02-01T00:00:00Z' }
    fixture.version('Module', 'network', '1.1.0', { status: { artifact } })
    fixture.module('network-azurerm', {
      name: 'network',
      provider: 'azurerm',
      repoUrl: 'git@example.com:network',
    })
    const response = await fixture.app().request('/v1/modules/platform/network')
    const { modules } = (await response.json()) as ModuleList
    expect(modules).toEqual([
      {
        id: 'platform/network/aws/1.1.0',
        owner: '',
        namespace: 'platform',
        name: 'network',
        version: '1.1.0',
        provider: 'aws',
        description: '',
        source: repoUrl,
        tag: 'v1.1.0',
        published_at: '2026-02-01T00:00:00.000Z',
        downloads: 0,
        verified: false,
      },
      expect.not.objectContaining({ source: expect.anything() as unknown }),
    ])
    expect(modules[1]).not.toHaveProperty('published_at')
  })

  it('never give a new version the description of the previous one', async () => {
    const search = new Search(fixture.catalog)
    const app = fixture.app({ search })
    const listed = async () => {
      const response = await app.request('/v1/modules/platform/vpc')
      const { modules } = (await response.json()) as ModuleList
      return modules.map(({ version, description }) => ({ version, description }))
    }
    const docs = { sha256: '0'.repeat(64), sizeBytes: 1 }
    const artifact = { fileName: 'vpc.zip', docs }
    fixture.version('Module', 'vpc', '2.1.0', { status: { artifact } })
    while (!search.advance());
    const root = { ...emptyRoot, description: 'Old.' }
    const wanted = search.take()
    if (wanted === undefined) throw new Error('no documentation is wanted')
    search.describe(wanted, { schema: 1, root, submodules: [], examples: [] })
    expect(await listed()).toEqual([{ version: '2.1.0', description: 'Old.' }])
    fixture.version('Module', 'vpc', '2.2.0')
    expect(await listed()).toEqual([{ version: '2.2.0', description: '' }])
  })

  it('give the time when a Version without a report was created', async () => {
    const upload = { sha256: '0'.repeat(64) }
    const spec = { type: 'Module', version: '3.0.0', fileName: 'vpc.zip', upload }
    const parent = { apiVersion: 'depot.internal/v1alpha1', kind: 'Module', name: 'vpc' }
    const creationTimestamp = '2026-03-01T00:00:00Z'
    fixture.add('Version', 'vpc-3', { spec }, { ownerReferences: [parent], creationTimestamp })
    const response = await fixture.app().request('/v1/modules/platform/vpc')
    const { modules } = (await response.json()) as ModuleList
    expect(modules[0]).toMatchObject({ version: '3.0.0', published_at: '2026-03-01T00:00:00.000Z' })
  })

  it('come in pages that lead to each other', async () => {
    const first = await list('/platform?limit=2')
    expect(first).toEqual({
      meta: {
        limit: 2,
        current_offset: 0,
        next_offset: 2,
        next_url: '/v1/modules/platform?limit=2&offset=2',
      },
      ids: all.slice(0, 2),
    })
    expect(await list('/platform?limit=2&offset=2')).toEqual({
      meta: {
        limit: 2,
        current_offset: 2,
        prev_offset: 0,
        prev_url: '/v1/modules/platform?limit=2&offset=0',
      },
      ids: all.slice(2),
    })
  })

  it.each(['elsewhere', 'platform/none'])(
    'answer 404 for %s, which has no module',
    async (path) => {
      expect((await fixture.app().request(`/v1/modules/${path}`)).status).toBe(404)
    },
  )

  it.each(['limit=0', 'limit=101', 'limit=x', 'offset=-1'])('refuse %s', async (query) => {
    const response = await fixture.app().request(`/v1/modules?${query}`)
    expect(response.status).toBe(400)
    expect(await response.json()).toEqual({
      errors: [expect.stringMatching(/^(limit|offset) must be a whole number from /)],
    })
  })

  it('show a stranger only what is public', async () => {
    fixture.publicNamespace('platform')
    const labels = { 'depot.internal/public': 'true' }
    const moduleConfig = {
      provider: 'aws',
      storageConfig: { fileSystem: { directoryPath: 'modules' } },
    }
    fixture.add('Module', 'vpc', { spec: { moduleConfig } }, { labels })
    const cluster = {
      apiGroup: 'depot.internal',
      address: () => Promise.reject(new Error('no caller is known to it')),
      ttlMs: 1000,
    }
    const auth = fixture.auth({ mode: 'bearer', cluster })
    const response = await fixture.app({ auth }).request('/v1/modules/platform')
    await auth.close()
    expect(await response.json()).toMatchObject({ modules: [{ id: 'platform/vpc/aws/2.0.0' }] })
  })
})
