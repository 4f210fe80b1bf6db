import { symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import type { Server } from '../../hack/testbed/server/server.ts'
import { ControlledCluster } from './controlled-cluster.fixture.ts'

let cluster: ControlledCluster
let running: Server | undefined

const start = async (...flags: readonly string[]) => {
  await running?.stop()
  running = await cluster.startController('--removal-grace=0s', ...flags)
}
const files = { 'main.tf': '# shared\n' }
/** Both namespaces store archives in one place, as two environments of one team may. */
const depot = (versionConstraints: string) => ({
  spec: {
    deletionPolicy: 'Delete',
    global: { storageConfig: { fileSystem: { directoryPath: 'shared' } } },
    moduleConfigs: [{ name: 'vpc', provider: 'aws', repoOwner: 'acme', versionConstraints }],
  },
})
const stored = () => cluster.stored('shared').filter((file) => file.endsWith('.tar.gz')).length
/** Confirms the removal of the last version, which is held until then. */
async function confirmRemoval(namespace: string): Promise<void> {
  const held = async () => {
    const [module] = await cluster.list('Module', namespace)
    return /confirm-removal=(\w+)/.exec(JSON.stringify(module?.status ?? {}))?.[1]
  }
  await expect.poll(held, { timeout: 60_000 }).toBeDefined()
  const path = `/apis/depot.internal/v1alpha1/namespaces/${namespace}/modules/vpc`
  const annotations = { 'depot.internal/confirm-removal': await held() }
  await cluster.plane.admin.apply(
    path,
    {
      apiVersion: 'depot.internal/v1alpha1',
      kind: 'Module',
      metadata: { name: 'vpc', namespace, annotations },
    },
    'person',
  )
}
const versionsOf = async (namespace: string) => (await cluster.list('Version', namespace)).length
const reasons = async (namespace: string) => {
  const versions = await cluster.list('Version', namespace)
  return versions.map(({ status }) => {
    const conditions = status?.['conditions'] as readonly { type: string; reason: string }[]
    return conditions?.find(({ type }) => type === 'Ready')?.reason
  })
}

beforeAll(async () => {
  cluster = await ControlledCluster.start('dev', 'prod', 'tenant', 'evil')
  for (const version of ['1.0.0', '2.0.0']) {
    cluster.upstreams.github.tag('acme/vpc', `v${version}`, { ...files, version })
  }
})
afterEach(async () => {
  await running?.stop()
  running = undefined
})
afterAll(() => cluster?.stop())

it('keeps an archive that an unwatched namespace still names, and an Event says why', async () => {
  await start()
  for (const namespace of ['dev', 'prod']) {
    await cluster.apply('Depot', namespace, 'main', depot('> 0'))
    await cluster.untilSynced(namespace, 2)
  }
  expect(stored()).toBe(2)

  await start('--watch-namespaces=dev')
  await cluster.apply('Depot', 'dev', 'main', depot('!= 2.0.0'))
  await expect.poll(() => versionsOf('dev'), { timeout: 60_000 }).toBe(1)
  expect(stored()).toBe(2)
  const notes = async () => {
    const path = '/apis/events.k8s.io/v1/namespaces/dev/events'
    const { items } = (await cluster.plane.admin.request('GET', path)) as {
      items: readonly { reason: string; note: string }[]
    }
    return items.filter(({ reason }) => reason === 'ArchiveLeft').map(({ note }) => note)
  }
  await expect
    .poll(notes, { timeout: 60_000 })
    .toEqual([expect.stringMatching(/^left vpc-2\.0\.0-.*a namespace that is not watched/)])
})

it('removes archives of a place that was granted only to watched namespaces', async () => {
  await start('--watch-namespaces=dev', '--storage-grants=dev=* prod=file:///shared')
  await cluster.apply('Depot', 'dev', 'main', depot('>= 1.0.0, < 1.0.0'))
  await confirmRemoval('dev')
  await expect.poll(() => versionsOf('dev'), { timeout: 60_000 }).toBe(0)
  expect(stored()).toBe(2)

  await start('--watch-namespaces=prod', '--storage-grants=prod=file:///shared')
  await cluster.apply('Depot', 'prod', 'main', depot('>= 1.0.0, < 1.0.0'))
  await confirmRemoval('prod')
  await expect.poll(() => versionsOf('prod'), { timeout: 60_000 }).toBe(0)
  expect(stored()).toBe(0)
})

it('a namespace stores archives once its annotation grants the place', async () => {
  await start('--require-storage-grants')
  await cluster.apply('Depot', 'tenant', 'main', depot('> 0'))
  await expect
    .poll(() => reasons('tenant'), { timeout: 60_000 })
    .toEqual(['StorageNotGranted', 'StorageNotGranted'])
  const path = '/api/v1/namespaces/tenant'
  const annotated = (places: string) => ({
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name: 'tenant', annotations: { 'depot.internal/storage': places } },
  })
  await cluster.plane.admin.apply(path, annotated('s3://elsewhere'), 'kubectl')
  await cluster.plane.admin.apply(path, annotated('s3://elsewhere file:///shared'), 'kubectl')
  await cluster.untilSynced('tenant', 2)
  expect(stored()).toBe(2)
})

it('another spelling of a place that is not granted is refused too', async () => {
  symlinkSync(join(cluster.archives, 'shared'), join(cluster.archives, 'mine'))
  const before = cluster.stored('.')
  const attempts = [
    ['vpc', 'shared'],
    ['vpc', './shared/'],
    ['vpc', '/shared'],
    ['vpc', 'granted/../shared'],
    ['vpc', 'granted/../../archives/shared'],
    ['vpc', `${cluster.archives}/shared`],
    ['vpc', `file://${cluster.archives}/shared`],
    // A link to it, which an administrator may have created.
    ['vpc', 'mine'],
    ['../shared/vpc', 'granted'],
    ['..', 'granted'],
    ['/shared/vpc', 'granted'],
  ] as const
  await start('--storage-grants=evil=file:///granted')
  for (const [index, [name, directoryPath]] of attempts.entries()) {
    const storageConfig = { fileSystem: { directoryPath } }
    const moduleConfig = { name, provider: 'aws', repoUrl: 'https://github.com/acme/vpc' }
    // The API server already refuses some.
    await cluster
      .apply('Module', 'evil', `attempt-${index}`, {
        spec: {
          moduleConfig: { ...moduleConfig, storageConfig },
          versions: [{ version: '1.0.0' }],
        },
      })
      .catch(() => undefined)
  }
  const accepted = (await cluster.list('Module', 'evil')).length
  expect(accepted).toBeGreaterThan(4)
  await expect
    .poll(async () => (await reasons('evil')).filter((reason) => reason !== undefined), {
      timeout: 60_000,
    })
    .toHaveLength(accepted)
  expect(await reasons('evil')).not.toContain('Synced')
  expect(cluster.stored('.')).toEqual(before)
})
