import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Server } from '../../hack/testbed/server/server.ts'
import {
  createUpstreamAuthority,
  type HttpsServer,
  serveHttps,
} from '../../hack/testbed/upstream/https-server.ts'
import { ControlledCluster } from './controlled-cluster.fixture.ts'

/** A tenant who may write everything in the namespace `evil`, including statuses. Another tenant owns `team`. */
let cluster: ControlledCluster
let controller: Server
/** A server inside of the network that no option names. */
let inside: HttpsServer
const authority = createUpstreamAuthority()
const storage = { storageConfig: { fileSystem: { directoryPath: 'team' } } }
const root = '/apis/depot.internal/v1alpha1/namespaces'

beforeAll(async () => {
  inside = await serveHttps(authority, 'inside', (_, outgoing) => {
    outgoing.end('secret')
  })
  cluster = await ControlledCluster.start('team', 'evil')
  const { github, registry } = cluster.upstreams
  github.tag('acme/vpc', 'v1.0.0', { 'main.tf': 'locals {}\n' })
  registry.addModule({
    address: 'acme/lure/aws',
    version: '1.0.0',
    location: `https://${inside.host}/x.tar.gz`,
  })
  registry.addModule({
    address: 'acme/bait/aws',
    version: '1.0.0',
    location: `git::https://${inside.host}/x.git?ref=v1`,
  })
  controller = await cluster.startController()
  await cluster.apply('Module', 'team', 'vpc', {
    spec: {
      moduleConfig: { name: 'vpc', provider: 'aws', repoOwner: 'acme', ...storage },
      versions: [{ version: '1.0.0' }],
    },
  })
  await cluster.untilSynced('team', 1)
}, 300_000)
afterAll(async () => {
  await controller?.stop()
  await cluster?.stop()
  await inside?.close()
  authority.remove()
})

/** The `Ready` condition of an object, which the tenant can read. */
async function said(kind: string, name: string): Promise<string> {
  const objects = await cluster.list(kind, 'evil')
  const { status } = objects.find(({ metadata }) => metadata.name === name) ?? {}
  const conditions = (status?.['conditions'] ?? []) as readonly { type: string; message: string }[]
  return conditions.find(({ type }) => type === 'Ready')?.message ?? ''
}

it('reaches no server inside of the network through any field', async () => {
  const { host } = cluster.upstreams.registry
  const source = (type: string, url: string) => ({ source: { type, url } })
  const configs = {
    repository: { repoUrl: `https://${inside.host}/a/b` },
    api: {
      repoOwner: 'acme',
      githubClientConfig: { apiUrl: `https://${inside.host}/` },
    },
    git: source('git', `https://${inside.host}/x.git`),
    archive: source('archive', `https://${inside.host}/{version}.tar.gz`),
    metadata: source('archive', 'https://169.254.169.254/{version}.tar.gz'),
    registry: source('registry', `${inside.host}/a/b/c`),
    lure: source('registry', `${host}/acme/lure/aws`),
    bait: source('registry', `${host}/acme/bait/aws`),
  }
  for (const [name, config] of Object.entries(configs)) {
    const moduleConfig = { name, provider: 'aws', ...storage, ...config }
    await cluster.apply('Module', 'evil', name, {
      spec: { moduleConfig, versions: [{ version: '1.0.0' }] },
    })
  }
  for (const name of Object.keys(configs)) {
    await expect
      .poll(() => said('Version', `${name}-1-0-0`), { timeout: 60_000 })
      .toMatch(/is refused|is not among --upstream-hosts/)
    expect(await said('Version', `${name}-1-0-0`)).not.toContain('secret')
  }
  expect(inside.seen).toEqual([])
})

it('does not remove an archive of another tenant when it is deleted', async () => {
  const [victim] = await cluster.list('Version', 'team')
  const fileName = victim?.status?.artifact?.fileName ?? ''
  const file = join(cluster.archives, 'team', 'vpc', fileName)
  const before = readFileSync(file)
  const config = { name: 'vpc', provider: 'aws', repoOwner: 'acme', ...storage }
  const names = [fileName, `../vpc/${fileName}`, `/team/vpc/${fileName}`, '../../team']
  for (const [index, forged] of names.entries()) {
    const name = `forged-${index}`
    await cluster.apply('Version', 'evil', name, {
      metadata: { finalizers: ['depot.internal/finalizer'] },
      spec: { type: 'Module', version: '1.0.0', moduleConfigRef: config, suspend: true },
    })
    const path = `${root}/evil/versions/${name}`
    const artifact = { ...victim?.status?.artifact, fileName: forged }
    const status = { status: { synced: true, artifact } }
    const merge = 'application/merge-patch+json'
    await cluster.plane.admin.request('PATCH', `${path}/status`, status, merge)
    await cluster.plane.admin.send('DELETE', path)
  }
  await expect
    .poll(
      async () => {
        const left = await cluster.list('Version', 'evil')
        return left.filter(({ metadata }) => metadata.name.startsWith('forged')).length
      },
      { timeout: 100_000 },
    )
    .toBeLessThanOrEqual(names.length)
  expect(readFileSync(file)).toEqual(before)
})

it('adopts nothing: owner references and annotations do not reach another namespace', async () => {
  const [victim] = await cluster.list('Module', 'team')
  const uid = (victim?.metadata as { uid?: string } | undefined)?.uid
  const owner = { apiVersion: 'depot.internal/v1alpha1', kind: 'Module', name: 'vpc', uid }
  await cluster.apply('Depot', 'evil', 'thief', {
    metadata: { ownerReferences: [{ ...owner, controller: true }] },
    spec: {
      deletionPolicy: 'Delete',
      global: storage,
      moduleConfigs: [{ name: 'vpc', provider: 'aws', repoOwner: 'acme' }],
    },
  })
  await cluster.apply('Version', 'evil', 'child', {
    metadata: {
      ownerReferences: [{ ...owner, controller: true }],
      labels: { 'depot.internal/module': 'vpc', 'depot.internal/namespace': 'team' },
    },
    spec: { type: 'Module', version: '9.0.0', moduleConfigRef: { name: 'vpc', provider: 'aws' } },
  })
  await expect.poll(() => cluster.list('Module', 'evil').then((all) => all.length)).toBe(9)
  const versions = await cluster.list('Version', 'team')
  expect(versions.map(({ metadata }) => metadata.name)).toEqual(['vpc-1-0-0'])
  const [module] = await cluster.list('Module', 'team')
  expect(module?.status).toMatchObject({ synced: true, latestVersion: '1.0.0' })
  await cluster.plane.admin.send('DELETE', `${root}/evil/depots/thief`)
  await expect.poll(() => cluster.list('Depot', 'evil').then((all) => all.length)).toBe(0)
  expect(await cluster.list('Module', 'team')).toHaveLength(1)
})
