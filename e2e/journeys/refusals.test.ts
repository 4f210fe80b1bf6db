import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { clis, Workspace } from '../../hack/testbed/cli/cli.ts'
import { zipOf } from '../../hack/testbed/registry/archives.ts'
import { providerObjects, Registry } from '../../hack/testbed/registry/registry.ts'
import { writeSamples } from '../../hack/testbed/registry/samples.ts'
import { type Server, startServer } from '../../hack/testbed/server/server.ts'

/** The page that explains these messages. */
const page = readFileSync(join(import.meta.dirname, '../../docs/use.md'), 'utf8')

const registry = new Registry()
let server: Server

/** Without a signing key, which is one of the cases. */
beforeAll(async () => {
  await writeSamples(registry)
  const fileName = 'exotic.zip'
  registry.archive(
    `providers/exotic/${fileName}`,
    await zipOf([{ path: 'x', content: Buffer.from('x') }]),
  )
  const platforms = { plan9_386: { fileName } }
  registry.write('exotic.yaml', providerObjects({ name: 'exotic', version: '1.0.0', platforms }))
  server = await startServer(registry)
  return server.stop
})
afterAll(() => registry.remove())

const module = (source: string, version = '') => `
  module "it" {
    source = "depot.test/${source}"
    ${version === '' ? '' : `version = "${version}"`}
  }`

const provider = (source: string, version = '~> 1.0') => `
  terraform {
    required_providers {
      it = {
        source  = "depot.test/${source}"
        version = "${version}"
      }
    }
  }`

// CLIs read the status of an answer and print their own messages. Users see those.
describe.each(clis)('$name prints a message about', ({ path }) => {
  it.skipIf(path === undefined).each([
    {
      what: 'a module that does not exist',
      row: 'Module not found',
      configuration: module('platform/nothing/aws'),
      prints: [/Module not found/, /cannot be found in the module registry at depot\.test/],
    },
    {
      what: 'a system that the module does not support',
      row: 'Module not found',
      configuration: module('platform/network/gcp'),
      prints: [/Module not found/, /cannot be found in the module registry at depot\.test/],
    },
    {
      what: 'a version that the module does not have',
      row: 'no available version of module',
      configuration: module('platform/network/aws', '9.0.0'),
      prints: [/no available version of module/, /The newest available version is 2\.0\.0/],
    },
    {
      what: 'a provider that does not exist',
      row: 'does not have a provider named',
      configuration: provider('platform/nothing'),
      prints: [
        /provider registry depot\.test does not have a provider named depot\.test\/platform\/nothing/,
      ],
    },
    {
      what: 'a version that the provider does not have',
      row: 'no available releases match the given constraints',
      configuration: provider('platform/hello', '9.0.0'),
      prints: [
        /depot\.test\/platform\/hello: no available releases match the given constraints 9\.0\.0/,
      ],
    },
    {
      what: 'a platform that the provider does not support',
      row: 'does not have a package available for your current platform',
      configuration: provider('platform/exotic'),
      prints: [/does not have a package available for your current platform/],
    },
    {
      what: 'a registry without a signing key',
      row: '501 signing metadata not configured',
      configuration: provider('platform/hello'),
      prints: [
        /could not query provider registry for depot\.test\/platform\/hello: 501\s+signing\s+metadata\s+not\s+configured/,
      ],
    },
  ])('$what', async ({ configuration, prints, row }) => {
    const workspace = new Workspace(path, server.url, configuration)
    const { code, output } = await workspace.run('init')
    expect(code).toBe(1)
    for (const pattern of prints) expect(output).toMatch(pattern)
    expect(output.replaceAll(/\s+/g, ' ')).toContain(row)
    expect(page).toContain(`| \`${row}\` |`)
    expect(
      workspace.installed().filter((file) => file.endsWith('.tf') || file.includes('provider-')),
    ).toEqual([])
  })
})

// With curl or TF_LOG=debug, a person reads the answer itself, which says what to do.
it.each([
  ['modules/v1/platform/nothing/aws/versions', 404, /module platform\/nothing/],
  [
    'modules/v1/platform/network/aws/9.0.0/download',
    404,
    /no version 9\.0\.0: see its list of versions/,
  ],
  [
    'providers/v1/platform/hello/9.0.0/download/linux/amd64',
    404,
    /no version 9\.0\.0: see its list/,
  ],
  ['providers/v1/platform/exotic/1.0.0/download/linux/amd64', 404, /only for plan9\/386/],
  [
    'providers/v1/platform/hello/1.1.0/download/linux/amd64',
    501,
    /signing metadata not configured/,
  ],
])('%s is %i and says what to do', async (route, status, message) => {
  const answer = await fetch(`${server.url}/depot/${route}`)
  expect(answer.status).toBe(status)
  const { errors } = (await answer.json()) as { errors: string[] }
  expect(errors).toEqual([expect.stringMatching(message)])
})
