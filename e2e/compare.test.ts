import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { depot } from '../cmd/import/import.fixture.ts'
import { buildSamples } from '../hack/samples.ts'
import { Registry } from '../hack/testbed/registry/registry.ts'
import { startServer } from '../hack/testbed/server/server.ts'
import { createUpstreamAuthority } from '../hack/testbed/upstream/https-server.ts'

const samples = join(import.meta.dirname, '../config/samples')
const registry = new Registry()
const authority = createUpstreamAuthority()
let network: string

beforeAll(async () => {
  mkdirSync(join(registry.dir, 'tmp'), { recursive: true })
  for (const file of ['namespaces.yaml', 'network.yaml']) {
    registry.writeText(file, readFileSync(join(samples, file), 'utf8'))
  }
  await buildSamples(registry.archives)
  const { certFile, keyFile } = authority.authority.server('registry')
  const tls = ['--tls-cert-path', certFile, '--tls-cert-key', keyFile]
  const server = await startServer(registry, ...tls)
  network = `${new URL(server.url).host}/platform/network/aws`
  return server.stop
})
afterAll(() => {
  registry.remove()
  authority.remove()
})

const compare = (...args: readonly string[]) =>
  depot(registry.dir, ['compare', ...args, '--egress-ca-path', authority.caFile])

it('compares two versions of a module that a server has, by its address', async () => {
  const { status, stdout, stderr } = await compare(network, '1.0.0', '1.1.0', '-o', 'json')
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
  expect(JSON.parse(stdout)).toMatchObject({
    from: `${network}@1.0.0`,
    to: `${network}@1.1.0`,
    verdict: 'compatible',
  })
  const markdown = await compare(network, '1.1.0', '1.0.0', '-o', 'markdown')
  expect(markdown.stdout).toContain('@1.1.0 to ')
  const unknown = await compare(network, '1.0.0', '7.0.0')
  expect(unknown).toMatchObject({ status: 2, stdout: '' })
  expect(unknown.stderr).toContain(
    '@7.0.0: the registry has no such version: it lists 2.0.0, 1.1.0',
  )
})
