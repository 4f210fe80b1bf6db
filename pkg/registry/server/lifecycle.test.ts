import { afterAll, beforeAll, expect, it } from 'vitest'
import { Fixture } from './registry.fixture.ts'

const fixture = new Fixture()
afterAll(() => fixture[Symbol.dispose]())

const entry = (by: string, message: string) => ({ by, message, since: '2026-11-26T10:00:00Z' })
const withdrawn = {
  status: { quarantinedBy: [entry('ScanPolicy', 'CVE-2026-1 is CRITICAL; take 1.1.1')] },
}
const on = (operatingSystem: string, state: object = {}) => ({
  spec: { operatingSystem, architecture: 'amd64' },
  ...state,
})
let app = fixture.app()
beforeAll(async () => {
  await fixture.withSigner()
  app = fixture.app()
})
const modules = '/depot/modules/v1/platform/vpc/aws'
const providers = '/depot/providers/v1/platform/hello'
const get = async (path: string) => {
  const response = await app.request(path)
  return { status: response.status, text: await response.text(), headers: response.headers }
}
const moduleVersions = async () => {
  const { text } = await get(`${modules}/versions`)
  return JSON.parse(text).modules[0].versions.map(({ version }: { version: string }) => version)
}
const providerVersions = async () => JSON.parse((await get(`${providers}/versions`)).text).versions

fixture.module('vpc')
fixture.version('Module', 'vpc', '1.0.0')
fixture.version('Module', 'vpc', '1.1.0')
fixture.provider('hello')
for (const version of ['1.0.0', '1.1.0']) {
  fixture.version('Provider', 'hello', version, on('linux'))
  fixture.version('Provider', 'hello', version, on('darwin'))
}

it('serves a module version until a policy quarantines it, and again afterwards', async () => {
  const { headers } = await get(`${modules}/1.1.0/download`)
  const archive = new URL(headers.get('x-terraform-get') ?? '')
  const unnamed = new URL(archive)
  unnamed.searchParams.delete('version')
  const statuses = async () =>
    Promise.all(
      [archive, unnamed].map(async (url) => (await get(url.pathname + url.search)).status),
    )
  // Twice, so that the second answer is kept ready.
  expect([await statuses(), await statuses()]).toEqual([
    [200, 200],
    [200, 200],
  ])
  fixture.version('Module', 'vpc', '1.1.0', withdrawn)
  expect(await moduleVersions()).toEqual(['1.0.0'])
  expect(await get(`${modules}/1.1.0/download`)).toMatchObject({
    status: 410,
    text: JSON.stringify({
      errors: [
        'version 1.1.0 of module platform/vpc cannot be downloaded: it is quarantined: ScanPolicy: CVE-2026-1 is CRITICAL; take 1.1.1',
      ],
    }),
  })
  expect(await statuses()).toEqual([404, 404])
  expect((await get(`${modules}/download`)).headers.get('location')).toBe('1.0.0/download')
  fixture.version('Module', 'vpc', '1.1.0')
  expect(await moduleVersions()).toEqual(['1.1.0', '1.0.0'])
  expect(await statuses()).toEqual([200, 200])
})

it('withdraws one platform of a provider alone', async () => {
  const { text } = await get(`${providers}/1.1.0/download/linux/amd64`)
  const { download_url: archive } = JSON.parse(text)
  const path = archive.replace('http://localhost', '')
  expect((await get(path)).status).toBe(200)
  fixture.version('Provider', 'hello', '1.1.0', on('linux', withdrawn))
  expect((await providerVersions())[0].platforms).toEqual([{ os: 'darwin', arch: 'amd64' }])
  expect(await get(`${providers}/1.1.0/download/linux/amd64`)).toMatchObject({
    status: 410,
    text: expect.stringContaining('CVE-2026-1 is CRITICAL; take 1.1.1'),
  })
  expect((await get(path)).status).toBe(404)
  expect((await get(`${providers}/1.1.0/download/darwin/amd64`)).status).toBe(200)
  fixture.version('Provider', 'hello', '1.1.0', on('darwin', withdrawn))
  expect(await providerVersions()).toMatchObject([{ version: '1.0.0' }])
  expect((await get(path)).status).toBe(404)
})

