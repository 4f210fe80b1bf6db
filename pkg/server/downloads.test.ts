import { afterAll, expect, it } from 'vitest'
import { Fixture } from './registry.fixture.ts'

const fixture = new Fixture()
afterAll(() => fixture[Symbol.dispose]())

fixture.module('vpc')
const module = fixture.version('Module', 'vpc', 'v1.0.0')
fixture.version('Module', 'vpc', '2.0.0', { status: { checksum: undefined } })
fixture.provider('hello')
const platform = { spec: { operatingSystem: 'linux', architecture: 'amd64' } }
const provider = fixture.version('Provider', 'hello', '1.0.0', { ...platform, content: '0123' })

const ofModule = { kind: 'Module', namespace: 'platform', name: 'vpc', version: '1.0.0' }
const ofProvider = {
  kind: 'Provider',
  namespace: 'platform',
  name: 'hello',
  version: '1.0.0',
  os: 'linux',
  arch: 'amd64',
}
const redirect = '/depot/modules/v1/platform/vpc/aws/1.0.0/download'
const moduleArchive = `/depot/modules/v1/download/fileSystem/modules/vpc/vpc_v1.0.0.zip?fileChecksum=${module}`
const archive = '/depot/providers/v1/download/platform/hello/1.0.0'

it.each([
  { what: 'the redirect of a module', path: redirect, status: 204, tells: [ofModule] },
  { what: 'HEAD of it', method: 'HEAD', path: redirect, status: 204, tells: [] },
  {
    what: 'a module that cannot be downloaded',
    path: redirect.replace('1.0.0', '2.0.0'),
    status: 404,
    tells: [],
  },
  {
    what: 'the archive of a module, after its redirect',
    path: moduleArchive,
    status: 200,
    tells: [],
  },
  { what: 'the archive of a provider', path: archive, status: 200, tells: [ofProvider] },
  { what: 'HEAD of it', method: 'HEAD', path: archive, status: 200, tells: [] },
  {
    what: 'a first part of it',
    path: archive,
    headers: { range: 'bytes=0-1' },
    status: 206,
    tells: [ofProvider],
  },
  { what: 'the rest of it', path: archive, headers: { range: 'bytes=2-' }, status: 206, tells: [] },
  {
    what: 'what is not there',
    path: archive,
    headers: { range: 'bytes=9-' },
    status: 416,
    tells: [],
  },
  {
    what: 'an archive that the client has',
    path: archive,
    headers: { 'if-none-match': `"${provider}"` },
    status: 304,
    tells: [],
  },
  { what: 'an unknown provider', path: archive.replace('hello', 'nope'), status: 404, tells: [] },
])(
  '$what counts as $tells.length',
  async ({ path, method = 'GET', headers = {}, status, tells }) => {
    const told: unknown[] = []
    const app = fixture.app({ onDownload: (download) => told.push(download) })
    const response = await app.request(path, { method, headers })
    await response.arrayBuffer()
    expect([response.status, told]).toEqual([status, tells])
  },
)
