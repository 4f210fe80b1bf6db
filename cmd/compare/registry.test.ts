import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { runProgram } from '../../hack/testbed/program/program.ts'
import { tarGzOf } from '../../hack/testbed/registry/archives.ts'
import { createUpstreamAuthority } from '../../hack/testbed/upstream/https-server.ts'
import { UpstreamRegistry } from '../../hack/testbed/upstream/registry.ts'

const dir = mkdtempSync(join(tmpdir(), 'depot-compare-'))
const home = join(dir, 'home')
const temporary = join(dir, 'tmp')
const authority = createUpstreamAuthority()
let registry: UpstreamRegistry
let vpc: string

beforeAll(async () => {
  for (const folder of [home, temporary, join(dir, 'own')]) mkdirSync(folder)
  writeFileSync(join(dir, 'own/main.tf'), 'variable "cidr" {\n  type = number\n}\n')
  registry = await UpstreamRegistry.start(authority)
  const add = async (version: string, source: string) => {
    const archive = await tarGzOf([{ path: 'main.tf', content: Buffer.from(source) }])
    registry.addModule({ address: 'network/vpc/aws', version, archive })
  }
  await add('1.0.0', 'variable "cidr" {\n  type = string\n}\n')
  await add('1.1.0', 'variable "cidr" {\n  type = any\n}\n')
  vpc = `${registry.host}/network/vpc/aws`
})
afterAll(async () => {
  await registry.close()
  authority.remove()
  rmSync(dir, { recursive: true })
})

const compare = (args: readonly string[], env: Readonly<Record<string, string>> = {}) =>
  depot(['compare', ...args], env)

function depot(args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const trust = ['--egress-ca-path', authority.caFile, '--egress-allow', registry.downloadHost]
  return runProgram(dir, [...args, ...trust], { HOME: home, TMPDIR: temporary, ...env })
}

it('prints the documentation of a version of a registry', async () => {
  const { status, stdout } = await depot(['docs', `${vpc}@v1.0.0`, '-o', 'json'])
  expect(status).toBe(0)
  expect(JSON.parse(stdout)).toMatchObject({
    schema: 1,
    address: 'network/vpc/aws',
    version: '1.0.0',
    root: { inputs: [{ name: 'cidr', type: 'string' }] },
  })
  const newest = await depot(['docs', vpc, '-o', 'json'])
  expect(JSON.parse(newest.stdout)).toMatchObject({ version: '1.1.0' })
  expect((await depot(['docs', `${vpc}@9.0.0`])).stderr).toContain('it lists 1.0.0, 1.1.0')
})

it('compares versions of a registry with each other, and with a folder', async () => {
  const versions = await compare([`${vpc}@1.0.0`, `${vpc}@v1.1.0`])
  expect(versions).toEqual({
    status: 0,
    stderr: '',
    stdout:
      'Compatible:\n  input cidr: The type changed: every value that was accepted still is. (string -> any)\n',
  })
  expect(await compare([vpc, 'v1.0.0', '1.1.0'])).toEqual(versions)
  const mine = await compare([`${vpc}@1.0.0`, 'own', '--format', 'json'])
  expect(mine).toMatchObject({ status: 1, stderr: '' })
  expect(JSON.parse(mine.stdout)).toMatchObject({ from: `${vpc}@1.0.0`, verdict: 'breaking' })
  const newest = await compare([vpc, 'own'])
  expect(newest).toMatchObject({ status: 2, stderr: '' })
  expect(newest.stdout).toContain('(any -> number)')
  expect(readdirSync(temporary)).toEqual([])
})

it('sends the token that the CLIs use, and says how to get one', async () => {
  registry.token = 'a secret'
  const args = [`${vpc}@1.0.0`, `${vpc}@1.1.0`]
  const { host } = registry
  const [name, port] = host.split(':')
  try {
    const refused = await compare(args)
    expect(refused).toMatchObject({ status: 2, stdout: '' })
    expect(refused.stderr).toMatch(/401.*run terraform login localhost:\d+, or set TF_TOKEN_local/)
    const expired = await compare(args, { [`TF_TOKEN_${name}:${port}`]: 'another' })
    expect(expired).toMatchObject({ status: 2, stdout: '' })
    expect(expired.stderr).toContain(`expired: run terraform login ${host} again`)
    expect(await compare(args, { [`TF_TOKEN_${host}`]: 'a secret' })).toMatchObject({ status: 0 })
    mkdirSync(join(home, '.terraform.d'))
    const credentials = { credentials: { [host]: { token: 'a secret' } } }
    const file = join(home, '.terraform.d/credentials.tfrc.json')
    writeFileSync(file, JSON.stringify(credentials))
    expect(await compare(args)).toMatchObject({ status: 0 })
    expect(registry.leaks).toEqual([])
  } finally {
    registry.token = undefined
  }
})

it.each([
  ['an unknown version', () => `${vpc}@9.9.9`, /has no such version: it lists 1\.0\.0, 1\.1\.0/],
  ['an unknown module', () => `${registry.host}/network/none/aws@1.0.0`, /404.*check its name/],
  ['a host that is down', () => 'localhost:1/network/vpc/aws@1.0.0', /localhost:1.*ECONNREFUSED/],
])('exits with 2 for %s', async (_what, operand, message) => {
  const { status, stdout, stderr } = await compare([operand(), 'own'])
  expect({ status, stdout }).toEqual({ status: 2, stdout: '' })
  expect(stderr).toMatch(message)
})

it.each([
  ['an unknown version', () => [vpc, '1.0.0', '9.9.9'], /@9\.9\.9.*it lists 1\.0\.0, 1\.1\.0/],
  ['a folder before two versions', () => ['own', '1.0.0', '1.1.0'], /"own" is not the address/],
  ['a version before two versions', () => [`${vpc}@1.0.0`, '1.0.0', '1.1.0'], /no such version/],
  ['four operands', () => [vpc, '1.0.0', '1.1.0', '1.2.0'], /or one address and two versions/],
])('exits with 2 for an address and versions: %s', async (_what, operands, message) => {
  const { status, stdout, stderr } = await compare(operands())
  expect({ status, stdout }).toEqual({ status: 2, stdout: '' })
  expect(stderr).toMatch(message)
})