it('moves the latest version to the newest that is not withdrawn, whatever the status says', async () => {
  fixture.add('Module', 'claims', {
    spec: {
      moduleConfig: {
        provider: 'aws',
        storageConfig: { fileSystem: { directoryPath: 'modules' } },
      },
    },
    status: { latestVersion: '2.0.0' },
  })
  fixture.version('Module', 'claims', '1.0.0')
  fixture.version('Module', 'claims', '2.0.0', withdrawn)
  const detail = async () =>
    JSON.parse((await get('/depot/ui/v1/resources/platform/module/claims')).text)
  expect((await detail()).latestVersion).toBe('1.0.0')
  expect((await get('/depot/modules/v1/platform/claims/aws')).status).toBe(200)
  fixture.version('Module', 'claims', '1.0.0', withdrawn)
  expect((await detail()).latestVersion).toBeUndefined()
  expect((await get('/depot/modules/v1/platform/claims/aws')).status).toBe(410)
})

it('tells browsers of a quarantined version why', async () => {
  fixture.version('Module', 'vpc', '1.1.0', withdrawn)
  const { text } = await get('/depot/ui/v1/resources/platform/module/vpc/versions')
  expect(JSON.parse(text).items[0]).toMatchObject({
    version: '1.1.0',
    reason: 'Quarantined',
    message: 'it is quarantined: ScanPolicy: CVE-2026-1 is CRITICAL; take 1.1.1',
  })
  expect(fixture.catalog.versionStates().Module.unservable).toBe(3)
})

const storageConfig = { fileSystem: { directoryPath: 'modules' } }

it('names no latest version of which nothing is served because a part was withdrawn', async () => {
  fixture.add('Provider', 'half', {
    spec: { providerConfig: { storageConfig } },
    status: { latestVersion: '2.0.0' },
  })
  fixture.version('Provider', 'half', '1.9.0', on('linux'))
  fixture.version('Provider', 'half', '2.0.0', on('linux', withdrawn))
  fixture.version('Provider', 'half', '2.0.0', on('darwin', { status: { checksum: '' } }))
  const detail = await get('/depot/providers/v1/platform/half')
  expect({ ...detail, text: JSON.parse(detail.text) }).toMatchObject({
    status: 200,
    text: { version: '1.9.0' },
  })
  fixture.version('Provider', 'half', '2.0.0', on('darwin'))
  expect(JSON.parse((await get('/depot/providers/v1/platform/half')).text).version).toBe('2.0.0')
})

it('does not let a duplicate of a quarantined version hide what happened to it', async () => {
  fixture.add('Module', 'twice', {
    spec: { moduleConfig: { provider: 'aws', storageConfig } },
    status: { latestVersion: '1.1.0' },
  })
  fixture.version('Module', 'twice', '1.0.0')
  fixture.version('Module', 'twice', '1.1.0', withdrawn)
  fixture.add(
    'Version',
    'twice-younger',
    { spec: { type: 'Module', version: '1.1.0', fileName: 'twice_1.1.0.zip' } },
    {
      creationTimestamp: '2030-01-01T00:00:00Z',
      ownerReferences: [{ apiVersion: 'depot.internal/v1alpha1', kind: 'Module', name: 'twice' }],
    },
  )
  expect((await get('/depot/modules/v1/platform/twice/aws')).status).toBe(200)
  const { text } = await get('/depot/ui/v1/resources/platform/module/twice?version=1.1.0')
  expect(JSON.parse(text)).toMatchObject({
    latestVersion: '1.0.0',
    lifecycle: { state: 'Quarantined' },
    versions: [{ version: '1.1.0', state: 'Quarantined' }, { version: '1.0.0' }],
  })
})

