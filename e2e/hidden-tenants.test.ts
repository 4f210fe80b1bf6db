import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { depotArguments } from '../hack/testbed/program/command.ts'
import { zipOf } from '../hack/testbed/registry/archives.ts'
import { Registry } from '../hack/testbed/registry/registry.ts'
import { type Server, startAs } from '../hack/testbed/server/server.ts'
import { TestIssuer } from '../pkg/registry/auth/issuer.fixture.ts'
import { SqliteStore } from '../pkg/registry/downloads/downloads.ts'
import { binding } from './login.fixture.ts'

/*
 * Two registries. One has additional modules that a caller may not see: every answer to that caller is the same, byte for
 * byte.
 */

const modules = ['team/vpc/aws', 'team/secret/aws', 'hidden/other/aws', 'hidden/secret/aws']
const isHidden = (name: string): boolean => /secret|hidden/.test(name)

const full = new Registry()
const bare = new Registry()
let issuer: TestIssuer
const servers: Server[] = []

async function importModules(): Promise<void> {
  const folder = join(full.dir, 'to-import')
  for (const address of modules) {
    for (const [version, source] of [
      ['1.0.0', 'variable "cidr" {\n  description = "Range of the network"\n}\n'],
      ['1.1.0', 'variable "zones" {}\nresource "aws_vpc" "this" {}\n'],
    ] as const) {
      const zip = await zipOf([
        { path: 'main.tf', content: Buffer.from(source) },
        {
          path: 'modules/peering/main.tf',
          content: Buffer.from('output "id" {\n  value = 1\n}\n'),
        },
        { path: 'README.md', content: Buffer.from(`# ${address}\n\nBuilds the network.\n`) },
      ])
      mkdirSync(join(folder, address), { recursive: true })
      writeFileSync(join(folder, address, `${version}.zip`), zip)
    }
  }
  const flags = ['--manifests', full.manifests, '--archives', full.archives]
  const spool = ['--spool-dir', join(full.dir, 'spool')]
  const { status, stderr } = spawnSync(
    process.execPath,
    [...depotArguments('import'), ...flags, ...spool, folder],
    {
      encoding: 'utf8',
    },
  )
  if (status !== 0) throw new Error(stderr)
}

/** Stores downloads of all modules, by consumers. */
async function fillConsumers(registry: Registry): Promise<void> {
  const store = new SqliteStore({ path: join(registry.dir, 'stats.db'), clock: Date.now })
  const today = Math.floor(Date.now() / 86_400_000)
  const uses = modules
    .filter((address) => registry === full || !isHidden(address))
    .map((address) => {
      const [namespace = '', name = ''] = address.split('/')
      const use = { kind: 'Module' as const, namespace, name: `${name}-aws`, version: '1.0.0' }
      return { ...use, consumer: 'group:payments', day: today }
    })
  await store.apply({ journal: 'it', after: 0, last: 1, archives: [], hours: [], uses })
  await store.close()
}

beforeAll(async () => {
  await importModules()
  full.write('bindings.yaml', [
    binding('all', '"operators" in groups', ['*']),
    binding('team', '"team" in groups', ['vpc-aws']),
  ])
  cpSync(full.manifests, bare.manifests, { recursive: true })
  cpSync(full.archives, bare.archives, { recursive: true })
  for (const file of readdirSync(bare.manifests, { recursive: true, encoding: 'utf8' })) {
    if (isHidden(file)) rmSync(join(bare.manifests, file), { recursive: true, force: true })
  }
  issuer = await TestIssuer.start()
  for (const registry of [full, bare]) {
    await fillConsumers(registry)
    const oidc = ['--oidc-issuer-url', issuer.url, '--oidc-client-id', 'depot']
    const source = ['--manifests', registry.manifests, '--mcp', '--base-url', 'https://depot.test']
    const server = await startAs(registry, ...source, ...oidc)
    servers.push(server)
    // The search reads documentation in the background.
    const search = () => answerOf(server, '/depot/ui/v1/search?q=network', ['team'])
    const hasRead = async () => {
      if (!(await search()).body.includes('Builds the network.')) throw new Error('not yet')
    }
    await vi.waitFor(hasRead, { timeout: 60_000, interval: 100 })
  }
})
afterAll(async () => {
  for (const server of servers) await server.stop()
  issuer?.stop()
  full.remove()
  bare.remove()
})

const resource = (namespace: string, name: string): string[] =>
  [
    '',
    '?version=1.0.0',
    '/versions',
    '/versions?by=version&q=1',
    '/docs',
    '/docs?version=1.0.0',
    '/compare?from=1.0.0&to=1.1.0',
    '/findings',
    '/scan-findings',
    '/downloads',
    '/consumers',
    '/pages',
    '/pages/resources/x',
  ].map((path) => `/depot/ui/v1/resources/${namespace}/module/${name}${path}`)

const protocol = (address: string): string[] =>
  ['', '/versions', '/1.0.0', '/downloads/summary', '/9.9.9'].map(
    (path) => `/depot/modules/v1/${address}${path}`,
  )

