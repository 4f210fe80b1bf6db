import { chmodSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, vi } from 'vitest'
import { folder, startCounting } from './counts.fixture.ts'
import { record } from './recording.fixture.ts'
import { noValkey, TestValkey } from './valkey.fixture.ts'

/** No byte can be written to any file; the signal for it is not what a full disk does. */
const fullDisk = `trap '' XFSZ; ulimit -f 0; exec "$@"`
const brief = { bursts: 100, pauseMs: 5, limits: { memoryEvents: 300, retryMs: 50 } }

describe('a disk on which nothing can be written', () => {
  it.each([
    { disk: 'full', shell: fullDisk, orders: {} },
    {
      disk: 'read-only',
      shell: undefined,
      orders: process.getuid?.() === 0 ? { uid: 65_532 } : {},
    },
  ])('$disk, loses counts without disturbing downloads, and reports the loss', async (row) => {
    const dir = folder()
    chmodSync(dir, 0o555)
    const store = { path: join(dir, 'stats.db') }
    const recorder = record(
      { ...brief, ...row.orders, store, journalDir: join(dir, 'j') },
      row.shell,
    )
    await vi.waitFor(() => expect(recorder.reports).toHaveLength(100))
    expect(await recorder.stop()).toMatchObject({ recorded: 1_000, lost: 1_000 })
  })

  it.skipIf(noValkey)('loses nothing while Valkey is available', async () => {
    await using server = await TestValkey.start()
    const dir = folder()
    const valkey = { host: server.host, port: server.port }
    const orders = {
      ...brief,
      store: { valkey },
      journalDir: join(dir, 'j'),
      limits: { retryMs: 50 },
    }
    const recorder = record(orders, fullDisk)
    await vi.waitFor(() => expect(recorder.reports).toHaveLength(100))
    expect(await recorder.stop()).toMatchObject({ recorded: 1_000, lost: 0 })
    const { total } = startCounting(dir, { store: { valkey } })
    await vi.waitFor(() => expect(total()).toBe(1_000))
  })
})