/** The rules of a module with 1.0.0, 1.1.0, 1.1.1 and 2.0.0-rc.1. */
function ruled() {
  const own = new Fixture()
  const rules = (...lifecycle: object[]) => {
    own.add('Module', 'net', {
      spec: { moduleConfig: { provider: 'aws', storageConfig }, lifecycle },
    })
    own.add('Provider', 'hello', {
      spec: {
        providerConfig: { storageConfig: { fileSystem: { directoryPath: 'providers' } } },
        lifecycle,
      },
    })
  }
  rules()
  for (const version of ['1.0.0', '1.1.0', '1.1.1', '2.0.0-rc.1']) {
    own.version('Module', 'net', version)
    own.version('Provider', 'hello', version, on('linux'))
  }
  const routes = own.app()
  const json = async (path: string) => JSON.parse(await (await routes.request(path)).text())
  const net = '/depot/modules/v1/platform/net/aws'
  return {
    rules,
    net,
    listed: async (): Promise<{ version: string; deprecation?: object }[]> =>
      (await json(`${net}/versions`)).modules[0].versions,
    providers: () => json('/depot/providers/v1/platform/hello/versions'),
    browse: (path = '') => json(`/depot/ui/v1/resources/platform/module/net${path}`),
    status: async (path: string) => (await routes.request(path)).status,
    json,
    counts: () => own.catalog.lifecycles(),
    [Symbol.dispose]: () => own[Symbol.dispose](),
  }
}
const numbers = (list: readonly { version: string }[]) => list.map(({ version }) => version)

it('warns of deprecated versions, and serves them', async () => {
  using at = ruled()
  const link = 'https://wiki.test/net'
  at.rules({
    versions: '< 1.1.1',
    state: 'Deprecated',
    message: 'old\u001b[31m',
    replacedBy: '1.1.1',
    link,
  })
  const reason = 'old [31m; use 1.1.1 instead'
  const deprecation = { reason, link }
  expect(await at.listed()).toEqual([
    { version: '2.0.0-rc.1' },
    { version: '1.1.1' },
    { version: '1.1.0', deprecation },
    { version: '1.0.0', deprecation },
  ])
  expect((await at.providers()).warnings).toEqual(
    ['1.1.0', '1.0.0'].map((version) => `version ${version} is deprecated: ${reason}; see ${link}`),
  )
  expect(await at.status(`${at.net}/1.0.0/download`)).toBe(204)
  expect(await at.json(`${at.net}/1.0.0`)).toMatchObject({ deprecation })
  expect(await at.json(`${at.net}/1.1.1`)).not.toHaveProperty('deprecation')
  at.rules()
  expect((await at.listed()).every((one) => one.deprecation === undefined)).toBe(true)
  expect(await at.providers()).not.toHaveProperty('warnings')
})

it('lists a yanked version only while a newer active one has its minor version', async () => {
  using at = ruled()
  at.rules({ versions: '<= 1.1.0', state: 'Yanked' })
  expect(numbers(await at.listed())).toEqual(['2.0.0-rc.1', '1.1.1', '1.1.0'])
  expect((await at.listed())[2]).toMatchObject({ deprecation: { reason: 'it is yanked' } })
  expect(numbers((await at.providers()).versions)).toEqual(['2.0.0-rc.1', '1.1.1', '1.1.0'])
  expect((await at.providers()).warnings).toEqual(['version 1.1.0 is yanked'])
  expect(await at.status(`${at.net}/1.0.0/download`)).toBe(204)
  // A deprecated one is not active, and a quarantined one is not there.
  for (const state of ['Deprecated', 'Quarantined']) {
    at.rules({ versions: '1.1.0', state: 'Yanked' }, { versions: '1.1.1', state })
    expect(numbers(await at.listed())).not.toContain('1.1.0')
  }
})

it('has an empty list and no latest version if every version is yanked, until the rule goes', async () => {
  using at = ruled()
  at.rules({ versions: '>= 1.0.0', state: 'Yanked' }, { versions: '2.0.0-rc.1', state: 'Yanked' })
  expect(await at.listed()).toEqual([])
  expect(await at.browse()).not.toHaveProperty('latestVersion')
  expect(await at.status(at.net)).toBe(404)
  at.rules()
  expect((await at.browse()).latestVersion).toBe('1.1.1')
  expect(await at.listed()).toHaveLength(4)
})

