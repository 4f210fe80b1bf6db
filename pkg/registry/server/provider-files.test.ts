import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { createMetrics } from '../../base/telemetry/telemetry.ts'
import { AccessFixture } from './access.fixture.ts'
import { createApp } from './app.ts'

const fixture = new AccessFixture()
afterAll(() => fixture[Symbol.dispose]())
const spec = { operatingSystem: 'linux', architecture: 'amd64' }
fixture.publicNamespace('platform')
beforeAll(() => fixture.withSigner())
fixture.provider('private')
const sha256 = fixture.version('Provider', 'private', '1.0.0', { spec })
const root = '/depot/providers/v1'
const cluster = {
  apiGroup: 'depot.internal',
  address: () => Promise.reject(new Error('no caller is known to it')),
  ttlMs: 1000,
}

const files: Record<string, (address: string, platform: string, query: string) => string> = {
  archive: (address, platform, query) => {
    const [os, arch] = platform.split('/')
    return `${root}/download/${address}?os=${os}&arch=${arch}${query && `&${query}`}`
  },
  SHA256SUMS: (address, platform, query) =>
    `${root}/${address}/SHA256SUMS/${platform}${query && `?${query}`}`,
  'SHA256SUMS.sig': (address, platform, query) =>
    `${root}/${address}/SHA256SUMS.sig/${platform}${query && `?${query}`}`,
}

describe.each(Object.entries(files))('%s of a provider that is not public', (_, urlOf) => {
  let app: ReturnType<typeof createApp>['routes']
  beforeAll(() => {
    const auth = fixture.auth({ mode: 'bearer', cluster })
    app = fixture.app({ auth })
    return () => auth.close()
  })
  const good = `sha256=${sha256}`
  const answerTo = async (url: string) => {
    const response = await app.request(url)
    return { status: response.status, body: await response.text() }
  }

  it('is sent to a stranger who names its digest', async () => {
    const { status } = await answerTo(urlOf('platform/private/1.0.0', 'linux/amd64', good))
    expect(status).toBe(200)
  })

  it.each([
    ['no digest', 'platform/private/1.0.0', 'linux/amd64', ''],
    ['an empty digest', 'platform/private/1.0.0', 'linux/amd64', 'sha256='],
    ['another digest', 'platform/private/1.0.0', 'linux/amd64', `sha256=${'0'.repeat(64)}`],
    ['a part of the digest', 'platform/private/1.0.0', 'linux/amd64', good.slice(0, -1)],
    ['another platform', 'platform/private/1.0.0', 'plan9/amd64', good],
    ['another version', 'platform/private/9.9.9', 'linux/amd64', good],
    ['a provider that does not exist', 'platform/none/1.0.0', 'linux/amd64', good],
    ['a namespace that does not exist', 'none/none/1.0.0', 'linux/amd64', ''],
  ])('is the same 404 for %s', async (_case, address, platform, query) => {
    const unknown = await answerTo(urlOf('x/y/1.0.0', 'linux/amd64', ''))
    const answer = await answerTo(urlOf(address, platform, query))
    expect(answer).toEqual({ status: 404, body: unknown.body })
    expect(answer.body).toContain('run init again')
  })
})

it('nothing of a hidden provider is read for a stranger, so that the time of the answer tells nothing', async () => {
  const auth = fixture.auth({ mode: 'bearer', cluster })
  const { catalog, archives, log } = fixture
  const whole = createApp({ catalog, archives, log, signer: undefined, auth })
  const hidden = catalog.parentAt('Provider', 'platform', 'private')
  const reads = vi.spyOn(hidden as NonNullable<typeof hidden>, 'memo')
  const statusOf = async (url: string) => {
    const request = { url, origin: 'http://depot.test', authorization: undefined, facts: {} }
    const headers = { ifNoneMatch: undefined, acceptEncoding: undefined, isForwarded: false }
    const ready = whole.hot({ ...request, ...headers })
    return (ready?.toResponse() ?? (await whole.routes.request(url))).status
  }
  try {
    for (const version of ['1.0.0', '9.0.0']) {
      for (const query of ['', `sha256=${'0'.repeat(64)}`]) {
        for (const urlOf of Object.values(files)) {
          const url = urlOf(`platform/private/${version}`, 'linux/amd64', query)
          expect(await statusOf(url)).toBe(404)
        }
      }
    }
    expect(reads).not.toHaveBeenCalled()
    const known = `${root}/platform/private/1.0.0/SHA256SUMS/linux/amd64?sha256=${sha256}`
    expect(await statusOf(known)).toBe(200)
    expect(reads).toHaveBeenCalled()
  } finally {
    reads.mockRestore()
    await auth.close()
  }
})

it('a file of a public provider is sent without a digest', async () => {
  const labels = { 'depot.internal/public': 'true' }
  const providerConfig = { storageConfig: { fileSystem: { directoryPath: 'providers' } } }
  fixture.add('Provider', 'open', { spec: { providerConfig } }, { labels })
  fixture.version('Provider', 'open', '1.0.0', { spec })
  const auth = fixture.auth({ mode: 'bearer', cluster })
  const url = `${root}/platform/open/1.0.0/SHA256SUMS/linux/amd64`
  const response = await fixture.app({ auth }).request(url)
  await auth.close()
  expect(response.status).toBe(200)
})

it('a caller is counted once for each request, whatever the answer is', async () => {
  const metrics = createMetrics({ version: 'test' })
  using own = new AccessFixture()
  const auth = own.auth({ mode: 'anonymous', metrics })
  const { catalog, archives, log } = own
  const signer = await own.withSigner()
  own.provider('private')
  own.version('Provider', 'private', '1.0.0', { spec })
  const app = createApp({ catalog, archives, log, signer, auth })
  const counted = async () => {
    const { values = [] } =
      (await metrics.getSingleMetric('depot_auth_requests_total')?.get()) ?? {}
    return values.reduce((sum, { value }) => sum + value, 0)
  }
  const ready: boolean[] = []
  const statuses: number[] = []
  const at = `${root}/platform/private/1.0.0`
  const urls = [
    `${at}/download/linux/amd64`,
    `${at}/SHA256SUMS/linux/amd64`,
    // The second time, the signature is there.
    `${at}/SHA256SUMS.sig/linux/amd64`,
    `${at}/SHA256SUMS.sig/linux/amd64`,
    `${root}/platform/private/9.9.9/download/linux/amd64`,
    `${root}/platform/private/9.9.9/SHA256SUMS/linux/amd64`,
  ]
  for (const [index, url] of urls.entries()) {
    const request = { url, origin: 'http://depot.test', authorization: undefined, facts: {} }
    const headers = { ifNoneMatch: undefined, acceptEncoding: undefined, isForwarded: false }
    const answer = app.hot({ ...request, ...headers })
    ready.push(answer !== undefined)
    statuses.push((answer?.toResponse() ?? (await app.routes.request(url))).status)
    expect(await counted()).toBe(index + 1)
  }
  expect(statuses).toEqual([200, 200, 200, 200, 404, 404])
  expect(ready).toEqual([true, true, false, true, false, false])
  await auth.close()
})
