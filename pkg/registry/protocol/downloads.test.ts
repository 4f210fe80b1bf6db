import { afterAll, expect, it, vi } from 'vitest'
import { serve } from '../../base/serving/serving.ts'
import { createMetrics } from '../../base/telemetry/telemetry.ts'
import { Fixture } from '../server/registry.fixture.ts'

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
    tells: [],
  },
  {
    what: 'a part of it that is the whole',
    path: archive,
    headers: { range: 'bytes=0-' },
    status: 206,
    tells: [ofProvider],
  },
  {
    what: 'a range that means nothing',
    path: archive,
    headers: { range: 'bytes=3-1' },
    status: 200,
    tells: [ofProvider],
  },
  {
    what: 'an archive that changed since the client had it',
    path: archive,
    headers: { 'if-none-match': '"other"', 'if-range': '"other"', range: 'bytes=2-' },
    status: 200,
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
    const seen: unknown[] = []
    const app = fixture.app({ onDownload: (download) => seen.push(download) })
    const response = await app.request(path, { method, headers })
    await response.arrayBuffer()
    expect([response.status, seen]).toEqual([status, tells])
  },
)

it.each([20_000, 20_000_000])(
  'an archive of %i bytes that is broken off does not count, one that is read to its end does',
  async (sizeBytes) => {
    const own = new Fixture()
    own.provider('large')
    const content = Buffer.alloc(sizeBytes, 1)
    own.version('Provider', 'large', '1.0.0', { ...platform, content })
    const seen: unknown[] = []
    const app = own.app({ onDownload: (download) => seen.push(download) })
    const server = await serve({
      fetch: (request, env) => app.request(request, undefined, env),
      listen: { host: '127.0.0.1', port: 0 },
      adminListen: { host: '127.0.0.1', port: 0 },
      log: own.log,
      metrics: createMetrics({ version: 'test' }),
      waitingFor: () => [],
    })
    const url = `${server.url}/depot/providers/v1/download/platform/large/1.0.0`
    const broken = new AbortController()
    const response = await fetch(url, { signal: broken.signal })
    const reader = response.body?.getReader()
    await reader?.read()
    broken.abort()
    const whole = await (await fetch(url)).arrayBuffer()
    expect(whole.byteLength).toBe(sizeBytes)
    // A small one was handed over before the client could go.
    await vi.waitFor(() => expect(seen).toHaveLength(sizeBytes > 1e6 ? 1 : 2))
    await server.stop(0)
    own[Symbol.dispose]()
  },
)
