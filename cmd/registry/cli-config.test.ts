import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeEach, expect, it, onTestFinished } from 'vitest'
import { put } from '../import/import.fixture.ts'
import { readCliConfig } from './cli-config.ts'

let home: string
let problems: string[]

beforeEach(() => {
  const made = mkdtempSync(join(tmpdir(), 'depot-cli-config-'))
  onTestFinished(() => rmSync(made, { recursive: true }))
  home = made
  problems = []
})

const write = (file: string, text: string) => put(join(home, file), text)
const read = (env: Readonly<Record<string, string>> = {}) =>
  readCliConfig(env, home, (problem) => problems.push(problem))
const tokenFor = async (host: string, env: Readonly<Record<string, string>> = {}) =>
  (await read(env)).tokenFor(host)

it.each([
  ['TF_TOKEN_depot_example_com', 'depot.example.com'],
  ['TF_TOKEN_my__depot_example_com', 'my-depot.example.com'],
  ['TF_TOKEN_my-depot.example.com', 'my-depot.example.com'],
  ['TF_TOKEN_depot_example_com:8443', 'depot.example.com:8443'],
  ['TF_TOKEN_Depot_Example_com', 'DEPOT.example.COM'],
])('takes the token of %s for %s', async (variable, host) => {
  expect(await tokenFor(host, { [variable]: ' secret\n' })).toBe('secret')
})

it('takes the token of a login, unless a variable has one', async () => {
  expect(await tokenFor('a.example')).toBeUndefined()
  write(
    '.terraform.d/credentials.tfrc.json',
    '{"credentials": {"a.example": {"token": "of a login"}, "b.example": {}}}',
  )
  expect(await tokenFor('A.example')).toBe('of a login')
  expect(await tokenFor('a.example', { TF_TOKEN_a_example: 'of a variable' })).toBe('of a variable')
  expect(await tokenFor('a.example', { TF_TOKEN_a_example: '' })).toBe('of a login')
  expect(await tokenFor('b.example')).toBeUndefined()
  expect(await tokenFor('other.a.example')).toBeUndefined()
})

const hosts = (url: string) => `
# Comments, other blocks and $HOME are allowed.
plugin_cache_dir = "$HOME/.terraform.d/plugins"
provider_installation {
  direct {}
}
host "Depot.test" {
  services = {
    "modules.v1"   = "${url}/modules/"
    "providers.v1" = "${url}/providers/"
  }
}
credentials "depot.test" {
  token = "of ${url}"
}
`

it('reads hosts and credentials from the files of the CLIs; the last file wins', async () => {
  write('.terraform.d/a.tfrc', hosts('http://a'))
  write(
    '.terraform.d/b.tfrc.json',
    '{"host": {"b.test": {"services": {"modules.v1": "http://b"}}}}',
  )
  write('.terraform.d/ignored.txt', hosts('http://ignored'))
  expect((await read()).tokenFor('depot.test')).toBe('of http://a')
  write('.terraformrc', hosts('http://first'))
  write('.terraform.d/zz.tfrc', hosts('http://last'))
  const { servicesOf, tokenFor: token } = await read()
  expect(servicesOf('depot.TEST')).toEqual({
    'modules.v1': 'http://last/modules/',
    'providers.v1': 'http://last/providers/',
  })
  expect(servicesOf('b.test')).toEqual({ 'modules.v1': 'http://b' })
  expect(servicesOf('c.test')).toBeUndefined()
  expect(token('depot.test')).toBe('of http://last')
  expect(problems).toEqual([])
})

it('reads the file of TF_CLI_CONFIG_FILE instead, and the file of logins', async () => {
  write('.terraformrc', hosts('http://home'))
  write('.terraform.d/credentials.tfrc.json', '{"credentials": {"a.example": {"token": "login"}}}')
  write('named', hosts('http://named'))
  const env = { TF_CLI_CONFIG_FILE: join(home, 'named') }
  expect([await tokenFor('depot.test', env), await tokenFor('a.example', env)]).toEqual([
    'of http://named',
    'login',
  ])
})

it.each([
  ['.terraformrc', 'credentials "a.example" {\n  token = "secret\n}', 'line 2 is not valid HCL 2'],
  ['.terraformrc', 'host "a" { services { x = "secret" } }', 'line 1 is not valid HCL 2'],
  ['.terraform.d/credentials.tfrc.json', '{"credentials": secret', 'it is not valid JSON'],
])('reports a file %s that is not valid without printing its content', async (file, text, why) => {
  write(file, text)
  write('.tofurc', hosts('http://tofu'))
  expect(await tokenFor('depot.test')).toBe('of http://tofu')
  expect(problems).toEqual([`${join(home, file)}: ${why}; its hosts and credentials are not used`])
})

it.each([
  ['{"credentials": {"a.example": {"token": 5}}}'],
  ['{"credentials": [], "host": 4}'],
  ['[]'],
  ['null'],
])('reads nothing from %s', async (text) => {
  write('.terraform.d/credentials.tfrc.json', text)
  const { servicesOf, tokenFor: token } = await read()
  expect([servicesOf('a.example'), token('a.example'), problems]).toEqual([
    undefined,
    undefined,
    [],
  ])
})
