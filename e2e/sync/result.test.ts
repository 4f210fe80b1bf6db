import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { clis, Workspace } from '../../hack/testbed/cli/cli.ts'
import { Registry } from '../../hack/testbed/registry/registry.ts'
import { type Server, startAs } from '../../hack/testbed/server/server.ts'
import { ControlledCluster } from './controlled-cluster.fixture.ts'

const modules = ['vpc', 'dns', 'vm']
const providers = ['cloud', 'secrets']
const platforms = ['linux_amd64', 'darwin_arm64']
const registry = new Registry()
let cluster: ControlledCluster
let server: Server
let controller: Server

const files = (name: string, version: string) => ({
  'main.tf': `output "text" {\n  value = file("\${path.module}/data/text")\n}\n`,
  'data/text': `${name} ${version}`,
})
const tag = (version: string) => {
  for (const name of modules) {
    cluster.upstreams.github.tag(`acme/${name}`, `v${version}`, files(name, version))
  }
}
/** The output as a person sees it, without the parts that differ between runs. */
async function kubectl(...args: readonly string[]): Promise<string> {
  const all = ['--kubeconfig', cluster.plane.kubeconfigFile, '-n', 'team', ...args]
  return (await promisify(execFile)('kubectl', all)).stdout
}
const get = async (what: string, ...args: readonly string[]) =>
  (await kubectl('get', what, ...args))
    .replaceAll(/ \d+[smh]\d*s?\b/g, ' AGE')
    .replaceAll(/ +/g, ' ')
    .trim()
    .split('\n')
    .map((line) => line.trim())

interface Version {
  readonly metadata: { readonly name: string }
  readonly spec: { readonly type: string; readonly version: string }
  readonly status: {
    readonly artifact: { readonly sha256: string; readonly hashes?: readonly string[] }
    readonly conditions: readonly { type: string; status: string; message: string }[]
  }
}
const versions = async (type: string) => {
  const { items } = JSON.parse(await kubectl('get', 'versions.depot.internal', '-o', 'json')) as {
    items: readonly Version[]
  }
  return items.filter(({ spec }) => spec.type === type)
}

const configuration = (constraint: string) => `
terraform {
  required_providers {
${providers.map((name) => `    ${name} = {\n      source = "depot.test/team/${name}"\n    }\n`).join('')}
  }
}
${modules
  .map(
    (name) =>
      `module "${name}" {\n  source  = "depot.test/team/${name}/aws"\n  version = "${constraint}"\n}\n`,
  )
  .join('')}`

beforeAll(async () => {
  await registry.sign()
  cluster = await ControlledCluster.start('team')
  for (const version of ['1.0.0', '1.1.0', '2.0.0']) tag(version)
  for (const name of providers) {
    for (const version of ['3.0.0', '3.1.0']) {
      await cluster.upstreams.provider(`acme/${name}`, version)
    }
  }
  cluster.archives = registry.archives
  controller = await cluster.startController()
  const flags = ['--kubeconfig', cluster.plane.kubeconfigFile]
  server = await startAs(registry, '--anonymous-auth', ...flags)
  await cluster.apply('Depot', 'team', 'public', {
    spec: {
      global: { storageConfig: { fileSystem: { directoryPath: 'public' } } },
      moduleConfigs: modules.map((name) => ({
        name,
        provider: 'aws',
        repoOwner: 'acme',
        versionConstraints: '~> 1.0',
      })),
      providerConfigs: providers.map((name) => ({ name, namespace: 'acme' })),
    },
  })
}, 300_000)
afterAll(async () => {
  await server?.stop()
  await controller?.stop()
  await cluster?.stop()
  registry.remove()
})

it('a Depot of three repositories and two providers is ready within minutes', async () => {
  const ready = [
    ['depots.depot.internal/public'],
    modules.map((name) => `modules.depot.internal/${name}`),
    providers.map((name) => `providers.depot.internal/${name}`),
  ].flat()
  await expect
    .poll(() => get('modules,providers', '-o', 'name').then((names) => names.length), {
      timeout: 60_000,
    })
    .toBe(modules.length + providers.length)
  await kubectl('wait', ...ready, '--for=condition=Ready', '--timeout=120s')
})

