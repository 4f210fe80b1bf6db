import { afterAll, describe, expect, it } from 'vitest'
import { Fixture } from '../server/registry.fixture.ts'

const content = Buffer.alloc(1000, 7)

/** A victim with a good archive, and a tenant of another namespace who names the same place and digest. */
function twoTenants(storageConfig: object, status: object = {}) {
  const fixture = new Fixture()
  fixture.module('vpc')
  const sha256 = fixture.version('Module', 'vpc', '1.0.0', { content })
  const metadata = {
    namespace: 'mallory',
    // Older than everything, which must not help.
    creationTimestamp: '2001-01-01T00:00:00Z',
  }
  const moduleConfig = { name: 'vpc', storageConfig }
  fixture.add('Module', 'vpc', { spec: { moduleConfig } }, metadata)
  fixture.add(
    'Version',
    'vpc-1.0.0',
    {
      spec: {
        type: 'Module',
        version: '1.0.0',
        fileName: 'vpc_1.0.0.zip',
        moduleConfigRef: moduleConfig,
      },
      status: { checksum: sha256, synced: true, ...status },
    },
    metadata,
  )
  return { fixture, sha256 }
}

const urlOf = async (fixture: Fixture, address: string): Promise<string> => {
  const path = `/depot/modules/v1/${address}/download`
  const response = await fixture.app().request(path)
  const url = new URL(response.headers.get('x-terraform-get') ?? '')
  return url.pathname + url.search
}

describe('the URL of an archive', () => {
  const presign = { enabled: true, ttl: '1s', fallbackToProxy: false }
  const same = { fileSystem: { directoryPath: 'modules' }, presign }
  const { fixture, sha256 } = twoTenants(same)
  afterAll(() => fixture[Symbol.dispose]())
  const app = fixture.app({ presignModules: true })

  it('serves the Version that it names, whatever another one of the same place and digest says', async () => {
    const response = await app.request(await urlOf(fixture, 'platform/vpc/aws/1.0.0'))
    expect([response.status, response.headers.get('location')]).toEqual([200, null])
    expect(Buffer.from(await response.arrayBuffer())).toEqual(content)
    const other = await app.request(await urlOf(fixture, 'mallory/vpc/aws/1.0.0'))
    expect(other.status).toBe(501)
  })

  it.each([
    'platform/vpc-9.9.9',
    'platform',
    '',
    '/',
    '__proto__/constructor',
    'platform/vpc-1.0.0/x',
    '%2Fplatform/vpc-1.0.0',
  ])('is 404 if it names %j, which does not exist', async (version) => {
    const url = new URL(await urlOf(fixture, 'platform/vpc/aws/1.0.0'), 'http://test')
    url.searchParams.set('version', version)
    const response = await app.request(url.pathname + url.search)
    expect(response.status).toBe(404)
  })

  it('names a Version whose name has slashes, as a folder may have', async () => {
    using named = new Fixture()
    named.module('vpc')
    const fileChecksum = named.version('Module', 'vpc', '1.0.0', { content })
    named.add('Version', 'a/b', {
      spec: {
        type: 'Module',
        version: '2.0.0',
        fileName: 'vpc_1.0.0.zip',
        moduleConfigRef: { name: 'vpc' },
      },
      status: { checksum: fileChecksum, synced: true },
    })
    const response = await named.app().request(await urlOf(named, 'platform/vpc/aws/2.0.0'))
    expect(response.status).toBe(200)
  })

  it('without a Version serves any Version whose archive is good', async () => {
    const url = `/depot/modules/v1/download/fileSystem/modules/vpc/vpc_1.0.0.zip?fileChecksum=${sha256}`
    const response = await app.request(url)
    expect(Buffer.from(await response.arrayBuffer())).toEqual(content)
  })
})