it('answers 410 and says why if every version is quarantined', async () => {
  using at = ruled()
  at.rules(
    { versions: '>= 1.0.0', state: 'Quarantined', message: 'leaks' },
    { versions: '2.0.0-rc.1', state: 'Quarantined', message: 'leaks' },
  )
  expect(await at.status(at.net)).toBe(410)
  at.rules()
  expect(await at.status(at.net)).toBe(200)
})

it('shows states to browsers and counts them', async () => {
  using at = ruled()
  at.rules(
    { versions: '1.1.1', state: 'Quarantined', message: 'leaks', replacedBy: '1.1.0' },
    { versions: '1.0.0', state: 'Deprecated' },
  )
  expect(await at.browse()).toMatchObject({
    latestVersion: '1.1.0',
    versions: [{ version: '2.0.0-rc.1' }, { state: 'Quarantined' }, {}, { state: 'Deprecated' }],
  })
  const { lifecycle } = await at.browse('?version=1.1.1')
  expect(lifecycle).toEqual({ state: 'Quarantined', message: 'leaks', replacedBy: '1.1.0' })
  const { items } = await at.browse('/versions')
  expect(items[1]).toMatchObject({ lifecycle, reason: 'Quarantined' })
  const counts = { Deprecated: 1, Yanked: 0, Quarantined: 1 }
  expect(at.counts()).toEqual({ Module: counts, Provider: counts })
})

it('prints at most five warnings, then the number of the others', async () => {
  using own = new Fixture()
  own.provider('many')
  const lifecycle = { state: 'Deprecated', message: 'old' }
  for (let patch = 0; patch < 8; patch += 1) {
    own.version('Provider', 'many', `1.0.${patch}`, {
      spec: { operatingSystem: 'linux', architecture: 'amd64', lifecycle },
    })
  }
  const list = await own.app().request('/depot/providers/v1/platform/many/versions')
  expect(JSON.parse(await list.text()).warnings).toEqual([
    ...[7, 6, 5, 4, 3].map((patch) => `version 1.0.${patch} is deprecated: old`),
    '3 more versions are deprecated or yanked',
  ])
})

it('refuses an object with a mistake in a rule, so that its last valid rules stay', async () => {
  using at = ruled()
  at.rules({ versions: '1.1.1', state: 'Quarantined' })
  for (const versions of ['1.1,x', '', ' ', '>= 1.0 < 2', 'v1.1.1 ||']) {
    expect(() => at.rules({ versions, state: 'Quarantined' })).toThrow(
      /must be a version constraint/,
    )
    expect(numbers(await at.listed())).toEqual(['2.0.0-rc.1', '1.1.0', '1.0.0'])
  }
})

it('holds a published version whose module demands scans, until a scanner or controller has looked at it', async () => {
  const sha256 = 'ab'.repeat(32)
  const upload = { fileName: 'new_1.0.0.tar.gz', sha256, sizeBytes: 1 }
  const download = async () =>
    (await get('/depot/modules/v1/platform/new/aws/1.0.0/download')).status
  const statuses: number[] = []
  fixture.module('new', { scanPolicy: { block: 'HIGH' } })
  fixture.version('Module', 'new', '1.0.0', { spec: { upload } })
  statuses.push(await download())
  fixture.module('new', { scanPolicy: { block: 'HIGH', onMissing: 'Serve' } })
  statuses.push(await download())
  fixture.module('new', { scanPolicy: { block: 'HIGH' } })
  statuses.push(await download())
  const counts = { critical: 0, high: 0, medium: 0, low: 0, unknown: 0 }
  const scan = { sha256, scannedAt: '2026-11-26T10:00:00Z', scanner: 'trivy', counts }
  fixture.version('Module', 'new', '1.0.0', { spec: { upload }, status: { scan } })
  statuses.push(await download())
  const artifact = { contentDigest: `sha256:${sha256}`, revision: `sha256:${sha256}` }
  fixture.version('Module', 'new', '1.0.0', { spec: { upload }, status: { artifact } })
  statuses.push(await download())
  expect(statuses).toEqual([410, 204, 410, 204, 204])
})
