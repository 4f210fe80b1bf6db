import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { runProgram } from '../../hack/testbed/program/program.ts'
import { createUpstreamAuthority } from '../../hack/testbed/upstream/https-server.ts'
import { UpstreamRegistry } from '../../hack/testbed/upstream/registry.ts'
import { put } from '../import/import.fixture.ts'

/* A registry other than Depot, which only lists versions. e2e/outdated.test.ts asks a server of Depot. */

const dir = mkdtempSync(join(tmpdir(), 'depot-outdated-'))
const temporary = join(dir, 'tmp')
const authority = createUpstreamAuthority()
let registry: UpstreamRegistry
let host: string
let work: string
let folders = 0

beforeAll(async () => {
  for (const folder of ['home', 'tmp']) mkdirSync(join(dir, folder))
  registry = await UpstreamRegistry.start(authority)
  host = registry.host
  for (const version of ['1.0.0', '1.2.0', '2.0.0']) {
    registry.addModule({ address: 'network/vpc/aws', version })
    registry.addProvider({ address: 'acme/dns', version, platforms: {} })
  }
})
afterAll(async () => {
  await registry.close()
  authority.remove()
  rmSync(dir, { recursive: true })
})
afterEach(() => {
  registry.token = undefined
})

function workspace(files: Readonly<Record<string, string>>): void {
  folders += 1
  work = join(dir, `work${folders}`)
  mkdirSync(work)
  for (const [path, content] of Object.entries(files)) put(join(work, path), content)
}

function outdated(args: readonly string[] = [], env: Readonly<Record<string, string>> = {}) {
  const trust = ['--egress-ca-path', authority.caFile]
  const home = { HOME: join(dir, 'home'), TMPDIR: temporary }
  return runProgram(work, ['outdated', ...args, ...trust], { ...home, ...env })
}

const call = (version: string, source = `${host}/network/vpc/aws`) =>
  `module "vpc" {\n  source = "${source}"\n${version && `  version = "${version}"\n`}}\n`
const lock = (version: string, constraints = '~> 1.0') => `# Made by init.
provider "${host}/acme/dns" {
  version     = "${version}"
  constraints = "${constraints}"
  hashes = [
    "h1:aaaa",
  ]
}
`
const manifest = (modules: Readonly<Record<string, string>>) =>
  JSON.stringify({
    Modules: Object.entries(modules).map(([Key, Version]) => ({
      Key,
      Version,
      Source: '',
      Dir: '',
    })),
  })

it('escapes names of a configuration, so that they cannot forge lines', async () => {
  const forging = { 'a\n::error::no': { source: 'git::https://example.com/a\n::error::b' } }
  workspace({ 'main.tf.json': JSON.stringify({ module: forging }) })
  const texts = await Promise.all([outdated(), outdated(['-o', 'markdown'])])
  for (const { stdout } of texts) expect(stdout).not.toMatch(/^::/m)
  expect(texts[0]?.stdout).toContain('a ::error::no')
})

it('says which newer versions a constraint allows and which it excludes', async () => {
  workspace({
    'main.tf': call('~> 1.0'),
    '.terraform.lock.hcl': lock('1.0.0'),
    '.terraform/modules/modules.json': manifest({ vpc: '1.0.0' }),
  })
  const { status, stdout, stderr } = await outdated()
  expect({ status, stderr }).toEqual({ status: 1, stderr: '' })
  expect(stdout).toBe(`.terraform.lock.hcl:2: dns ${host}/acme/dns 1.0.0
  behind: 1.2.0 meets "~> 1.0": run init -upgrade
  excluded: 2.0.0 is the latest, which "~> 1.0" excludes
main.tf:1: module.vpc ${host}/network/vpc/aws 1.0.0
  behind: 1.2.0 meets "~> 1.0": run init -upgrade
  excluded: 2.0.0 is the latest, which "~> 1.0" excludes
2 checked, 2 with findings, 0 undecided, 0 not checked, 2 without states and findings of their registry.
`)
  expect(readdirSync(temporary)).toEqual([])
  const some = await outdated(['--ignore', 'behind,excluded'])
  expect(some).toMatchObject({ status: 0, stdout: expect.stringContaining('2 checked, 0 with') })
})

