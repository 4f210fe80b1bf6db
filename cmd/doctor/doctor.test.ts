import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it, onTestFinished } from 'vitest'
import { startExplorer } from '../../hack/testbed/explorer/explorer.ts'
import { writeBarePages } from '../../hack/testbed/explorer/pages.ts'
import { runProgram } from '../../hack/testbed/program/program.ts'
import { Registry } from '../../hack/testbed/registry/registry.ts'
import { writeCertificate } from '../../hack/testbed/server/certificate.ts'
import { startServer } from '../../hack/testbed/server/server.ts'
import { TestIssuer } from '../../pkg/registry/auth/issuer.fixture.ts'

const registry = new Registry()
const dir = mkdtempSync(join(tmpdir(), 'depot-doctor-'))
for (const name of ['tmp', 'archives']) mkdirSync(join(dir, name))
registry.write('module.yaml', [
  {
    apiVersion: 'depot.internal/v1alpha1',
    kind: 'Module',
    metadata: { namespace: 'platform', name: 'network' },
    spec: {
      moduleConfig: {
        name: 'network',
        provider: 'aws',
        storageConfig: { fileSystem: { directoryPath: 'modules' } },
      },
      versions: [],
    },
  },
])
afterAll(() => {
  registry.remove()
  rmSync(dir, { recursive: true })
})

const folder = ['--manifests', registry.manifests, '--archives', registry.archives]
const anonymous = [...folder, '--anonymous-auth']

interface Report {
  readonly status: string
  readonly checks: readonly {
    readonly what: string
    readonly status: string
    readonly message: string
    readonly remedy?: string
  }[]
}

/** Runs the doctor, and finds its line about something. */
async function examined(what: string, ...args: readonly string[]) {
  const { status, stdout, stderr } = await runProgram(dir, ['doctor', ...args, '-o', 'json'])
  expect(stderr).toBe('')
  const report = JSON.parse(stdout) as Report
  expect(status).toBe(report.status === 'failed' ? 1 : 0)
  return report.checks.find((check) => check.what.startsWith(what))
}

it('prints a line for each check of a server of a folder, with remedies, and exits with 0 after warnings', async () => {
  const { status, stdout } = await runProgram(dir, ['doctor', 'server', ...anonymous])
  expect(stdout).toBe(`warning  signing key: none: providers cannot be installed
         → create one with depot keygen, and name it with --gpg-private-key-path
ok       storage folder modules: can be read
`)
  expect(status).toBe(0)
})

it('stores, reads and removes an object where depot sync stores archives, and leaves nothing behind', async () => {
  expect(await examined('storage', 'sync', ...folder)).toMatchObject({
    what: 'storage folder modules',
    status: 'ok',
    message: 'can be written, read and deleted',
  })
  expect(await examined('git', 'sync', ...folder)).toMatchObject({
    message: expect.stringMatching(/^(git version|not found)/),
  })
  const left = readdirSync(registry.archives, { recursive: true, encoding: 'utf8' })
  expect(left.filter((path) => path.includes('doctor'))).toEqual([])
})

it('fails if the archives are missing or a file is in their place', async () => {
  const missing = ['--manifests', registry.manifests, '--archives', join(dir, 'none')]
  expect(await examined('storage', 'server', ...missing, '--anonymous-auth')).toMatchObject({
    status: 'failed',
    message: expect.stringContaining('/none does not exist: create it, or name another'),
  })
  writeFileSync(join(dir, 'archives/modules'), '')
  const blocked = ['--manifests', registry.manifests, '--archives', join(dir, 'archives')]
  expect(await examined('storage', 'sync', ...blocked)).toMatchObject({ status: 'failed' })
})

it('checks the signing key', async () => {
  writeFileSync(join(dir, 'no-key.asc'), 'nothing')
  const key = ['--gpg-private-key-path', join(dir, 'no-key.asc')]
  expect(await examined('signing key', 'server', ...anonymous, ...key)).toMatchObject({
    status: 'failed',
    message: expect.stringContaining('no-key.asc'),
  })
  await registry.sign()
  const good = ['--gpg-private-key-path', registry.signingKey ?? '']
  expect(await examined('signing key', 'server', ...anonymous, ...good)).toMatchObject({
    status: 'ok',
  })
})

