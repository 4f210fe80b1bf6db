import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { runProgram } from '../../hack/testbed/program/program.ts'
import { type LoneServer, serveAppAlone } from '../../hack/testbed/upstream/https-server.ts'
import { Fixture } from '../../pkg/registry/server/registry.fixture.ts'

const work = mkdtempSync(join(tmpdir(), 'depot-unscanned-'))
const fixture = new Fixture()
let server: LoneServer
let isBrowseHidden = false

beforeAll(async () => {
  const app = fixture.app()
  server = await serveAppAlone('localhost', (url) =>
    isBrowseHidden && url.includes('/ui/v1/')
      ? Response.json({ errors: ['not found'] }, { status: 404 })
      : app.request(url),
  )
  const critical = {
    vulnerabilityID: 'CVE-1',
    pkgName: '',
    installedVersion: '',
    severity: 'CRITICAL',
    title: '',
  }
  const statuses = {
    never: {},
    clean: { sourceScan: { findings: [] } },
    open: { sourceScan: { findings: [critical, { ...critical, severity: 'HIGH' }] } },
  }
  for (const [name, status] of Object.entries(statuses)) {
    fixture.module(name)
    fixture.version('Module', name, 'v1.0.0', { status })
  }
  fixture.provider('half')
  const platform = (operatingSystem: string, status: object) => {
    const spec = { operatingSystem, architecture: 'arm64' }
    fixture.version('Provider', 'half', '1.0.0', { spec, status })
  }
  platform('linux', { binaryScan: { findings: [] } })
  platform('darwin', {})
})
afterAll(async () => {
  await server.close()
  rmSync(work, { recursive: true })
})

const moduleCall = (name: string) =>
  `module "${name}" {\n  source  = "${server.host}/platform/${name}/aws"\n  version = "1.0.0"\n}\n`
const requirement = () =>
  `terraform {\n  required_providers {\n    half = { source = "${server.host}/platform/half" }\n  }\n}\n`

function outdated(configuration: string, ...args: readonly string[]) {
  writeFileSync(join(work, 'main.tf'), configuration)
  const trust = ['--egress-ca-path', server.authority.caFile]
  return runProgram(work, ['outdated', ...args, ...trust], { HOME: work })
}

it('leaves a version undecided if it was not scanned completely, unless findings are ignored', async () => {
  const never = await outdated(moduleCall('never'))
  expect(never.status).toBe(2)
  expect(never.stdout).toContain('unscanned: source')
  expect(never.stdout).toContain(
    '1 checked, 0 with findings, 0 undecided, 0 not checked, 1 unscanned',
  )
  const half = await outdated(requirement(), '-o', 'markdown')
  expect(half).toMatchObject({ status: 2, stdout: expect.stringContaining('unscanned: darwin') })
  expect(await outdated(moduleCall('never'), '--ignore', 'vulnerable')).toEqual({
    status: 0,
    stdout: '1 checked, 0 with findings, 0 undecided, 0 not checked.\n',
    stderr: '',
  })
  expect(await outdated(moduleCall('clean'))).toMatchObject({ status: 0 })
})

it('counts each finding of a version once', async () => {
  const { status, stdout } = await outdated(moduleCall('open'))
  expect(status).toBe(1)
  expect(stdout).toContain('vulnerable: a scan of 1.0.0 found 1 CRITICAL\n')
})

it('leaves a version undecided if the registry does not show its findings', async () => {
  isBrowseHidden = true
  const { status, stdout } = await outdated(moduleCall('open'))
  expect(status).toBe(2)
  expect(stdout).toContain('unscanned: the registry does not show its states and findings to you')
  const sarif = JSON.parse((await outdated(moduleCall('open'), '-o', 'sarif')).stdout) as unknown
  const message = { text: expect.stringMatching(/^module.open .*: unscanned: /) as string }
  const notices = [{ level: 'error', message }]
  const invocations = [{ executionSuccessful: false, toolExecutionNotifications: notices }]
  expect(sarif).toMatchObject({ runs: [{ results: [], invocations }] })
})

it('says in each format which files could not be read', async () => {
  const broken = 'module "x" {\n  source = \n}\n'
  const sarif = JSON.parse((await outdated(broken, '-o', 'sarif')).stdout) as unknown
  expect(sarif).toMatchObject({ runs: [{ invocations: [{ executionSuccessful: false }] }] })
  expect((await outdated(broken, '-o', 'markdown')).stdout).toContain('Not read: main.tf:2')
})
