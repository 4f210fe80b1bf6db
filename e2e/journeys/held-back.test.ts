import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { clis, Workspace } from '../../hack/testbed/cli/cli.ts'
import { zipOf } from '../../hack/testbed/registry/archives.ts'
import { moduleObjects, Registry } from '../../hack/testbed/registry/registry.ts'
import { writeSamples } from '../../hack/testbed/registry/samples.ts'
import { startProxy } from '../../hack/testbed/server/proxy.ts'
import { type Server, startServer } from '../../hack/testbed/server/server.ts'

/* The messages of both CLIs about versions that the policy of a Depot holds back. */

const registry = new Registry()
let server: Server
const until = '2999-12-03T10:00:00Z'
const since = '2999-11-26T10:00:00Z'
/** As long as people may write it, and with characters that shells and configurations interpret. */
const reason = `"Stolen" token of Zoë: \${var.x} %s <b> \\n ${'see the report '.repeat(60)}`.trim()
const listing = (address: string) => ({
  address,
  depot: 'platform/main',
  heldBack: [
    { version: '9.0.0', since, until },
    { version: '8.0.0', since, why: 'Denied', message: `denied: ${reason}` },
  ],
})

beforeAll(async () => {
  await registry.sign()
  await writeSamples(registry, ['hello.yaml'])
  const hello = readFileSync(join(registry.manifests, 'hello.yaml'), 'utf8')
  const line = `status:\n  listing: ${JSON.stringify(listing('registry.example/acme/hello'))}`
  registry.writeText(
    'hello.yaml',
    hello.replace('status:', () => line),
  )
  const content = Buffer.from('locals {}\n')
  registry.archive('modules/net/net-1.0.0.zip', await zipOf([{ path: 'main.tf', content }]))
  const versions = [{ version: '1.0.0', fileName: 'net-1.0.0.zip' }]
  const [module, ...others] = moduleObjects({ name: 'net', system: 'aws', versions })
  const ofModule = { ...module, status: { listing: listing('github.com/acme/net') } }
  registry.write('net.yaml', [ofModule, ...others])
  server = await startServer(registry)
  return server.stop
})
afterAll(() => registry.remove())

/** CLIs wrap lines and draw a border beside them. */
const plain = (output: string) => output.replaceAll(/[\s│╷╵]+/g, ' ')
const deniedOf = (address: string) =>
  `refused by the policy of Depot platform/main since ${since}: denied: ${reason}; to take it, name it in spec.policy.exceptions of the Depot: address ${address}, version 8.0.0`
const textOf = (address: string) =>
  `held back until ${until}: it is too young for the policy of Depot platform/main; its age counts from 2999-11-26T10:00:00Z; to take it earlier, name it in spec.policy.exceptions of the Depot: address ${address}, version 9.0.0`

describe.each(clis)('with $name,', ({ path }) => {
  it.skipIf(path === undefined)(
    'a young version of a provider is refused with its policy',
    async () => {
      const configuration = `terraform {
      required_providers {
        hello = {
          source  = "depot.test/platform/hello"
          version = "9.0.0"
        }
      }
    }`
      const { code, output } = await new Workspace(path, server.url, configuration).run('init')
      expect(code).toBe(1)
      expect(plain(output)).toContain(`version 9.0.0 is ${textOf('registry.example/acme/hello')}`)
    },
  )

  it.skipIf(path === undefined).each([
    ['a young', '9.0.0', textOf],
    ['a denied', '8.0.0', deniedOf],
  ])('%s version of a module is refused with its policy', async (_, version, text) => {
    // A CLI that requested the list from another registry reaches the download.
    const older = await startProxy(server.url, (url, body) =>
      url.endsWith('/versions')
        ? Buffer.from('{"modules":[{"versions":[{"version":"9.0.0"},{"version":"8.0.0"}]}]}')
        : body,
    )
    const configuration = `module "net" {
      source  = "depot.test/platform/net/aws"
      version = "${version}"
    }`
    const { code, output } = await new Workspace(path, older, configuration).run('init')
    expect(code).toBe(1)
    // They print the JSON of the answer.
    expect(plain(output)).toContain(JSON.stringify(text('github.com/acme/net')).slice(1, -1))
  })
})
