import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { openSpool } from '../../archives/spool/spool.ts'
import { createMetrics } from '../../base/telemetry/telemetry.ts'
import { syncMetrics } from './metrics.ts'

it('shows the reserved bytes of the spool', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'depot-spool-'))
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }))
  const spool = await openSpool({ dir, sizeBytes: 100 })
  const metrics = createMetrics({ version: 'test' })
  syncMetrics(metrics, {
    states: () => new Map([['synced', 2]]),
    heldRemovals: () => 3,
    heldBack: () => 4,
    spool,
  })
  expect(await metrics.metrics()).toContain('depot_removals_held 3\n')
  expect(await metrics.metrics()).toContain('depot_versions_held_back 4\n')
  expect(await metrics.metrics()).toContain('depot_spool_bytes 0\n')
  const file = await spool.reserve(60, { signal: new AbortController().signal })
  expect(await metrics.metrics()).toContain('depot_spool_bytes 60\n')
  await file.remove()
  expect(await metrics.metrics()).toContain('depot_spool_bytes 0\n')
})
