import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { openSpool } from '../../archives/spool/spool.ts'
import { createMetrics } from '../../base/telemetry/telemetry.ts'
import { showSpool } from './fetching.ts'

it('shows the size of the spool and its reserved bytes', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'depot-spool-'))
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }))
  const spool = await openSpool({ dir, sizeBytes: 100 })
  const metrics = createMetrics({ version: 'test' })
  showSpool(metrics, spool)
  expect(await metrics.metrics()).toContain('depot_spool_bytes 0\n')
  expect(await metrics.metrics()).toContain('depot_spool_size_bytes 100\n')
  const file = await spool.reserve(60, { signal: new AbortController().signal })
  expect(await metrics.metrics()).toContain('depot_spool_bytes 60\n')
  await file.remove()
  expect(await metrics.metrics()).toContain('depot_spool_bytes 0\n')
})
