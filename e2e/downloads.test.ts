import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { clis, Workspace } from '../hack/testbed/cli/cli.ts'
import { Registry } from '../hack/testbed/registry/registry.ts'
import { writeSamples } from '../hack/testbed/registry/samples.ts'
import { type Server, startServer } from '../hack/testbed/server/server.ts'

const platform = `${process.platform}_${process.arch === 'x64' ? 'amd64' : process.arch}`
const registry = new Registry()
let server: Server

beforeAll(async () => {
  await registry.sign()
  await writeSamples(registry, ['namespaces.yaml', 'network.yaml', 'hello.yaml'])
  server = await startServer(registry)
  return () => server.stop()
})
afterAll(() => registry.remove())

interface Item {
  readonly version: string
  readonly os?: string
  readonly arch?: string
  readonly downloadCount?: number
}

/** The download counts of a resource in the browse API, by version and platform. */
async function counted(kind: 'module' | 'provider', name: string): Promise<Record<string, number>> {
  const url = `${server.url}/depot/ui/v1/resources/platform/${kind}/${name}/versions?page_size=100`
  const { items } = (await (await fetch(url)).json()) as { items: Item[] }
  return Object.fromEntries(
    items.flatMap(({ version, os, arch, downloadCount }) =>
      downloadCount === undefined
        ? []
        : [[os === undefined ? version : `${version} ${os}_${arch}`, downloadCount]],
    ),
  )
}

const configuration = (version: string) => `
  terraform {
    required_providers {
      hello = { source = "depot.test/platform/hello", version = "1.0.0" }
    }
  }
  module "network" {
    source  = "depot.test/platform/network/aws"
    version = "${version}"
    cidr    = "10.1.0.0/16"
  }`

describe.each(clis)('downloads of $name', ({ path, name }) => {
  it.skipIf(path === undefined)(
    'are counted once for each archive, and the counts survive a restart',
    async () => {
      const before = [await counted('module', 'network'), await counted('provider', 'hello')]
      const workspace = new Workspace(path, server.url, configuration('1.1.0'))
      await workspace.must('init')
      const key = `1.0.0 ${platform}`
      const after = [
        { ...before[0], '1.1.0': (before[0]?.['1.1.0'] ?? 0) + 1 },
        { ...before[1], [key]: (before[1]?.[key] ?? 0) + 1 },
      ]
      const now = async () => [
        await counted('module', 'network'),
        await counted('provider', 'hello'),
      ]
      await expect.poll(now).toEqual(after)

      // An installed module is not downloaded again.
      await workspace.must('init')
      expect(await server.stop(), `${name}'s server`).toBe(0)
      server = await startServer(registry)
      await expect.poll(now).toEqual(after)
    },
  )
})
