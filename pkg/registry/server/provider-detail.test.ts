import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { AccessFixture } from './access.fixture.ts'

let fixture: AccessFixture
beforeEach(() => {
  fixture = new AccessFixture()
  fixture.provider('hello', {
    sourceRepository: 'https://github.com/acme/terraform-provider-hello',
  })
  for (const [version, architecture] of [
    ['1.0.0', 'amd64'],
    ['1.1.0', 'amd64'],
    ['1.1.0', 'arm64'],
  ] as const) {
    fixture.version('Provider', 'hello', version, {
      spec: { operatingSystem: 'linux', architecture },
      content: architecture,
    })
  }
})
afterEach(() => fixture[Symbol.dispose]())

describe('a provider in the form of the public registry', () => {
  const ask = async (path: string) => {
    const response = await fixture.app().request(path)
    const body: unknown = await response.json()
    return { status: response.status, body }
  }

  it.each(['/v1/providers', '/depot/providers/v1'])(
    'below %s names its source and its versions, in the latest or a given one',
    async (prefix) => {
      const latest = {
        id: 'platform/hello/1.1.0',
        owner: '',
        namespace: 'platform',
        name: 'hello',
        version: '1.1.0',
        description: '',
        source: 'https://github.com/acme/terraform-provider-hello',
        downloads: 0,
        versions: ['1.1.0', '1.0.0'],
        docs: [],
      }
      const older = { ...latest, id: 'platform/hello/1.0.0', version: '1.0.0' }
      expect(await ask(`${prefix}/platform/hello`)).toEqual({ status: 200, body: latest })
      expect(await ask(`${prefix}/platform/hello/v1.0.0`)).toEqual({ status: 200, body: older })
    },
  )

  it('lacks its source and the time of its publication if nobody knows them', async () => {
    fixture.provider('other')
    fixture.version('Provider', 'other', '1.0.0', {
      spec: { operatingSystem: 'linux', architecture: 'amd64' },
    })
    const { body } = await ask('/v1/providers/platform/other')
    for (const field of ['source', 'published_at']) expect(body).not.toHaveProperty(field)
  })

  it('was published when its first archive was stored', async () => {
    for (const [architecture, time] of [
      ['amd64', '2026-02-01T00:00:01Z'],
      ['arm64', '2026-02-01T00:00:00Z'],
    ] as const) {
      fixture.version('Provider', 'hello', '1.1.0', {
        spec: { operatingSystem: 'linux', architecture },
        status: { artifact: { storedAt: time } },
      })
    }
    const published = { published_at: '2026-02-01T00:00:00.000Z' }
    expect(await ask('/v1/providers/platform/hello')).toMatchObject({ body: published })
    expect(await ask('/v1/providers/platform')).toMatchObject({ body: { providers: [published] } })
  })

  it('is 404 if it, its version or all versions are missing', async () => {
    fixture.provider('empty')
    for (const path of ['none', 'empty', 'hello/9.9.9']) {
      expect(await ask(`/v1/providers/platform/${path}`)).toEqual({
        status: 404,
        body: { errors: [expect.stringMatching(/^provider platform\//)] },
      })
    }
  })
})