it('checks the versions that init would choose if nothing is installed or locked', async () => {
  workspace({
    'versions.tofu': `terraform {
  required_providers {
    dns = {
      source  = "${host}/acme/dns"
      version = "1.0.0"
    }
  }
}
`,
    'main.tf': call(''),
  })
  const { status, stdout } = await outdated(['-o', 'json'])
  expect(status).toBe(1)
  expect(JSON.parse(stdout).items).toEqual([
    expect.objectContaining({ name: 'module.vpc', version: '2.0.0', findings: [] }),
    expect.objectContaining({
      file: 'versions.tofu',
      line: 3,
      version: '1.0.0',
      findings: [{ check: 'excluded', message: '2.0.0 is the latest, which "1.0.0" excludes' }],
    }),
  ])
})

it('follows local modules, override files, JSON and links, and names the place of each call', async () => {
  workspace({
    'main.tf': `${call('1.0.0')}\nmodule "net" {\n  source = "./net"\n}\n`,
    'main_override.tf': 'module "vpc" {\n  version = "2.0.0"\n}\n',
    'more.tf.json': JSON.stringify({
      module: { json: { source: `${host}/network/vpc/aws//sub`, version: '1.2.0' } },
    }),
    'net/main.tf': `# a comment\n${call('1.2.0')}module "up" {\n  source = "../"\n}\n`,
    'shared.txt': call('1.0.0').replace('vpc', 'linked'),
    '.terraform/modules/modules.json': manifest({ 'net.vpc': '1.0.0' }),
  })
  symlinkSync('shared.txt', join(work, 'linked.tf'))
  const { stdout } = await outdated(['-o', 'json'])
  const found = JSON.parse(stdout).items.map(
    ({ name, file, line, version }: Record<string, unknown>) => ({ name, file, line, version }),
  )
  expect(found).toEqual([
    { name: 'module.linked', file: 'linked.tf', line: 1, version: '1.0.0' },
    { name: 'module.vpc', file: 'main.tf', line: 1, version: '2.0.0' },
    { name: 'module.json', file: 'more.tf.json', version: '1.2.0' },
    { name: 'module.net.vpc', file: 'net/main.tf', line: 2, version: '1.0.0' },
  ])
})

it('lists modules from other registries and sources, and does not check them', async () => {
  workspace({
    'main.tf': [
      'hashicorp/consul/aws',
      'git::https://example.com/vpc.git',
      'github.com/acme/vpc/aws',
      '${var.registry}/network/vpc/aws',
    ]
      .map((source, index) => call('', source).replace('vpc"', `m${index}"`))
      .join(''),
    'own.tf': call('2.0.0').replace('vpc"', 'own"'),
    'cli.tf':
      'terraform {\n  required_providers {\n    terraform = { source = "terraform.io/builtin/terraform" }\n  }\n}\n',
  })
  const { status, stdout } = await outdated()
  expect(status).toBe(0)
  expect(stdout).toContain(
    'module.m0 hashicorp/consul/aws was not checked: it is from registry.terraform.io',
  )
  expect(stdout).toContain(
    'module.m1 git::https://example.com/vpc.git was not checked: it is not from',
  )
  expect(stdout).toContain('was not checked: its source is an expression')
  expect(stdout).toContain('terraform.io/builtin/terraform was not checked: it is part of the CLI')
  expect(stdout).toContain('1 checked, 0 with findings, 0 undecided, 5 not checked')
  const other = await outdated(['--host', 'registry.example.com'])
  expect(other).toMatchObject({ status: 0, stdout: expect.stringContaining(`it is from ${host}`) })
})

