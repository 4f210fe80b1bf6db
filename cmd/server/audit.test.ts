import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { openAuditLog } from '../../pkg/base/telemetry/telemetry.ts'
import { oidcOptions, TestIssuer } from '../../pkg/registry/auth/issuer.fixture.ts'
import { AccessFixture } from '../../pkg/registry/server/access.fixture.ts'
import { startServer } from '../../pkg/registry/server/server.ts'
import { auditOf } from './audit.ts'

const dir = mkdtempSync(join(tmpdir(), 'depot-audit-'))
afterAll(() => rmSync(dir, { recursive: true }))
const anyPort = { host: '127.0.0.1', port: 0 }

it('records who requested an archive, which binding allowed it, and the outcome', async () => {
  const path = join(dir, 'new folder/audit.log')
  const issuer = await TestIssuer.start()
  using fixture = new AccessFixture()
  const heldBack = [{ version: '2.0.0', why: 'Denied', message: 'denied: stolen' }]
  fixture.add('Module', 'vpc', {
    spec: {
      moduleConfig: {
        provider: 'aws',
        storageConfig: { fileSystem: { directoryPath: 'modules' } },
      },
    },
    status: { listing: { address: 'github.com/acme/vpc', heldBack } },
  })
  fixture.version('Module', 'vpc', '1.0.0')
  fixture.bind('developers', { expression: '"dev" in groups', moduleResources: ['vpc'] })
  const oidc = oidcOptions(issuer.url)
  const auth = fixture.auth({ mode: 'oidc', oidc })
  await auth.started
  const audit = openAuditLog({ path, log: fixture.log, metrics: fixture.metrics })
  const server = await startServer({
    listen: anyPort,
    adminListen: anyPort,
    catalog: fixture.catalog,
    archives: fixture.archives,
    auth,
    log: fixture.log,
    metrics: fixture.metrics,
    waitingFor: () => [],
    onRequest: auditOf(audit),
  })
  try {
    const base = `${server.url}/depot/modules/v1/platform/vpc/aws`
    const token = await issuer.sign({ sub: 'ada', groups: ['dev'] })
    const authorization = `Bearer ${token}`
    await fetch(`${base}/versions`, { headers: { authorization } })
    await fetch(`${base}/1.0.0/download?x=secret`, { headers: { authorization } })
    await fetch(`${base}/9.9.9/download`, { headers: { authorization } })
    await fetch(`${base}/2.0.0/download`, { headers: { authorization } })
    await fetch(`${base}/1.0.0/download`, { headers: { authorization: 'Bearer nonsense' } })
  } finally {
    await server.stop(0)
    audit.close()
    await auth.close()
    issuer.stop()
  }
  const lines = readFileSync(path, 'utf8').trim().split('\n')
  const records = lines.map((line) => JSON.parse(line) as Record<string, unknown>)
  expect(
    records.map(({ outcome, subject, view, path: asked }) => [outcome, subject, view, asked]),
  ).toEqual([
    ['served', 'ada', 'binding developers', '/depot/modules/v1/platform/vpc/aws/1.0.0/download'],
    ['not found', 'ada', 'binding developers', '/depot/modules/v1/platform/vpc/aws/9.9.9/download'],
    // A policy holds this version back.
    ['refused', 'ada', 'binding developers', '/depot/modules/v1/platform/vpc/aws/2.0.0/download'],
    ['refused', undefined, undefined, '/depot/modules/v1/platform/vpc/aws/1.0.0/download'],
  ])
  expect(records[0]).toMatchObject({
    kind: 'Module',
    namespace: 'platform',
    name: 'vpc',
    version: '1.0.0',
  })
  expect(lines.join()).not.toContain('secret')
  expect(statSync(path).mode & 0o777).toBe(0o600)
})

it('cuts long texts of a request, so that a line has at most a few kilobytes', async () => {
  const path = join(dir, 'long.log')
  using fixture = new AccessFixture()
  fixture.module('vpc')
  const { log, metrics, catalog, archives } = fixture
  const audit = openAuditLog({ path, log, metrics })
  const server = await startServer({
    listen: anyPort,
    adminListen: anyPort,
    catalog,
    archives,
    log,
    metrics,
    waitingFor: () => [],
    onRequest: auditOf(audit),
  })
  const long = 'x'.repeat(15_000)
  await fetch(`${server.url}/depot/modules/v1/${long}/vpc/aws/${long}/download`)
  await server.stop(0)
  audit.close()
  const line = readFileSync(path, 'utf8')
  expect(JSON.parse(line)).toMatchObject({ name: 'vpc', outcome: 'not found' })
  expect(line.length).toBeLessThan(4096)
})

it('does not start if the file cannot be written', () => {
  using fixture = new AccessFixture()
  const { log, metrics } = fixture
  expect(() => openAuditLog({ path: dir, log, metrics })).toThrow(/EISDIR/)
})
