import { expect, it } from 'vitest'
import { createMetrics } from '../telemetry/telemetry.ts'
import { createAdminApp } from './admin.ts'

const admin = createAdminApp({
  metrics: createMetrics({ version: 'test' }),
  waitingFor: () => [],
})
const heapFor = (remoteAddress: string) =>
  admin.request('/heap', { method: 'POST' }, { incoming: { socket: { remoteAddress } } })

it.each(['127.0.0.1', '127.8.8.8', '::1', '::ffff:127.0.0.1'])(
  'sends a heap snapshot to %s, which is this machine',
  async (address) => {
    const response = await heapFor(address)
    expect(response.status).toBe(200)
    await response.body?.cancel()
  },
)

it.each(['10.0.0.7', '::ffff:10.0.0.7', 'fd00::1', '1.127.0.0'])(
  'keeps the heap from %s',
  async (address) => {
    expect((await heapFor(address)).status).toBe(403)
  },
)
