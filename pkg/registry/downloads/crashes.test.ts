import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it, vi } from 'vitest'
import { type Counting, folder, startCounting } from './counts.fixture.ts'
import { record, windowMs } from './recording.fixture.ts'
import { noValkey, TestValkey } from './valkey.fixture.ts'

const endless = { bursts: 1e9, pauseMs: 5 }

/** Each download was of another module, so that none may be counted twice. */
async function expectCounts(
  { total, counts, metric }: Counting,
  { least, most }: { least: number; most: number },
): Promise<void> {
  expect(least).toBeGreaterThan(1_000)
  await vi.waitFor(() => expect(total()).toBeGreaterThanOrEqual(least), { timeout: 20_000 })
  await vi.waitFor(async () => expect(await metric('download_queue_events')).toBe(0))
  expect(total()).toBeLessThanOrEqual(most)
  expect([...counts].filter(([, count]) => count !== 1)).toEqual([])
}

it('a server that is killed five times under load loses only events that are not in the journal yet', async () => {
  const dir = folder()
  const store = { path: join(dir, 'stats.db') }
  const journalDir = join(dir, 'journal')
  let [least, most] = [0, 0]
  for (let round = 0; round < 5; round += 1) {
    const recorder = record({ ...endless, store, journalDir })
    await vi.waitFor(() => expect(recorder.reports.length).toBeGreaterThan(50))
    await sleep(windowMs + 37 * round)
    const killed = await recorder.kill()
    least += killed.least
    most += killed.most
  }
  await expectCounts(startCounting(dir), { least, most })
})

describe.skipIf(noValkey)(
  'valkey that is killed twenty times under load, and servers five times',
  () => {
    it.each([
      ['which saves every command', ['--appendonly', 'yes', '--appendfsync', 'always']],
      ['which saves every second', ['--appendonly', 'yes', '--appendfsync', 'everysec']],
      ['which saves nothing', []],
    ])('%s, has every download once', async (_, flags) => {
      await using server = await TestValkey.start(...flags)
      const dir = folder()
      const valkey = { host: server.host, port: server.port }
      const orders = { ...endless, store: { valkey }, journalDir: join(dir, 'journal') }
      const witness = record({ ...orders, pauseMs: 20 })
      let victim = record(orders)
      let [least, most] = [0, 0]
      for (let round = 1; round <= 20; round += 1) {
        await sleep(100 + 43 * (round % 7))
        await server.kill()
        await sleep(11 * (round % 5))
        await server.start()
        if (round % 4 !== 0) continue
        await vi.waitFor(() => expect(victim.reports.length).toBeGreaterThan(0))
        const killed = await victim.kill()
        least += killed.least
        most += killed.most
        victim = record(orders)
      }
      for (const recorder of [witness, victim]) {
        await vi.waitFor(() => expect(recorder.reports.length).toBeGreaterThan(0))
        const { recorded } = await recorder.stop()
        least += recorded
        most += recorded
      }
      await expectCounts(startCounting(dir, { store: { valkey } }), { least, most })
    })
  },
)
