import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { ProviderList } from '../../api/registry/registry.ts'
import { AccessFixture } from './access.fixture.ts'

const spec = { operatingSystem: 'linux', architecture: 'amd64' }
let fixture: AccessFixture
beforeEach(() => {
  fixture = new AccessFixture()
  fixture.provider('cmdb', { sourceRepository: 'https://git.example.com/cmdb' })
  fixture.provider('object', { name: 'dns' })
  fixture.provider('empty')
  fixture.version('Provider', 'cmdb', '1.0.0', { spec })
  fixture.version('Provider', 'cmdb', '1.1.0', { spec })
  fixture.version('Provider', 'object', '2.0.0', { spec })
  fixture.module('vpc')
  fixture.version('Module', 'vpc', '1.0.0')
})
afterEach(() => fixture[Symbol.dispose]())

describe.each(['/v1/providers', '/depot/providers/v1'])('lists of providers below %s', (prefix) => {
  const ask = async (path: string) => {
    const response = await fixture.app().request(prefix + path)
    return { status: response.status, body: (await response.json()) as ProviderList }
  }

  it.each(['', '/platform'])(
    '"%s" has the latest version of each provider that has one',
    async (path) => {
      const { body } = await ask(path)
      expect(body.meta).toEqual({ limit: 15, current_offset: 0 })
      expect(body.providers.map(({ id }) => id)).toEqual([
        'platform/cmdb/1.1.0',
        'platform/dns/2.0.0',
      ])
      expect(body.providers[0]).toEqual({
        id: 'platform/cmdb/1.1.0',
        owner: '',
        namespace: 'platform',
        name: 'cmdb',
        version: '1.1.0',
        description: '',
        source: 'https://git.example.com/cmdb',
        downloads: 0,
      })
    },
  )

  it('come in pages that lead to each other', async () => {
    const { body } = await ask('?limit=1&offset=1')
    expect(body.providers.map(({ name }) => name)).toEqual(['dns'])
    expect(body.meta).toMatchObject({ prev_offset: 0, prev_url: `${prefix}?limit=1&offset=0` })
  })

  it('refuse a limit that is not valid, and a namespace without providers', async () => {
    expect((await ask('?limit=0')).status).toBe(400)
    expect(await ask('/other')).toEqual({
      status: 404,
      body: { errors: [expect.stringContaining('providers other/* not found')] },
    })
  })
})

it('a stranger finds only public providers', async () => {
  fixture.publicNamespace('platform')
  const labels = { 'depot.internal/public': 'true' }
  fixture.add('Provider', 'object', { spec: { providerConfig: { name: 'dns' } } }, { labels })
  const cluster = {
    apiGroup: 'depot.internal',
    address: () => Promise.reject(new Error('no caller is known to it')),
    ttlMs: 1000,
  }
  const auth = fixture.auth({ mode: 'bearer', cluster })
  const response = await fixture.app({ auth }).request('/v1/providers')
  await auth.close()
  const { providers } = (await response.json()) as ProviderList
  expect(providers.map(({ id }) => id)).toEqual(['platform/dns/2.0.0'])
})
