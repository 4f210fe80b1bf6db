import { describe, expect, it, vi } from 'vitest'
import { event, folder, startCounting } from './counts.fixture.ts'
import { noValkey, TestValkey } from './valkey.fixture.ts'

describe.skipIf(noValkey)('servers that share a Valkey', () => {
  it("see each other's counts, and keep them while it is unavailable", async () => {
    await using server = await TestValkey.start()
    const store = { valkey: { host: server.host, port: server.port } }
    const one = startCounting(folder(), { store })
    const other = startCounting(folder(), { store })
    one.downloads.record(event)
    other.downloads.record(event)
    other.downloads.record(event)
    const totals = () => [one.total(), other.total()]
    await vi.waitFor(() => expect(totals()).toEqual([3, 3]), { timeout: 20_000 })

    await server.kill()
    one.downloads.record(event)
    await vi.waitFor(async () => {
      expect(await one.metric('download_store_up')).toBe(0)
      expect(await one.metric('download_queue_events')).toBe(1)
    })
    expect(totals()).toEqual([3, 3])
    expect(one.logged).toEqual([
      'download counts loaded',
      'download store unavailable, events are queued on disk',
    ])
  })

  it('restore what it forgot', async () => {
    await using server = await TestValkey.start()
    const store = { valkey: { host: server.host, port: server.port } }
    const one = startCounting(folder(), { store })
    const other = startCounting(folder(), { store })
    one.downloads.record(event)
    other.downloads.record(event)
    await vi.waitFor(() => expect(one.total()).toBe(2), { timeout: 20_000 })
    await server.kill()
    await server.start()
    const late = startCounting(folder(), { store })
    await vi.waitFor(() => expect(late.total()).toBe(2), { timeout: 20_000 })
    expect(one.logged).toContain(
      'download store lost events, those still on disk are counted again',
    )
  })

  it('count an event once if it answers too late', async () => {
    await using server = await TestValkey.start()
    const store = { valkey: { host: server.host, port: server.port } }
    const { downloads, total, metric } = startCounting(folder(), { store })
    downloads.record(event)
    await vi.waitFor(() => expect(total()).toBe(1))
    server.signal('SIGSTOP')
    downloads.record(event)
    await vi.waitFor(async () => expect(await metric('download_store_up')).toBe(0), {
      timeout: 20_000,
    })
    server.signal('SIGCONT')
    await vi.waitFor(() => expect(total()).toBe(2), { timeout: 20_000 })
    downloads.record(event)
    await vi.waitFor(() => expect(total()).toBe(3), { timeout: 20_000 })
  }, 60_000)
})
