import { createHash } from 'node:crypto'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { clis, Workspace } from '../../hack/testbed/cli/cli.ts'
import { entriesIn, zipOf } from '../../hack/testbed/registry/archives.ts'
import { Registry } from '../../hack/testbed/registry/registry.ts'
import { type Server, startServer } from '../../hack/testbed/server/server.ts'
import { GitServer } from '../../hack/testbed/upstream/git.ts'
import { GithubServer } from '../../hack/testbed/upstream/github.ts'
import {
  createUpstreamAuthority,
  type UpstreamAuthority,
} from '../../hack/testbed/upstream/https-server.ts'
import { UpstreamRegistry } from '../../hack/testbed/upstream/registry.ts'
import { openSigningKeys, type SigningKeys } from '../../hack/testbed/upstream/signing-keys.ts'
import { folderObjects, type Objects } from '../../pkg/objects/objects.ts'
import { GnuPG } from '../../pkg/signing/gnupg.fixture.ts'
import { type LocalSources, localSources } from '../../pkg/sources/sources.fixture.ts'
import { openArchiveStore } from '../../pkg/storage/storage.ts'
import { type Sync, startSync } from '../../pkg/sync/sync.ts'
import { createLogger, createMetrics } from '../../pkg/telemetry/telemetry.ts'

const files = {
  'main.tf':
    'output "greeting" {\n  value = module.inner.text\n}\nmodule "inner" {\n  source = "./inner"\n}\n',
  'inner/out.tf': 'output "text" {\n  value = "hello from upstream"\n}\n',
  'README.md': '# A module\n',
}
const registry = new Registry()
const log = createLogger('silent')
const apiGroup = 'depot.internal'
const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex')

let authority: UpstreamAuthority
let git: GitServer
let github: GithubServer
let upstream: UpstreamRegistry
let keys: SigningKeys
let local: LocalSources
let server: Server
let objects: Objects
let sync: Sync
let zips: Record<string, Buffer>

const zip = (text: string) =>
  zipOf([{ path: 'terraform-provider-dns_v1.0.0', content: Buffer.from(text), executable: true }])

async function run(): Promise<void> {
  objects = await folderObjects({ dir: registry.manifests, apiGroup, watch: true, log })
  sync = await startSync({
    objects,
    sources: local.sources,
    archives: openArchiveStore({ filesystemMountPath: registry.archives }),
    spool: local.spool,
    apiGroup,
    log,
    metrics: createMetrics({ version: 'test' }),
  })
  await sync.idle()
}

async function stop(): Promise<void> {
  await sync?.stop()
  await objects?.close()
}

