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
  expect((await get('/depot/modules/v1/platform/claims/aws')).status).toBe(404)
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
