import { createHash } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { clis, Workspace } from '../../hack/testbed/cli/cli.ts'
import {
  type ControlPlane,
  startControlPlane,
} from '../../hack/testbed/control-plane/control-plane.ts'
import { applyManifests } from '../../hack/testbed/control-plane/manifests.ts'
import { zipOf } from '../../hack/testbed/registry/archives.ts'
import { Registry } from '../../hack/testbed/registry/registry.ts'
import { type Server, startAs } from '../../hack/testbed/server/server.ts'
import { GitServer } from '../../hack/testbed/upstream/git.ts'
import { GithubServer } from '../../hack/testbed/upstream/github.ts'
import {
  createUpstreamAuthority,
  type UpstreamAuthority,
} from '../../hack/testbed/upstream/https-server.ts'
import { UpstreamRegistry } from '../../hack/testbed/upstream/registry.ts'
import { openSigningKeys, type SigningKeys } from '../../hack/testbed/upstream/signing-keys.ts'
import { defaultLimits } from '../../pkg/archives/archive/archive.ts'
import { openSpool } from '../../pkg/archives/spool/spool.ts'
import { openArchiveStore } from '../../pkg/archives/storage/storage.ts'
import { createLogger, createMetrics } from '../../pkg/base/telemetry/telemetry.ts'
import { localEgress } from '../../pkg/fill/egress/egress.fixture.ts'
import { openSources } from '../../pkg/fill/sources/sources.ts'
import { startSync } from '../../pkg/fill/sync/sync.ts'
import { loadConnection, openCluster } from '../../pkg/records/kube/kube.ts'
import { clusterObjects } from '../../pkg/records/store/store.ts'

const apiGroup = 'depot.internal'
const stamp = inject('stamp')
const registry = new Registry()
const files = {
  'main.tf': 'output "text" { value = file("${path.module}/templates/hello.txt") }\n',
  'templates/hello.txt': 'hello, it’s me\n',
}
const closing: (() => unknown)[] = []
let plane: ControlPlane
let authority: UpstreamAuthority
let keys: SigningKeys
let github: GithubServer
let git: GitServer
let upstream: UpstreamRegistry
let server: Server
const sums = new Map<string, string>()

beforeAll(async () => {
  await registry.sign()
  authority = createUpstreamAuthority()
  keys = openSigningKeys()
  ;[plane, github, git, upstream] = await Promise.all([
    startControlPlane(),
    GithubServer.start(authority),
    GitServer.start(authority),
    UpstreamRegistry.start(authority),
  ])
  await applyManifests(plane.admin, 'config/crd/bases')
  await plane.admin.send('POST', '/api/v1/namespaces', { metadata: { name: 'team' } })
  await fillUpstreams()
  await startReconcilers()
  server = await startAs(registry, '--anonymous-auth', '--kubeconfig', plane.kubeconfigFile)
  await plane.admin.apply(`${resources}/depots/all`, depot(), 'kubectl')
}, 300_000)
afterAll(async () => {
  await server?.stop()
  for (const close of closing.toReversed()) await close()
  await Promise.all([github?.close(), git?.close(), upstream?.close()])
  await plane?.stop()
  keys?.close()
  authority?.remove()
  registry.remove()
})

const resources = '/apis/depot.internal/v1alpha1/namespaces/team'

async function fillUpstreams(): Promise<void> {
  github.tokens.add('secret')
  github.repositories.set('acme/vpc', { isPrivate: true, tags: new Map() })
  for (const tag of ['v1.0.0', 'v1.1.0', 'v2.0.0']) github.tag('acme/vpc', tag, files)
  git.tag('dns', 'dns/v0.1.0', {
    'modules/dns/main.tf': files['main.tf'],
    'modules/dns/templates/hello.txt': 'dns',
  })
  const platforms: Record<string, Buffer> = {}
  for (const [platform, binary] of Object.entries(stamp ?? {})) {
    const content = readFileSync(binary)
    const entry = { path: 'terraform-provider-stamp_v1.0.0', content, executable: true }
    const archive = await zipOf([entry])
    platforms[platform] = archive
    sums.set(platform, createHash('sha256').update(archive).digest('hex'))
  }
  const key = keys.create('acme')
  upstream.addProvider({ address: 'acme/stamp', version: '1.0.0', platforms, key })
}