it('kubectl shows the result', async () => {
  expect(await get('depots')).toEqual([
    'NAME INTERVAL POLLED READY REASON AGE',
    'public AGE True Synced AGE',
  ])
  expect((await get('depots', '-o', 'wide'))[1]).toMatch(
    /^public AGE True Synced 5 of 5 configs match upstream /,
  )
  expect(await get('modules')).toEqual([
    'NAME PROVIDER LATEST SYNCED READY REASON AGE',
    ...modules.toSorted().map((name) => `${name} aws 1.1.0 true True Synced AGE`),
  ])
  expect(await get('providers')).toEqual([
    'NAME LATEST SYNCED READY REASON AGE',
    ...providers.map((name) => `${name} 3.1.0 true True Synced AGE`),
  ])
  const rows = await get('versions')
  expect(rows).toHaveLength(1 + modules.length * 2 + providers.length * 2 * platforms.length)
  expect(rows).toContain('vpc-1-0-0 Module 1.0.0 true True Synced AGE')
  expect(rows).toContain(
    'cloud-3-1-0-darwin-arm64 Provider 3.1.0 darwin arm64 true True Synced AGE',
  )
})

it('every archive of a provider is verified against the signature of the upstream', async () => {
  const { fingerprint } = cluster.upstreams.key
  for (const { status } of await versions('Provider')) {
    expect(status.conditions.find(({ type }) => type === 'Verified')).toMatchObject({
      status: 'True',
      message: `signed by ${fingerprint}`,
    })
  }
})

describe.each(clis)('$name', ({ path }) => {
  it.skipIf(path === undefined)(
    'installs all of it, with the hashes of every platform',
    async () => {
      const workspace = new Workspace(path, server.url, configuration('~> 1.0'))
      await workspace.must('init')
      const installed = workspace.modules()
      for (const module of modules) {
        const { version, dir = '' } = installed[module] ?? {}
        expect(version).toBe('1.1.0')
        for (const [file, text] of Object.entries(files(module, '1.1.0'))) {
          expect(readFileSync(join(dir, file), 'utf8')).toBe(text)
        }
      }
      const stored = (await versions('Provider')).filter(({ spec }) => spec.version === '3.1.0')
      const sums = stored.map(({ status }) => `zh:${status.artifact.sha256}`)
      expect(sums).toHaveLength(providers.length * platforms.length)
      expect(hashesIn(workspace, 'zh')).toEqual(sums.toSorted())
      await workspace.must('providers', 'lock', ...platforms.map(flagOf))
      const h1 = stored.flatMap(
        ({ status }) => status.artifact.hashes?.filter((hash) => hash.startsWith('h1:')) ?? [],
      )
      expect(h1).toHaveLength(sums.length)
      expect(hashesIn(workspace, 'h1')).toEqual(h1.toSorted())
    },
  )
})

const flagOf = (platform: string) => `-platform=${platform}`
const hashesIn = (workspace: Workspace, scheme: string): string[] =>
  [...workspace.lockFile().matchAll(new RegExp(`"(${scheme}:[^"]+)"`, 'g'))]
    .map(([, hash = '']) => hash)
    .toSorted()

it.skipIf(clis.every(({ path }) => path === undefined))(
  'a tag that appears upstream is installed once a person has requested a sync',
  async () => {
    tag('1.2.0')
    const asked = new Date().toISOString()
    await kubectl(
      'annotate',
      'depots.depot.internal/public',
      `depot.internal/sync-requested-at=${asked}`,
    )
    const path = clis.find((cli) => cli.path !== undefined)?.path
    const workspace = new Workspace(path, server.url, configuration('1.2.0'))
    await expect.poll(async () => (await workspace.run('init')).code, { timeout: 60_000 }).toBe(0)
    for (const name of modules) {
      const dir = workspace.modules()[name]?.dir ?? ''
      expect(readFileSync(join(dir, 'data/text'), 'utf8')).toBe(`${name} 1.2.0`)
    }
    await expect
      .poll(() => kubectl('get', 'depots.depot.internal/public', '-o', 'yaml'), { timeout: 60_000 })
      .toContain(`lastHandledSync: "${asked}"`)
  },
)

it('an upstream that becomes unreachable is reported by name, and stored archives are kept', async () => {
  cluster.upstreams.github.repositories.delete('acme/vm')
  await kubectl(
    'annotate',
    'depots.depot.internal/public',
    'depot.internal/sync-requested-at=gone',
    '--overwrite',
  )
  await expect
    .poll(() => get('depots', '-o', 'wide').then(([, row]) => row), { timeout: 60_000 })
    .toMatch(/^public AGE False PartiallySynced 1 of 5 configs failed; vm: .*acme\/vm.* AGE$/)
  expect(await get('modules')).toContain('vm aws 1.2.0 true True Synced AGE')
})