const paths = [
  ...['team', 'hidden', 'nobody'].flatMap((namespace) => [
    ...['vpc-aws', 'secret-aws', 'other-aws', 'nothing-aws'].flatMap((name) =>
      resource(namespace, name),
    ),
    ...['vpc', 'secret', 'other', 'nothing'].flatMap((name) => [
      ...protocol(`${namespace}/${name}/aws`),
      `/depot/modules/v1/${namespace}/${name}`,
      `/depot/ui/v1/explain?address=${namespace}/${name}/aws`,
    ]),
    `/depot/modules/v1/${namespace}`,
    `/depot/providers/v1/${namespace}`,
    `/depot/ui/v1/resources?namespace=${namespace}`,
    `/depot/ui/v1/search?q=network&namespace=${namespace}`,
    `/depot/ui/v1/stats?namespace=${namespace}`,
    `/depot/ui/v1/feed.atom?namespace=${namespace}`,
  ]),
  ...['secret', 'hidden', 'secet', 'network', 'aws_vpc', 'zones', 'peering', 'team'].flatMap(
    (q) => [
      `/depot/ui/v1/search?q=${q}`,
      `/depot/ui/v1/search?q=${q}&limit=1`,
      `/depot/ui/v1/resources?q=${q}&match=any`,
      `/depot/modules/v1/search?q=${q}`,
    ],
  ),
  '/depot/ui/v1/resources',
  '/depot/ui/v1/namespaces',
  '/depot/ui/v1/stats',
  '/depot/ui/v1/conflicts',
  '/depot/ui/v1/held-back',
  '/depot/ui/v1/depots',
  '/depot/ui/v1/depots/graph',
  '/depot/modules/v1',
  '/depot/providers/v1',
]

const token = (groups: readonly string[]) => issuer.sign({ groups })

const moment = /\d{4}-\d\d-\d\dT[\d:.]+Z/g

/** Everything in an answer except what differs in each request. */
async function answerOf(server: Server, path: string, groups: readonly string[]) {
  const headers = { authorization: `Bearer ${await token(groups)}` }
  const answer = await fetch(`${server.url}${path}`, { headers, redirect: 'manual' })
  const kept = [...answer.headers].filter(([name]) => !/^(?:date|etag|x-request-id)$/.test(name))
  return {
    status: answer.status,
    headers: kept,
    body: (await answer.text()).replaceAll(moment, ''),
  }
}

it('has modules that operators see', async () => {
  const [server] = servers
  if (server === undefined) throw new Error('no server')
  for (const path of [
    '/depot/ui/v1/resources/hidden/module/secret-aws/docs',
    '/depot/modules/v1/hidden/secret/aws/versions',
  ]) {
    expect(await answerOf(server, path, ['operators'])).toMatchObject({ status: 200 })
  }
  const search = await answerOf(server, '/depot/ui/v1/search?q=secret', ['operators'])
  expect(search.body).toContain('"totalCount":2')
})

/** The paths that the two servers answer differently. */
async function differentFor(group: string, asked: readonly string[]): Promise<string[]> {
  const different: string[] = []
  for (const path of asked) {
    const answers = await Promise.all(servers.map((server) => answerOf(server, path, [group])))
    const [one, other] = answers.map((answer) => JSON.stringify(answer))
    if (one !== other) different.push(`${path}: ${one}\n  ${other}`)
  }
  return different
}

it.each([['team'], ['nobody']])(
  'answers the group %s as if other modules did not exist',
  async (group) => {
    expect(await differentFor(group, paths)).toEqual([])
  },
)

it('answers agents as if other modules did not exist', async () => {
  const calls = ['team/vpc/aws', 'team/secret/aws', 'hidden/other/aws', 'nobody/x/aws'].flatMap(
    (module) => [
      ['get_module', { module }] as const,
      ['get_module', { module, version: '1.0.0' }] as const,
      ['get_module', { module, folder: 'modules/peering' }] as const,
      ['list_versions', { address: module }] as const,
      ['get_findings', { address: module }] as const,
      ['compare_versions', { module, from: '1.0.0', to: '1.1.0' }] as const,
      ['search_modules', { query: module.split('/').join(' ') }] as const,
      ['get_provider', { provider: module.split('/').slice(0, 2).join('/') }] as const,
    ],
  )
  const answers = await Promise.all(
    servers.map(async ({ url }) => {
      const client = new Client(
        { name: 'e2e', version: '1' },
        { versionNegotiation: { mode: 'auto' } },
      )
      const authProvider = { token: () => token(['team']) }
      await client.connect(
        new StreamableHTTPClientTransport(new URL(`${url}/depot/mcp`), { authProvider }),
      )
      const results: string[] = []
      for (const [name, args] of calls) {
        results.push(JSON.stringify([name, args, await client.callTool({ name, arguments: args })]))
      }
      await client.close()
      return results
    }),
  )
  expect(answers[0]).toEqual(answers[1])
  expect(answers[0]?.join('')).toContain('Builds the network.')
})

// Last, because each server counts downloads at its own time.
it.each([['team'], ['nobody']])('answers downloads of the group %s likewise', async (group) => {
  const downloads = ['team', 'hidden', 'nobody'].flatMap((namespace) =>
    ['vpc', 'secret', 'other', 'nothing'].flatMap((name) =>
      ['/1.0.0/download', '/download'].map(
        (path) => `/depot/modules/v1/${namespace}/${name}/aws${path}`,
      ),
    ),
  )
  expect(await differentFor(group, downloads)).toEqual([])
})