it('reports what no longer exists: a module, a version, or any version that meets a constraint', async () => {
  workspace({
    'a.tf': call('', `${host}/network/none/aws`),
    'b.tf': call('>= 3.0').replace('vpc', 'b'),
    '.terraform.lock.hcl': lock('1.1.0'),
  })
  const { status, stdout } = await outdated()
  expect(status).toBe(1)
  expect(stdout).toContain(
    'gone: the registry has no module network/none/aws, or you may not see it',
  )
  expect(stdout).toContain('gone: no listed version meets ">= 3.0": the latest is 2.0.0')
  expect(stdout).toContain('gone: the registry does not list 1.1.0')
})

it('takes the token from the CLIs or from a file, and says how to get one', async () => {
  registry.token = 'a secret'
  workspace({ 'main.tf': call('2.0.0'), token: 'a secret\n', stale: 'another' })
  const refused = await outdated()
  expect(refused).toMatchObject({ status: 2, stderr: '' })
  expect(refused.stdout).toMatch(
    /undecided: localhost:\d+ answered 401; run terraform login localhost/,
  )
  const withFile = (file: string) => outdated(['--token-file', file, '--host', host])
  expect((await withFile('stale')).stdout).toContain(
    'the token in stale may have expired: write another one into it',
  )
  expect(await withFile('token')).toMatchObject({ status: 0 })
  expect(await outdated([], { [`TF_TOKEN_${host}`]: 'a secret' })).toMatchObject({ status: 0 })
  expect(await withFile('none')).toMatchObject({
    status: 2,
    stdout: '',
    stderr: expect.stringContaining('--token-file: the file none does not exist'),
  })
})

it('sends the token of --token-file only to the host of --host', async () => {
  registry.token = 'a secret'
  workspace({ 'main.tf': call('2.0.0'), token: 'a secret\n' })
  const before = registry.asked.length
  const elsewhere = await outdated(['--token-file', 'token', '--host', 'registry.example.com'])
  expect(elsewhere).toMatchObject({ status: 0, stdout: expect.stringContaining('1 not checked') })
  for (const hosts of [[], ['--host', `registry.example.com,${host}`]]) {
    const { status, stdout, stderr } = await outdated(['--token-file', 'token', ...hosts])
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' })
    expect(stderr).toContain('with one registry: only that one gets the token')
  }
  expect(registry.asked).toHaveLength(before)
})

it('follows a loop of links once, and refuses a device as a lock file', async () => {
  workspace({
    'main.tf': 'module "again" {\n  source = "./loop"\n}\n',
    'more.tf': `module "vpc" {\n  source = "${host}/network/vpc/aws"\n  version = "2.0.0"\n}\n`,
  })
  symlinkSync('.', join(work, 'loop'))
  symlinkSync('/dev/zero', join(work, '.terraform.lock.hcl'))
  const { status, stdout, stderr } = await outdated()
  expect(stderr).toBe(
    'depot: .terraform.lock.hcl: it is not a file of at most 16 MiB: run init again\n',
  )
  expect([status, stdout.split('\n').at(-2)]).toEqual([
    2,
    expect.stringContaining('1 checked, 0 with findings'),
  ])
})

it('says that it reads no more than 200 local modules', async () => {
  const calls = Array.from({ length: 201 }, (_, index) => index)
  workspace({
    'main.tf': calls.map((index) => `module "m${index}" {\n  source = "./m${index}"\n}\n`).join(''),
    ...Object.fromEntries(calls.map((index) => [`m${index}/main.tf`, ''])),
  })
  expect(await outdated()).toMatchObject({
    status: 2,
    stderr: 'depot: m199 and what follows is not read: there are more than 200 local modules\n',
  })
})

it('leaves the uses of an unreachable registry undecided, and asks it once', async () => {
  workspace({
    'main.tf': call('1.0.0', 'localhost:1/network/vpc/aws'),
    'more.tf': call('1.0.0', 'localhost:1/network/other/aws').replace('vpc"', 'other"'),
    'own.tf': call('2.0.0').replace('vpc"', 'own"'),
  })
  const { status, stdout } = await outdated()
  expect(status).toBe(2)
  expect(
    stdout.match(/undecided: .*localhost:1.* cannot be reached: .*ECONNREFUSED/g),
  ).toHaveLength(2)
  expect(stdout).toContain('1 checked, 0 with findings, 2 undecided')
})

