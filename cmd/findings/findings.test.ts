import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { runProgram } from '../../hack/testbed/program/program.ts'
import { type LoneServer, serveAppAlone } from '../../hack/testbed/upstream/https-server.ts'
import { Fixture } from '../../pkg/registry/server/registry.fixture.ts'

const home = mkdtempSync(join(tmpdir(), 'depot-findings-'))
const fixture = new Fixture()
let server: LoneServer

const finding = (vulnerabilityID: string, severity: string) => ({
  vulnerabilityID,
  pkgName: 'golang.org/x/net',
  installedVersion: '0.20.0',
  fixedVersion: '0.23.0',
  severity,
  title: `Endless\u001b[31m headers`,
})

beforeAll(async () => {
  const app = fixture.app()
  server = await serveAppAlone('localhost', (url, authorization) =>
    authorization === 'Bearer expired'
      ? Response.json({ errors: ['the token has expired'] }, { status: 401 })
      : app.request(url),
  )
  const scanned = (findings: readonly object[]) => ({ sourceScan: { findings } })
  fixture.module('vpc')
  const versions = {
    '1.0.0': scanned([]),
    '1.1.0': scanned([finding('CVE-1', 'MEDIUM'), finding('CVE-2', 'LOW')]),
    '1.2.0': scanned([finding('CVE-1', 'HIGH')]),
    '2.0.0': {},
  }
  for (const [number, status] of Object.entries(versions)) {
    fixture.version('Module', 'vpc', number, { status })
  }
  fixture.provider('cmdb')
  const platform = (operatingSystem: string, status: object) => {
    const spec = { operatingSystem, architecture: 'arm64' }
    fixture.version('Provider', 'cmdb', '1.0.0', { spec, status })
  }
  platform('linux', { binaryScan: { findings: [finding('CVE-3', 'CRITICAL')] } })
  platform('darwin', {})
  fixture.provider('null')
  fixture.version('Provider', 'null', '1.0.0', {
    spec: { operatingSystem: 'linux', architecture: 'arm64' },
    status: {
      artifact: { source: { repository: 'https://git.test/null', sha256: 'a'.repeat(64) } },
      binaryScan: { findings: [] },
    },
  })
  fixture.provider('limited')
  const repository = 'https://git.test/limited'
  const answers = {
    '1.0.0': { repository, problem: 'git.test limits requests' },
    '1.1.0': { repository, problem: 'it has no go.mod', revision: 'v1.1.0@sha1:0' },
  }
  for (const [number, source] of Object.entries(answers)) {
    fixture.version('Provider', 'limited', number, {
      spec: { operatingSystem: 'linux', architecture: 'arm64' },
      status: { artifact: { source }, binaryScan: { findings: [] } },
    })
  }
  fixture.provider('random')
  fixture.version('Provider', 'random', '1.0.0', {
    spec: { operatingSystem: 'linux', architecture: 'arm64' },
    status: {
      sourceScan: { findings: [finding('CVE-4', 'HIGH'), finding('CVE-5', 'LOW')] },
      binaryScan: { findings: [finding('CVE-4', 'HIGH')] },
    },
  })
})
afterAll(async () => {
  await server.close()
  rmSync(home, { recursive: true })
})

function run(args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const trust = ['--egress-ca-path', server.authority.caFile]
  return runProgram(home, ['findings', ...args, ...trust], { HOME: home, ...env })
}
const vpc = () => `${server.host}/platform/vpc/aws`

it('lists findings by package, with the upgrade that fixes them, and exits with 1', async () => {
  expect(await run([`${vpc()}@v1.1.0`, '--fail-on', 'MEDIUM'])).toEqual({
    status: 1,
    stderr: '',
    stdout: `golang.org/x/net 0.20.0: 2 findings, upgrading to 0.23.0 closes 2
  MEDIUM CVE-1 Endless\\u001b[31m headers (source)
  LOW CVE-2 Endless\\u001b[31m headers (source)
platform/vpc/aws 1.1.0: 2 findings
`,
  })
})

