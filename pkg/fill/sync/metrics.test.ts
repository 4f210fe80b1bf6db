import { expect, it } from 'vitest'
import { createMetrics } from '../../base/telemetry/telemetry.ts'
import { syncMetrics } from './metrics.ts'

it('shows what waits for a person, and what policies hold back', async () => {
  const metrics = createMetrics({ version: 'test' })
  syncMetrics(metrics, {
    states: () => new Map([['synced', 2]]),
    heldRemovals: () => 3,
    heldBack: () => 4,
    substitutions: () => new Map([['Module', 5]]),
  })
  expect(await metrics.metrics()).toContain('depot_removals_held 3\n')
  expect(await metrics.metrics()).toContain('depot_versions_held_back 4\n')
  expect(await metrics.metrics()).toContain(
    'depot_upstream_substitutions_recent{kind="Module"} 5\n',
  )
})
