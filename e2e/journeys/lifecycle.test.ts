import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { clis, Workspace } from '../../hack/testbed/cli/cli.ts'
import { zipOf } from '../../hack/testbed/registry/archives.ts'
import { moduleObjects, Registry } from '../../hack/testbed/registry/registry.ts'
import { writeSamples } from '../../hack/testbed/registry/samples.ts'
import { startProxy } from '../../hack/testbed/server/proxy.ts'
import { type Server, startServer } from '../../hack/testbed/server/server.ts'

/* The messages of both CLIs about versions that are not active. */

const registry = new Registry()
let server: Server
let hello: string
const versions = ['1.0.0', '1.1.0', '1.1.1'].map((version) => ({
  version,
  fileName: `net-${version}.zip`,
}))

beforeAll(async () => {
  await registry.sign()
  await writeSamples(registry, ['hello.yaml'])
  hello = readFileSync(join(registry.manifests, 'hello.yaml'), 'utf8')
  for (const { version, fileName } of versions) {
    const content = Buffer.from(`output "version" { value = "${version}" }\n`)
    registry.archive(`modules/net/${fileName}`, await zipOf([{ path: 'main.tf', content }]))
  }
  await rules()
  server = await startServer(registry)
  return server.stop
})
beforeEach(async () => {
  await rules()
  await vi.waitFor(async () => {
    const module = await listOf('modules/v1/platform/net/aws')
    const provider = await listOf('providers/v1/platform/hello')
    if (!/"1.1.1"\}.*"1.0.0"\}/.test(module) || !provider.includes('1.1.0')) throw new Error(module)
  })
})
afterAll(() => registry.remove())

const listOf = async (address: string) =>
  (await fetch(`${server.url}/depot/${address}/versions`)).text()

/** Sets these rules for the module and the provider. */
async function rules(...lifecycle: object[]): Promise<void> {
  const [module, ...others] = moduleObjects({ name: 'net', system: 'aws', versions })
  const { spec, ...rest } = module as { spec: object }
  registry.write('net.yaml', [{ ...rest, spec: { ...spec, lifecycle } }, ...others])
  const line = `spec:\n  lifecycle: ${JSON.stringify(lifecycle)}\n  providerConfig:`
  registry.writeText('hello.yaml', hello.replace('spec:\n  providerConfig:', line))
}

const net = (constraint: string) => `
  module "net" {
    source  = "depot.test/platform/net/aws"
    version = "${constraint}"
  }`
const required = (constraint: string) => `
  terraform {
    required_providers {
      hello = {
        source  = "depot.test/platform/hello"
        version = "${constraint}"
      }
    }
  }`

describe.each(clis)('with $name,', ({ path }) => {
  const init = (configuration: string, url = server.url) =>
    new Workspace(path, url, configuration).run('init')

  it.skipIf(path === undefined)('a deprecated provider is installed with a warning', async () => {
    await rules({ versions: '1.0.0', state: 'Deprecated', message: 'leaks', replacedBy: '1.1.0' })
    await expect.poll(() => listOf('providers/v1/platform/hello')).toContain('warnings')
    const { code, output } = await init(required('1.0.0'))
    expect(code).toBe(0)
    expect(output).toContain('version 1.0.0 is deprecated: leaks; use 1.1.0 instead')
  })

  it.skipIf(path === undefined)('a yanked version is only installed by its number', async () => {
    await rules({ versions: '1.1.1', state: 'Yanked' }, { versions: '1.0.0', state: 'Yanked' })
    await expect.poll(() => listOf('modules/v1/platform/net/aws')).not.toContain('1.1.1')
    await rules({ versions: '1.1.0', state: 'Yanked', message: 'broken' })
    await expect.poll(() => listOf('modules/v1/platform/net/aws')).toContain('"reason":"broken"')
    const picked = async (constraint: string) => {
      const workspace = new Workspace(path, server.url, net(constraint))
      await workspace.must('init')
      return workspace.modules()['net']?.version
    }
    expect(await picked('~> 1.1')).toBe('1.1.1')
    expect(await picked('1.1.0')).toBe('1.1.0')
  })

  it.skipIf(path === undefined)(
    'a deprecated module is installed, and its list says why',
    async () => {
      await rules({
        versions: '1.0.0',
        state: 'Deprecated',
        message: 'leaks',
        link: 'https://w.test',
      })
      await expect.poll(() => listOf('modules/v1/platform/net/aws')).toContain('"reason":"leaks"')
      const workspace = new Workspace(path, server.url, net('1.0.0'))
      await workspace.must('init')
      expect(workspace.modules()['net']?.version).toBe('1.0.0')
      expect(await listOf('modules/v1/platform/net/aws')).toContain('"link":"https://w.test"')
    },
  )

  it.skipIf(path === undefined)(
    'a yanked provider is omitted from ranges, and from the list',
    async () => {
      await rules({ versions: '1.1.0', state: 'Yanked', message: 'broken' })
      // No newer release of 1.1 is active, so nobody gets it any more.
      await expect.poll(() => listOf('providers/v1/platform/hello')).not.toContain('1.1.0')
      const range = await init(required('>= 1.0.0'))
      expect(range).toMatchObject({ code: 0 })
      expect(range.output).toMatch(/platform\/hello v1\.0\.0/)
      const exact = await init(required('1.1.0'))
      expect(exact).toMatchObject({ code: 1 })
      expect(exact.output).toMatch(/no\s+available\s+releases\s+match/)
    },
  )

  it.skipIf(path === undefined)('a restored version is installed again', async () => {
    await rules({ versions: '1.1.0', state: 'Quarantined', message: 'steals keys' })
    await expect.poll(() => listOf('modules/v1/platform/net/aws')).not.toContain('1.1.0')
    await expect.poll(() => listOf('providers/v1/platform/hello')).not.toContain('1.1.0')
    expect((await init(required('1.1.0'))).code).toBe(1)
    await rules()
    await expect.poll(() => listOf('modules/v1/platform/net/aws')).toContain('1.1.0')
    await expect.poll(() => listOf('providers/v1/platform/hello')).toContain('1.1.0')
    const restored = [await init(net('1.1.0')), await init(required('1.1.0'))]
    expect(restored.map(({ code }) => code)).toEqual([0, 0])
    expect(restored.map(({ output }) => output).join('')).not.toMatch(/quarantined|steals/)
  })

  it.skipIf(path === undefined)('a quarantined version is refused with its reason', async () => {
    const before = [
      await listOf('modules/v1/platform/net/aws'),
      await listOf('providers/v1/platform/hello'),
    ]
    await rules({ versions: '>= 1.1.0', state: 'Quarantined', message: 'steals keys' })
    await expect.poll(() => listOf('modules/v1/platform/net/aws')).not.toContain('1.1.0')
    await expect.poll(() => listOf('providers/v1/platform/hello')).not.toContain('1.1.0')
    const missing = [await init(net('1.1.0')), await init(required('1.1.0'))]
    expect(missing.map(({ code }) => code)).toEqual([1, 1])
    // A CLI that requested the list a moment earlier reaches the download.
    const late = await startProxy(server.url, (url, body) => {
      if (!url.endsWith('/versions')) return body
      return Buffer.from((url.includes('/modules/') ? before[0] : before[1]) ?? '')
    })
    const [module, other] = [await init(net('1.1.0'), late), await init(required('1.1.0'), late)]
    expect(module.output).toContain('it is quarantined: steals keys')
    expect(other.output).toContain('410 Gone')
    expect(`${module.output}${other.output}`).not.toMatch(/credential|login|unauthori/i)
  })
})