it('compares the names of the certificate with the base URL', async () => {
  const { flags } = await writeCertificate(dir, 'depot.example.com', 'other.example.com')
  const certificate = (...more: readonly string[]) =>
    examined('certificate', 'server', ...anonymous, ...flags, ...more)
  expect(await certificate('--base-url', 'https://registry.example.com')).toMatchObject({
    status: 'failed',
    message:
      'it is for depot.example.com, other.example.com, and clients ask for registry.example.com (--base-url)',
    remedy: expect.stringContaining('get a certificate for registry.example.com'),
  })
  expect(await certificate('--base-url', 'https://other.example.com/path')).toMatchObject({
    status: 'warning',
    message: expect.stringContaining('CN=depot.example.com, which is not a public authority'),
  })
  expect(await certificate()).toMatchObject({
    status: 'warning',
    message: expect.stringContaining('--base-url does not say which name clients use'),
  })
  writeFileSync(join(dir, 'key.pem'), 'nothing')
  expect(await certificate()).toMatchObject({ status: 'failed' })
})

it('fetches the keys of the issuer, and compares its clock', async () => {
  const issuer = await TestIssuer.start()
  onTestFinished(() => issuer.stop())
  const oidc = ['server', ...folder, '--oidc-issuer-url', issuer.url, '--oidc-client-id', 'depot']
  expect(await examined('issuer', ...oidc)).toMatchObject({
    what: `issuer ${issuer.url}`,
    status: 'ok',
    message: 'its 1 keys can be fetched',
  })
  expect(await examined('clock', ...oidc)).toMatchObject({ status: 'ok' })
  issuer.metadata = { issuer: 'https://other.example', jwks_uri: 'https://other.example/keys' }
  expect(await examined('issuer', ...oidc)).toMatchObject({
    status: 'failed',
    message: expect.stringContaining('calls itself "https://other.example"'),
  })
  issuer.unreachable = true
  expect(await examined('issuer', ...oidc)).toMatchObject({
    status: 'failed',
    remedy: expect.stringContaining('--oidc-issuer-url'),
  })
})

it('fetches the keys of each publish issuer, and compares its audience with the base URL', async () => {
  const [people, ci] = await Promise.all([TestIssuer.start(), TestIssuer.start()])
  onTestFinished(() => {
    people.stop()
    ci.stop()
  })
  const file = join(dir, 'issuers.yaml')
  const write = (entry: object) => writeFileSync(file, JSON.stringify([entry]))
  const audience = 'https://depot.example.com'
  const entry = { alias: 'gha', issuer: ci.url, audience, claims: ['repository_id'] }
  const oidc = ['--oidc-issuer-url', people.url, '--oidc-client-id', 'depot']
  const issuer = (base: string) =>
    examined(
      'publish issuer',
      'server',
      ...folder,
      ...oidc,
      '--publish-issuers',
      file,
      '--base-url',
      base,
    )
  write(entry)
  expect(await issuer(audience)).toEqual({
    what: 'publish issuer gha',
    status: 'ok',
    message: `its 1 keys can be fetched; its tokens must be for ${audience}`,
  })
  expect(await issuer('https://other.example.com')).toMatchObject({
    status: 'warning',
    message: expect.stringContaining('requests them for https://other.example.com'),
    remedy: expect.stringContaining('set audience to https://other.example.com'),
  })
  ci.published = []
  expect(await issuer(audience)).toMatchObject({ status: 'failed' })
  ci.unreachable = true
  expect(await issuer(audience)).toMatchObject({
    status: 'failed',
    remedy: expect.stringContaining(`correct issuer in ${file}`),
  })
  write({ ...entry, alias: 'GHA' })
  expect(await issuer(audience)).toMatchObject({
    what: `publish issuers of ${file}`,
    status: 'failed',
    message: expect.stringContaining('must be lower-case'),
  })
})