/** The controller's parts in this process. */
async function startReconcilers(): Promise<void> {
  const log = createLogger('silent')
  const metrics = createMetrics({ version: 'test' })
  const connection = loadConnection({ kubeconfig: plane.kubeconfigFile, env: {} })
  const cluster = openCluster({ connection, apiGroup, log, metrics })
  const { client } = cluster
  const objects = clusterObjects({
    cluster,
    client,
    apiGroup,
    namespaces: ['team'],
    notes: { namespace: 'default', name: 'depot-removals' },
    instance: 'test',
    log,
  })
  const dir = mkdtempSync(join(tmpdir(), 'depot-installs-'))
  const spool = await openSpool({ dir: join(dir, 'spool'), sizeBytes: 2 ** 31 })
  const hosts = [upstream.host, upstream.downloadHost, git.host, ...github.hosts]
  const egress = localEgress(hosts, authority.ca)
  const sources = openSources({
    egress,
    spool,
    log,
    metrics,
    secrets: (namespace, name) => objects.secret(namespace, name),
    listingsDir: join(dir, 'listings'),
    upstreamHosts: [upstream.host],
    githubApiUrl: github.apiUrl,
  })
  await plane.admin.request('POST', '/api/v1/namespaces/team/secrets', {
    metadata: { name: 'depot-github' },
    stringData: { token: 'secret' },
  })
  const archives = openArchiveStore({ filesystemMountPath: registry.archives })
  const sync = await startSync({
    objects,
    sources,
    archives,
    spool,
    limits: defaultLimits,
    apiGroup,
    log,
    metrics,
  })
  closing.push(
    () => rmSync(dir, { recursive: true, force: true }),
    () => spool.close(),
    () => egress.close(),
    () => cluster.close(),
    () => objects.close(),
    () => sync.stop(),
  )
}

const depot = () => ({
  apiVersion: `${apiGroup}/v1alpha1`,
  kind: 'Depot',
  metadata: { name: 'all', namespace: 'team' },
  spec: {
    global: { storageConfig: { fileSystem: { directoryPath: 'all' } } },
    moduleConfigs: [
      {
        name: 'vpc',
        provider: 'aws',
        repoOwner: 'acme',
        versionConstraints: '~> 1.0',
        githubClientConfig: { useAuthenticatedClient: true },
      },
      {
        name: 'dns',
        provider: 'aws',
        source: { type: 'git', url: git.urlOf('dns'), path: 'modules/dns', tagPrefix: 'dns/v' },
      },
    ],
    ...(stamp !== undefined && { providerConfigs: [{ name: 'stamp', namespace: 'acme' }] }),
  },
})

interface Listed {
  readonly items: readonly {
    readonly metadata: { readonly name: string }
    readonly status?: {
      readonly conditions?: readonly { type: string; status: string; message: string }[]
    }
  }[]
}

/** The `Ready` condition of each object. */
async function states(): Promise<Record<string, string>> {
  const found: Record<string, string> = {}
  for (const plural of ['depots', 'modules', 'providers', 'versions']) {
    const { items } = (await plane.admin.request('GET', `${resources}/${plural}`)) as Listed
    for (const { metadata, status } of items) {
      const ready = status?.conditions?.find(({ type }) => type === 'Ready')
      const why = ready?.status === 'True' ? 'ready' : (ready?.message ?? 'no status')
      found[`${plural}/${metadata.name}`] = why
    }
  }
  return found
}

function expected(): Record<string, string> {
  const names = ['depots/all', 'modules/vpc', 'modules/dns']
  names.push('versions/vpc-1-0-0', 'versions/vpc-1-1-0', 'versions/dns-0-1-0')
  if (stamp !== undefined) names.push('providers/stamp')
  for (const platform of Object.keys(stamp ?? {})) {
    names.push(`versions/stamp-1-0-0-${platform.replace('_', '-')}`)
  }
  return Object.fromEntries(names.map((name) => [name, 'ready']))
}

it('a Depot becomes Modules, Providers and Versions that are all ready', async () => {
  await expect.poll(states, { timeout: 120_000, interval: 200 }).toEqual(expected())
})

describe.each(clis)('a Depot fills the registry, and $name', ({ path }) => {
  it.runIf(path)('installs its modules, file by file as upstream has them', async () => {
    const configuration = `
      module "vpc" {
        source  = "depot.test/team/vpc/aws"
        version = "1.1.0"
      }
      module "dns" {
        source = "depot.test/team/dns/aws"
      }
      output "vpc" { value = module.vpc.text }
      output "dns" { value = module.dns.text }`
    const workspace = new Workspace(path, server.url, configuration)
    expect(await workspace.apply()).toEqual({ vpc: files['templates/hello.txt'], dns: 'dns' })
    const { vpc } = workspace.modules()
    for (const [name, text] of Object.entries(files)) {
      expect(readFileSync(join(vpc?.dir ?? '', name), 'utf8')).toBe(text)
    }
  })

  it.runIf(path !== undefined && stamp !== undefined)(
    'installs its provider with the hashes of every platform',
    async () => {
      const configuration = `
        terraform {
          required_providers {
            stamp = { source = "depot.test/team/stamp" }
          }
        }
        resource "stamp_note" "it" { text = "synced" }
        output "text" { value = stamp_note.it.text }`
      const workspace = new Workspace(path, server.url, configuration)
      expect(await workspace.apply()).toEqual({ text: 'synced' })
      for (const sum of sums.values()) expect(workspace.lockFile()).toContain(`"zh:${sum}"`)
    },
  )
})

it('sends tokens only to the hosts that they are for', () => {
  expect([github.leaks, upstream.leaks]).toEqual([[], []])
})
