import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { Server } from '../../hack/testbed/server/server.ts'
import { ControlledCluster } from './controlled-cluster.fixture.ts'

/** `DEPOT_E2E_KILLS=50` raises the number; each takes about two seconds. They are spread over the duration of the work. */
const kills = Number(process.env['DEPOT_E2E_KILLS'] || 6)

let cluster: ControlledCluster
const running: Server[] = []

const start = async (...flags: readonly string[]) => {
  const controller = await cluster.startController(...flags)
  running.push(controller)
  return controller
}
const stopAll = async () => {
  await Promise.all(running.splice(0).map((controller) => controller.stop()))
}

const files = (text: string) => ({ 'main.tf': `# ${text}\n`, 'README.md': text })
const modules = ['vpc', 'dns', 'vm', 'bucket']
const tag = (version: string) => {
  for (const name of modules) {
    cluster.upstreams.github.tag(`acme/${name}`, `v${version}`, files(`${name} ${version}`))
  }
}

/** A Depot for the whole upstream. */
const depot = (namespace: string) => ({
  spec: {
    global: { storageConfig: { fileSystem: { directoryPath: namespace } } },
    moduleConfigs: modules.map((name) => ({ name, provider: 'aws', repoOwner: 'acme' })),
    providerConfigs: [{ name: 'dns', namespace: 'acme' }],
  },
})

beforeAll(async () => {
  cluster = await ControlledCluster.start('team', 'calm', 'unreachable')
  for (const version of ['1.0.0', '1.1.0']) tag(version)
  await cluster.upstreams.provider('acme/dns', '2.0.0')
})
afterEach(stopAll)
afterAll(() => cluster?.stop())

describe('the controller, with the rights that the chart gives it', () => {
  it('fills the registry from a Depot', async () => {
    await start()
    await cluster.apply('Depot', 'calm', 'main', depot('calm'))
    const versions = await cluster.untilSynced('calm', modules.length * 2 + 2)
    const names = versions.flatMap(({ status }) => status?.artifact?.fileName ?? [])
    const archives = cluster.stored('calm').filter((file) => /\.(zip|tar\.gz)$/.test(file))
    expect(archives.map((file) => file.split('/').at(-1) ?? '').toSorted()).toEqual(
      names.toSorted(),
    )
    const docs = cluster.stored('calm').filter((file) => file.endsWith('.docs.json.gz'))
    expect(docs).toHaveLength(modules.length * 2)
    // The latest versions are finished once all are stored.
    const having = async (field: 'compared' | 'interfaceConfigMapRef') => {
      const all = await cluster.list('Version', 'calm')
      return all
        .filter(({ status }) => status?.[field] !== undefined)
        .map(({ metadata }) => metadata.name)
    }
    const latest = modules.map((name) => `${name}-1-1-0`).toSorted()
    for (const field of ['compared', 'interfaceConfigMapRef'] as const) {
      await expect.poll(() => having(field), { timeout: 60_000 }).toEqual(latest)
    }
    const refused = cluster.audit().filter(({ responseStatus }) => responseStatus.code === 403)
    expect(refused.filter(({ user }) => user.username.includes('controller'))).toEqual([])
  })

  it('writes nothing when it starts again and nothing has changed', async () => {
    const before = cluster.audit().length
    const { adminUrl } = await start()
    const metric = async (pattern: RegExp) => {
      const text = await (await fetch(`${adminUrl}/metrics`)).text()
      return Number(pattern.exec(text)?.[1] ?? 0)
    }
    const worked = () => metric(/depot_sync_duration_seconds_count\{kind="Version"\} (\d+)/)
    await expect.poll(worked, { timeout: 60_000 }).toBeGreaterThan(modules.length * 2 + 1)
    for (const kind of ['Depot', 'Module', 'Provider']) {
      const count = new RegExp(`depot_sync_duration_seconds_count\\{kind="${kind}"\\} (\\d+)`)
      await expect.poll(() => metric(count), { timeout: 60_000 }).toBeGreaterThan(0)
    }
    await stopAll()
    expect(cluster.writesSince(before)).toEqual([])
  })
})

it('reaches the same state after it was killed at any point', {
  timeout: 900_000,
}, async () => {
  await cluster.apply('Depot', 'team', 'main', depot('team'))
  for (let round = 0; round < kills; round += 1) {
    tag(`1.2.${round}`)
    const asked = { 'depot.internal/sync-requested-at': `round ${round}` }
    await cluster.apply('Depot', 'team', 'main', {
      ...depot('team'),
      metadata: { annotations: asked },
    })
    const controller = await cluster.startController()
    await expect
      .poll(() => controller.log.some((line) => line.includes('"msg":"lease taken"')), {
        timeout: 60_000,
        interval: 10,
      })
      .toBe(true)
    const delayMs = ((round + Math.random()) / kills) * 1_200
    await new Promise((resolve) => setTimeout(resolve, delayMs))
    process.kill(controller.pid, 'SIGKILL')
    await controller.failed.catch(() => undefined)
    await cluster.forgetLease()
  }
  await start()
  const expected = modules.length * (2 + kills) + 2
  const asked = { 'depot.internal/sync-requested-at': 'at last' }
  for (const namespace of ['team', 'calm']) {
    const metadata = { annotations: asked }
    await cluster.apply('Depot', namespace, 'main', { ...depot(namespace), metadata })
  }
  const outcome = async (namespace: string) => {
    const versions = await cluster.untilSynced(namespace, expected)
    return versions.map(({ metadata: { name }, status }) => [
      name,
      status?.checksum,
      status?.artifact?.fileName,
    ])
  }
  expect(await outcome('team')).toEqual(await outcome('calm'))
  expect(cluster.stored('team')).toEqual(cluster.stored('calm'))
})

it('continues after the API server was unreachable', async () => {
  const { log } = await start()
  await expect
    .poll(() => log.some((line) => line.includes('"msg":"lease taken"')), { timeout: 60_000 })
    .toBe(true)
  await cluster.apply('Depot', 'unreachable', 'main', depot('unreachable'))
  await expect
    .poll(() => cluster.list('Module', 'unreachable'), { timeout: 60_000 })
    .not.toEqual([])
  await cluster.plane.stopApiServer('kill')
  await expect
    .poll(() => log.some((line) => line.includes('"msg":"lease lost, work is stopped"')), {
      timeout: 60_000,
    })
    .toBe(true)
  await cluster.plane.startApiServer()
  await cluster.untilSynced('unreachable', (await cluster.list('Version', 'calm')).length)
  expect(cluster.stored('unreachable')).toEqual(cluster.stored('calm'))
})
