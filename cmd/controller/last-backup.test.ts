import { expect, it, onTestFinished } from 'vitest'
import { createLogger, createMetrics } from '../../pkg/base/telemetry/telemetry.ts'
import { TestLease } from '../../pkg/records/lease/lease.fixture.ts'
import { watchLastBackup } from './last-backup.ts'

it('shows the time of the last backup, and keeps it while the API server is unreachable', async () => {
  const lease = new TestLease()
  const metrics = createMetrics({ version: 'test' })
  const stop = watchLastBackup({
    client: lease.client(),
    lease: { namespace: 'team', name: 'depot-backup' },
    log: createLogger('silent'),
    metrics,
    intervalMs: 5,
  })
  onTestFinished(stop)
  const value = async () =>
    /^depot_backup_last_success_timestamp_seconds (\d+)$/m.exec(await metrics.metrics())?.[1]
  lease.spec = { renewTime: '2026-11-25T02:00:00.000000Z' }
  await expect.poll(value).toBe('1795572000')
  lease.isUnreachable = true
  lease.spec = { renewTime: '2026-11-26T02:00:00.000000Z' }
  expect(await value()).toBe('1795572000')
  lease.isUnreachable = false
  await expect.poll(value).toBe('1795658400')
})