it('says how far two clocks differ', async () => {
  let aheadMs = 0
  const late = createServer((_, response) => {
    response.setHeader('Date', new Date(Date.now() + aheadMs).toUTCString())
    response.end('{}')
  })
  await new Promise<void>((done) => {
    late.listen(0, '127.0.0.1', done)
  })
  onTestFinished(() => void late.close())
  const { port } = late.address() as { port: number }
  const url = `http://127.0.0.1:${port}`
  const oidc = ['server', ...folder, '--oidc-issuer-url', url, '--oidc-client-id', 'depot']
  aheadMs = 300_000
  expect(await examined('clock', ...oidc)).toMatchObject({
    status: 'failed',
    message: expect.stringMatching(/^this machine is (299|300) s behind the issuer$/),
  })
  aheadMs = -20_000
  expect(await examined('clock', ...oidc)).toMatchObject({
    status: 'warning',
    message: expect.stringMatching(/^this machine is 2\d s ahead of the issuer$/),
  })
})

it('asks a running server, and says why it cannot be reached', async () => {
  const server = await startServer(registry)
  onTestFinished(async () => void (await server.stop()))
  const running = [...anonymous, '--server-url', server.url, '--admin-url', server.adminUrl]
  expect(await examined('server at', 'server', ...running)).toMatchObject({
    status: 'ok',
    message: 'it names the registry',
  })
  expect(await examined('readiness', 'server', ...running)).toMatchObject({ status: 'ok' })
  const wrong = [...anonymous, '--server-url', server.adminUrl, '--admin-url', server.url]
  expect(await examined('server at', 'server', ...wrong)).toMatchObject({
    status: 'failed',
    message: expect.stringContaining('answered 404'),
    remedy: expect.stringContaining('/.well-known'),
  })
  const gone = [...anonymous, '--server-url', 'http://127.0.0.1:9']
  expect(await examined('server at', 'server', ...gone)).toMatchObject({
    status: 'failed',
    message: expect.stringMatching(/ECONNREFUSED|bad port/),
  })
})

it('asks a running explorer for a page and for the server, and says what to correct', async () => {
  const server = await startServer(registry)
  onTestFinished(async () => void (await server.stop()))
  const flags = ['--dist-path', writeBarePages(join(dir, 'pages'))]
  const explorerOf = async (serverUrl: string) => {
    const explorer = await startExplorer({ serverUrl, flags })
    onTestFinished(async () => void (await explorer.stop()))
    return explorer.url
  }
  const url = await explorerOf(server.url)
  const both = [...anonymous, '--ui-url', url, '--ui-base-url', url]
  for (const what of ['explorer at', "browsers' address"]) {
    expect(await examined(what, 'server', ...both)).toMatchObject({
      status: 'ok',
      message: 'it has its pages, and reaches the server',
    })
  }
  const lonely = await explorerOf('http://127.0.0.1:9')
  expect(await examined('explorer at', 'server', ...anonymous, '--ui-url', lonely)).toMatchObject({
    status: 'failed',
    message: expect.stringContaining('does not reach the server: answered 50'),
    remedy: expect.stringContaining('ui.serverHost of the chart'),
  })
  expect(
    await examined('explorer at', 'server', ...anonymous, '--ui-url', server.url),
  ).toMatchObject({
    status: 'failed',
    message: expect.stringContaining('answered 404 without a page'),
    remedy: expect.stringContaining('forward / to the explorer'),
  })
  const gone = ['--ui-url', 'http://127.0.0.1:9', '--ui-base-url', 'http://127.0.0.1:9']
  expect(await examined('explorer at', 'server', ...anonymous, ...gone)).toMatchObject({
    status: 'failed',
    remedy: expect.stringContaining('kubectl logs deployment/depot-ui'),
  })
  expect(await examined("browsers' address", 'server', ...anonymous, ...gone)).toMatchObject({
    status: 'warning',
    remedy: 'open http://127.0.0.1:9 in a browser',
  })
})

it('checks with the options of the named command, and lists the commands', async () => {
  const unknown = await runProgram(dir, ['doctor', 'sync', '--anonymous-auth'])
  expect(unknown).toMatchObject({
    status: 2,
    stderr: expect.stringContaining('--anonymous-auth is unknown'),
  })
  expect(await runProgram(dir, ['doctor'])).toMatchObject({
    status: 2,
    stderr: expect.stringContaining('write what to check: depot doctor server, controller or sync'),
  })
})
