import { createHash, randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { type ExplorerProcess, startExplorer } from '../../hack/testbed/explorer/explorer.ts'
import { writeBarePages } from '../../hack/testbed/explorer/pages.ts'
import { Client, IdentityProvider } from '../../hack/testbed/oidc/oidc.ts'
import { depotArguments } from '../../hack/testbed/program/command.ts'
import { moduleObjects } from '../../hack/testbed/registry/registry.ts'
import { launchProgram, type Server, startAs } from '../../hack/testbed/server/server.ts'
import { type Between, startTlsFront } from '../../hack/testbed/server/tunnel.ts'
import {
  binding,
  brokerIssuer,
  host,
  installAroundLogin,
  LoginRegistry,
  onlyAfterLogin,
} from '../login.fixture.ts'

/* The explorer as the entry point of a small deployment: its host is the registry's host, for CLIs, logins and archives. */

const largeBytes = 100_000_000
const large = randomBytes(largeBytes)
const digest = createHash('sha256').update(large).digest('hex')
const archivePath = `/depot/modules/v1/download/fileSystem/modules/large/large.zip?fileChecksum=${digest}`
const login = new LoginRegistry()
const { registry } = login
const terraform = inject('terraform')
let server: Server
let explorer: ExplorerProcess
let provider: IdentityProvider
let front: Between
let client: Client

beforeAll(async () => {
  registry.archive('modules/large/large.zip', large)
  await login.write([
    ...moduleObjects({
      name: 'large',
      versions: [{ version: '1.0.0', fileName: 'large.zip', checksum: digest }],
    }),
    binding('platform', '"platform" in groups'),
  ])
  provider = await IdentityProvider.start(brokerIssuer)
  server = await startAs(
    registry,
    '--manifests',
    registry.manifests,
    '--base-url',
    `https://${host}`,
    '--oidc-issuer-url',
    brokerIssuer,
    '--oidc-client-id',
    'depot',
    '--broker-proxy-url',
    provider.url,
  )
  explorer = await startExplorer({
    serverUrl: server.url,
    flags: [
      '--dist-path',
      writeBarePages(join(registry.dir, 'pages')),
      '--base-url',
      `https://${host}`,
    ],
  })
  front = await startTlsFront(explorer.url, login.certificate)
  await login.lead(front.url)
  client = new Client(front.url)
  return async () => {
    await client.close()
    front.close()
    await explorer.stop()
    await server.stop()
    provider.stop()
  }
})
afterAll(() => login.stop())

it.skipIf(terraform === undefined)(
  'terraform logs in and installs with only the host of the explorer',
  async () =>
    expect(
      await installAroundLogin(
        { url: server.url, environment: login.environment },
        { cli: terraform, client },
      ),
    ).toEqual(onlyAfterLogin),
)

describe('an archive of 100 MB', () => {
  const download = (url: string, headers: Record<string, string> = {}) =>
    fetch(url + archivePath, { headers })

  it('arrives completely, with its length and tag', async () => {
    const answer = await download(explorer.url)
    const body = Buffer.from(await answer.arrayBuffer())
    expect([answer.status, answer.headers.get('content-length')]).toEqual([200, `${largeBytes}`])
    expect(answer.headers.get('etag')).toBe((await download(server.url)).headers.get('etag'))
    expect(createHash('sha256').update(body).digest('hex')).toBe(digest)
  })

  it.each([
    ['bytes=0-99', 0, 100],
    ['bytes=99999900-', 99_999_900, 100],
    ['bytes=-1', 99_999_999, 1],
    ['bytes=1000000-50999999', 1_000_000, 50_000_000],
  ])('arrives in parts: %s', async (range, from, length) => {
    const answer = await download(explorer.url, { range })
    const body = Buffer.from(await answer.arrayBuffer())
    expect([answer.status, answer.headers.get('content-range')]).toEqual([
      206,
      `bytes ${from}-${from + length - 1}/${largeBytes}`,
    ])
    expect(body.equals(large.subarray(from, from + length))).toBe(true)
  })

  it('is not sent to a client that has it, and ranges beyond its end are refused', async () => {
    const etag = (await download(server.url)).headers.get('etag') ?? ''
    expect((await download(explorer.url, { 'if-none-match': etag })).status).toBe(304)
    expect((await download(explorer.url, { range: 'bytes=999999999-' })).status).toBe(416)
  })
})

it('forwards the answers of the registry unchanged, reason phrase included', async () => {
  const paths = ['/depot/modules/v1/platform/nothing/aws/versions', '/v1/modules/a/b/c/versions']
  for (const path of paths) {
    const [own, passed] = await Promise.all([fetch(server.url + path), fetch(explorer.url + path)])
    expect([passed.status, passed.statusText]).toEqual([own.status, own.statusText])
    expect(await passed.text()).toBe(await own.text())
  }
})

it('a restart of the server needs no restart of the explorer', async () => {
  const port = new URL(server.url).port
  await server.stop()
  const gone = await fetch(`${explorer.url}/depot/ui/v1/namespaces`)
  expect([gone.status, await gone.json()]).toEqual([
    502,
    { errors: ['the registry cannot be reached: try again in a moment'] },
  ])
  expect((await fetch(`${explorer.url}/stats`)).status).toBe(503)
  expect((await fetch(`${explorer.adminUrl}/readyz`)).status).toBe(200)
  server = await launchProgram(
    depotArguments('server'),
    [
      '--anonymous-auth',
      '--manifests',
      registry.manifests,
      '--archives',
      registry.archives,
      '--stats-path',
      join(registry.dir, 'stats.db'),
      '--listen',
      `127.0.0.1:${port}`,
      '--admin-listen',
      '127.0.0.1:0',
    ],
    {},
  )
  await expect.poll(async () => (await fetch(`${explorer.url}/stats`)).status).toBe(200)
})

it('stops gracefully on SIGTERM, and finishes the answers that it was sending', async () => {
  const other = await startExplorer({
    serverUrl: server.url,
    flags: ['--dist-path', join(registry.dir, 'pages')],
  })
  const answer = await fetch(other.url + archivePath)
  const reader = answer.body?.getReader()
  let bytes = (await reader?.read())?.value?.length ?? 0
  const stopped = other.stop()
  for (;;) {
    const { done, value } = (await reader?.read()) ?? { done: true, value: undefined }
    if (done) break
    bytes += value?.length ?? 0
  }
  expect(bytes).toBe(largeBytes)
  expect(await stopped).toBe(0)
})
