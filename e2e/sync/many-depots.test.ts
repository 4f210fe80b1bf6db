import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Server } from '../../hack/testbed/server/server.ts'
import { ControlledCluster } from './controlled-cluster.fixture.ts'

/** `DEPOT_E2E_DEPOTS=10000` raises the number, which takes some minutes. */
const depots = Number(process.env['DEPOT_E2E_DEPOTS'] || 500)

let cluster: ControlledCluster
let controller: Server | undefined

const depot = (repository: string) => ({
  spec: {
    global: { storageConfig: { fileSystem: { directoryPath: 'team' } } },
    moduleConfigs: [{ name: 'vpc', provider: 'aws', repoUrl: `https://github.com/${repository}` }],
  },
})

beforeAll(async () => {
  cluster = await ControlledCluster.start('many', 'team')
  cluster.upstreams.github.tag('acme/vpc', 'v1.0.0', { 'main.tf': 'locals {}\n' })
  const names = Array.from({ length: depots }, (_, index) => `depot-${index}`)
  const create = async (): Promise<void> => {
    for (let name = names.pop(); name !== undefined; name = names.pop()) {
      await cluster.apply('Depot', 'many', name, depot(`acme/${name}`))
    }
  }
  await Promise.all(Array.from({ length: 16 }, create))
  await cluster.apply('Depot', 'team', 'main', depot('acme/vpc'))
}, 900_000)
afterAll(async () => {
  await controller?.stop()
  await cluster?.stop()
})

it('the only Depot of a tenant does not wait for the many of another', {
  timeout: 900_000,
}, async () => {
  const before = cluster.audit().length
  controller = await cluster.startController()
  await cluster.untilSynced('team', 1)
  const isStatus = / .*\/depots\/[^/]+\/status/
  const written = cluster.writesSince(before).filter((line) => isStatus.test(line))
  const place = written.findIndex((line) => line.includes('/namespaces/team/'))
  expect(place).toBeGreaterThanOrEqual(0)
  expect(place).toBeLessThan(depots / 5)
  const [, kilobytes = ''] =
    /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${controller.pid}/status`, 'utf8')) ?? []
  expect(Number(kilobytes) / 1024).toBeLessThan(512)
})