it('lists findings of the source of a provider in addition to those of its platforms', async () => {
  const { status, stdout } = await run([`${server.host}/platform/random`])
  expect(status).toBe(1)
  expect(stdout).toBe(`golang.org/x/net 0.20.0: 2 findings, upgrading to 0.23.0 closes 2
  HIGH CVE-4 Endless\\u001b[31m headers (source; linux/arm64)
  LOW CVE-5 Endless\\u001b[31m headers (source)
platform/random 1.0.0: 2 findings
`)
})

it('cannot decide about a provider whose source was not scanned', async () => {
  const { status, stderr } = await run([`${server.host}/platform/null`])
  expect(status).not.toBe(0)
  expect(stderr).toBe(
    'depot: platform/null 1.0.0 is not known to be clean: source was not scanned; depot scanner scans it, and the conditions of its Version say what prevents that\n',
  )
})

describe('the exit status', () => {
  it.each([
    ['0 if nothing was found', 'vpc/aws@1.0.0', 'UNKNOWN', 0],
    ['0 if all findings are milder', 'vpc/aws@1.1.0', 'HIGH', 0],
    ['1 for that severity', 'vpc/aws@1.2.0', 'HIGH', 1],
    ['2 if the latest version was not scanned', 'vpc/aws', 'UNKNOWN', 2],
    ['2 if the source could not be read yet', 'limited@1.0.0', 'UNKNOWN', 2],
    ['0 if there is no go.mod to scan', 'limited@1.1.0', 'UNKNOWN', 0],
    ['1 for a finding, although a platform was not scanned', 'cmdb', 'CRITICAL', 1],
  ])('is %s', async (_, address, severity, status) => {
    const ended = await run([`${server.host}/platform/${address}`, '--fail-on', severity])
    expect(ended).toMatchObject({ status })
    expect(ended.stderr.includes('is not known to be clean')).toBe(status === 2)
  })

  it('is 2 if something cannot be read, with the remedy', async () => {
    const refused = async (address: string, env = {}) => {
      const { status, stderr } = await run([address], env)
      expect(status).toBe(2)
      return stderr
    }
    expect(await refused(`${vpc()}@9.0.0`)).toContain('has no version 9.0.0')
    expect(await refused(`${server.host}/platform/vpc`)).toContain('no provider has the address')
    for (const pasted of ['platform/vpc/aws', `https://${vpc()}`, `${vpc()}/1.0.0`]) {
      expect(await refused(pasted)).toContain(
        `${JSON.stringify(pasted)} is not an address: write HOST/NAMESPACE/NAME/SYSTEM`,
      )
    }
    expect(await refused('localhost:1/platform/vpc/aws')).toContain('ECONNREFUSED')
    const variable = `TF_TOKEN_localhost:${server.port}`
    for (const spelled of [vpc(), vpc().replace('localhost', 'LOCALHOST')]) {
      expect(await refused(spelled, { [variable]: 'expired' })).toMatch(
        /the token has expired; .*terraform login/,
      )
    }
  })
})

it('writes documents for other tools, which name the archives without a scan', async () => {
  const cmdb = `${server.host}/platform/cmdb@1.0.0`
  const sarif = JSON.parse((await run([cmdb, '--format', 'sarif'])).stdout) as unknown
  expect(sarif).toMatchObject({
    version: '2.1.0',
    runs: [{ invocations: [{ executionSuccessful: false }], results: [{ ruleId: 'CVE-3' }] }],
  })
  const inventory = JSON.parse((await run([cmdb, '-o', 'cyclonedx'])).stdout) as unknown
  expect(inventory).toMatchObject({ specVersion: '1.6', vulnerabilities: [{ id: 'CVE-3' }] })
  const json = JSON.parse((await run([cmdb, '-o', 'json'])).stdout) as unknown
  expect(json).toMatchObject({ unscanned: ['darwin/arm64'], packages: [{ fixedIn: '0.23.0' }] })
})