it('leaves unreadable files undecided, and checks the others', async () => {
  workspace({
    'main.tf': call('2.0.0'),
    'broken.tf': 'module "x" {\n  source = \n}\n',
    'bad.tf': call('about 1').replace('vpc"', 'bad"'),
    '.terraform.lock.hcl': 'provider {',
    '.terraform/modules/modules.json': '[]',
    'gone.tf': 'module "gone" {\n  source = "./gone"\n}\n',
  })
  const { status, stdout, stderr } = await outdated()
  expect(status).toBe(2)
  expect(stderr).toContain('broken.tf:2: ')
  expect(stderr).toContain('.terraform.lock.hcl')
  expect(stderr).toContain('modules.json: it is not what init writes: run init again')
  expect(stderr).toContain("gone'")
  expect(stdout).toContain('undecided: "about 1" at character 1 is not a version constraint')
  expect(stdout).toContain('1 checked, 0 with findings, 1 undecided')
})

it('escapes text of registries in Markdown and SARIF', async () => {
  workspace({ 'a b.tf': call('~> 1.0, != 1.9') })
  const { stdout } = await outdated(['-o', 'markdown'])
  expect(stdout).toBe(`| place | source | version | finding |
| --- | --- | --- | --- |
| \`a b.tf:1\` | \`${host}/network/vpc/aws\` | 1.2.0 | excluded: 2.0.0 is the latest, which "~> 1.0, != 1.9" excludes |

1 checked, 1 with findings, 0 undecided, 0 not checked, 1 without states and findings of their registry.
`)
  const path = `${host}/network/vpc/aws//x\` ![p](https://evil.example/p.png) @all \``
  workspace({ 'main.tf': call('~> 1.0', path) })
  expect((await outdated(['-o', 'markdown'])).stdout).toContain(`| \`\` ${path} \`\` | 1.2.0 |`)
  workspace({ 'a b.tf': call('~> 1.0, != 1.9') })
  const sarif = JSON.parse((await outdated(['-o', 'sarif'])).stdout)
  expect(sarif.runs[0].results).toMatchObject([
    {
      ruleId: 'excluded',
      level: 'note',
      locations: [
        { physicalLocation: { artifactLocation: { uri: 'a%20b.tf' }, region: { startLine: 1 } } },
      ],
    },
  ])
})

it.each([
  [['none'], /none.*ENOENT/],
  [['.', '.'], /write one folder/],
  [['--ignore', 'old'], /--ignore: old is not a finding: write behind, excluded/],
  [[], /\. has no configuration: name the folder that init runs in/],
])('refuses %j', async (args, message) => {
  workspace({ 'README.md': '' })
  const { status, stdout, stderr } = await outdated(args)
  expect({ status, stdout }).toEqual({ status: 2, stdout: '' })
  expect(stderr).toMatch(message)
})

it('refuses a text that is not a host, and warns of a host that the configuration does not use', async () => {
  workspace({ 'main.tf': call('1.2.0', 'registry-eu.acme.example/network/vpc/aws') })
  const refused = await outdated(['--host', 'https://registry-eu.acme.example'])
  expect(refused.status).toBe(2)
  expect(refused.stderr).toContain('is not a host: write it as registry.example.com')
  for (const [names, advice] of [
    ['registry-ue.acme.example', ': did you mean registry-eu.acme.example?'],
    ['other.test', ''],
  ] as const) {
    const { status, stderr } = await outdated(['--host', names])
    expect([status, stderr]).toEqual([0, `depot: --host: nothing here is from ${names}${advice}\n`])
  }
  // Both hosts are named, so neither is a misspelling.
  const both = await outdated(['--host', 'registry-us.acme.example,registry-eu.acme.example'])
  expect(both.stderr).toContain('nothing here is from registry-us.acme.example\n')
  expect(both.stderr).not.toContain('did you mean')
})
