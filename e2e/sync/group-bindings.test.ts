import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import type { Condition } from '../../pkg/api/v1alpha1/v1alpha1.ts'
import { ControlledCluster } from './controlled-cluster.fixture.ts'

/* The condition of a GroupBinding, written by the controller with the rights of the chart. */

let cluster: ControlledCluster
let controller: Awaited<ReturnType<ControlledCluster['startController']>>

beforeAll(async () => {
  cluster = await ControlledCluster.start('elsewhere')
  await bind('written-before', '"ops" in groups')
  controller = await cluster.startController()
})
afterAll(async () => {
  await controller?.stop()
  await cluster?.stop()
})

async function bind(name: string, expression: string, more: object = {}, namespace?: string) {
  const spec = { expression, ...more }
  await cluster.apply('GroupBinding', namespace ?? 'depot-system', name, { spec })
}

const conditionOf = async (name: string): Promise<Condition | undefined> => {
  const all = await cluster.list('GroupBinding', 'depot-system')
  const { status } = all.find(({ metadata }) => metadata.name === name) ?? {}
  return (status?.['conditions'] as Condition[] | undefined)?.find(({ type }) => type === 'Ready')
}

async function untilReason(name: string, reason: string, generation: number): Promise<Condition> {
  return vi.waitFor(
    async () => {
      const condition = await conditionOf(name)
      const seen = [condition?.reason, condition?.observedGeneration]
      expect(seen).toEqual([reason, generation])
      return condition as Condition
    },
    { timeout: 60_000, interval: 100 },
  )
}

it('one that can be evaluated is ready, even if it is older than the controller', async () => {
  const condition = await untilReason('written-before', 'Compiled', 1)
  expect(condition).toMatchObject({ type: 'Ready', status: 'True' })
})

it('one that does not compile says where it is wrong, until it is repaired', async () => {
  await bind('broken', '"ops" in grops')
  const broken = await untilReason('broken', 'InvalidExpression', 1)
  expect(broken.status).toBe('False')
  expect(broken.message).toContain('grops')
  await bind('broken', '"ops" in groups')
  expect(await untilReason('broken', 'Compiled', 2)).toMatchObject({ status: 'True' })
})

it('a pattern without a match is named with its field', async () => {
  await bind('pattern', 'true', { moduleResources: ['vpc-[', 'network'] })
  const { status, message } = await untilReason('pattern', 'InvalidSpec', 1)
  expect(status).toBe('False')
  expect(message).toContain('moduleResources "vpc-["')
})

it('those of another namespace give no access and are not changed', async () => {
  await bind('stranger', 'nonsense', {}, 'elsewhere')
  await bind('afterwards', 'true')
  await untilReason('afterwards', 'Compiled', 1)
  const [stranger] = await cluster.list('GroupBinding', 'elsewhere')
  expect(stranger?.status).toBeUndefined()
})

it('a controller that starts again writes nothing if nothing has changed', async () => {
  const since = cluster.audit().length
  await controller.stop()
  controller = await cluster.startController()
  await bind('marker', 'false')
  await untilReason('marker', 'Compiled', 1)
  const path = '/apis/depot.internal/v1alpha1/namespaces/depot-system/groupbindings/marker/status'
  expect(cluster.writesSince(since).map((write) => write.replace(/\?.*/, ''))).toEqual([
    `patch ${path}`,
  ])
})