describe.runIf(GnuPG.wanted)('what a Depot names is installed from this registry', () => {
  beforeAll(async () => {
    await registry.sign()
    mkdirSync(join(registry.archives, 'synced'))
    authority = createUpstreamAuthority()
    git = await GitServer.start(authority)
    github = await GithubServer.start(authority)
    upstream = await UpstreamRegistry.start(authority)
    keys = openSigningKeys()
    git.tag('vpc', 'v1.0.0', files)
    git.tag('vpc', 'v1.1.0', { ...files, 'more.tf': 'locals {}\n' })
    github.tag('acme/network', 'v2.0.0', files)
    zips = {
      linux_amd64: await zip('linux amd64'),
      linux_arm64: await zip('linux arm64'),
      darwin_arm64: await zip('darwin arm64'),
    }
    const key = keys.create('good')
    upstream.addProvider({ address: 'acme/dns', version: '1.0.0', platforms: zips, key })
    const hosts = [upstream.host, upstream.downloadHost, git.host, ...github.hosts]
    local = await localSources(authority, hosts, { githubApiUrl: github.apiUrl })
    registry.write('depot.yaml', [
      {
        apiVersion: 'depot.internal/v1alpha1',
        kind: 'Depot',
        metadata: { name: 'main', namespace: 'platform' },
        spec: {
          global: {
            storageConfig: { fileSystem: { directoryPath: 'synced' } },
            moduleConfig: { provider: 'aws' },
          },
          moduleConfigs: [
            { name: 'vpc', source: { type: 'git', url: git.urlOf('vpc') } },
            { name: 'network', repoOwner: 'acme', fileFormat: 'zip' },
          ],
          providerConfigs: [
            { name: 'dns', namespace: 'acme', operatingSystems: ['linux'], protocols: ['5.0'] },
          ],
        },
      },
    ])
    await run()
    server = await startServer(registry)
  }, 120_000)
  afterAll(async () => {
    await server?.stop()
    await stop()
    await local?.close()
    await Promise.all([git?.close(), github?.close(), upstream?.close()])
    keys?.close()
    authority?.remove()
    registry.remove()
  })

  it('everything is ready, and the statuses tell it', () => {
    const states = (['Depot', 'Module', 'Provider', 'Version'] as const).flatMap((kind) =>
      objects.list(kind).map(({ metadata, status }) => {
        const { conditions } = status as { conditions: { type: string; status: string }[] }
        return [metadata.name, conditions.find(({ type }) => type === 'Ready')?.status]
      }),
    )
    expect(Object.fromEntries(states)).toEqual({
      main: 'True',
      vpc: 'True',
      network: 'True',
      dns: 'True',
      'vpc-1-0-0': 'True',
      'vpc-1-1-0': 'True',
      'network-2-0-0': 'True',
      'dns-1-0-0-linux-amd64': 'True',
      'dns-1-0-0-linux-arm64': 'True',
    })
    expect(upstream.leaks).toEqual([])
    expect(github.leaks).toEqual([])
  })

  describe.each(clis)('with $name', ({ path }) => {
    it.skipIf(path === undefined).each([
      { name: 'vpc', version: '1.1.0', more: { 'more.tf': 'locals {}\n' } },
      { name: 'network', version: '2.0.0', more: {} },
    ])('$name is installed, file by file', async ({ name, version, more }) => {
      const workspace = new Workspace(
        path,
        server.url,
        `module "it" {\n source = "depot.test/platform/${name}/aws"\n version = "${version}"\n}\n output "it" { value = module.it.greeting }`,
      )
      await workspace.must('get')
      const installed = workspace.modules()['it']
      expect(installed?.version).toBe(version)
      const found = entriesIn(installed?.dir ?? '')
      const text = found.map(({ path: file, content }) => [file, content.toString()])
      expect(Object.fromEntries(text)).toEqual({ ...files, ...more })
    })

    it.skipIf(path === undefined)('a provider is locked for every platform', async () => {
      const workspace = new Workspace(
        path,
        server.url,
        'terraform {\n required_providers {\n dns = { source = "depot.test/platform/dns" }\n }\n}',
      )
      await workspace.must('init')
      const lock = workspace.lockFile()
      const locked = [...lock.matchAll(/"zh:([0-9a-f]{64})"/g)].map(([, hash]) => hash)
      expect(new Set(locked)).toEqual(new Set(Object.values(zips).map(sha256)))
      const h1 = objects
        .list('Version')
        .flatMap(
          ({ status }) => (status as { artifact: { hashes?: string[] } }).artifact.hashes ?? [],
        )
      const [, own] = /"(h1:[^"]+)"/.exec(lock) ?? []
      expect(h1).toContain(own)
    })

    it.skipIf(path === undefined)(
      'a new tag is installed once somebody asks for a sync',
      async () => {
        const version = path === clis[0].path ? '3.0.0' : '3.1.0'
        github.tag('acme/network', `v${version}`, files)
        const depot = { kind: 'Depot', namespace: 'platform', name: 'main' } as const
        await objects.patch(depot, {
          metadata: { annotations: { 'depot.internal/sync-requested-at': version } },
        })
        await expect
          .poll(async () => {
            const url = `${server.url}/depot/modules/v1/platform/network/aws/versions`
            return (await fetch(url)).text()
          })
          .toContain(`"${version}"`)
        const workspace = new Workspace(
          path,
          server.url,
          `module "it" {\n source = "depot.test/platform/network/aws"\n version = "${version}"\n}`,
        )
        await workspace.must('init')
        expect(workspace.modules()['it']?.version).toBe(version)
      },
    )
  })
})
