import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, expect, it, vi } from 'vitest'
import { event, folder, platformEvent, recordMany, startCounting } from './counts.fixture.ts'
import { archiveKey, decodeRecords } from './event.ts'

const files = (dir: string, ending: string): string[] =>
  readdirSync(join(dir, 'journal'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith(ending))
    .map((name) => join(dir, 'journal', name))
const journaled = (dir: string) =>
  files(dir, '.log').flatMap((path) => decodeRecords(readFileSync(path, 'utf8')).records)

describe('a download', () => {
  it('is counted by archive and shown', async () => {
    const { downloads, counts, metric } = startCounting(folder())
    downloads.record(event)
    downloads.record(platformEvent)
    downloads.record(platformEvent)
    await vi.waitFor(() =>
      expect(Object.fromEntries(counts)).toEqual({
        [archiveKey(event)]: 1,
        [archiveKey(platformEvent)]: 2,
      }),
    )
    expect(await metric('downloads_total', 'Provider')).toBe(2)
    expect(await metric('download_queue_events')).toBe(0)
    expect(await metric('download_store_up', 'sqlite')).toBe(1)
    expect(await downloads.hourly(platformEvent)).toMatchObject([{ count: 2 }])
  })

  it('stays counted', async () => {
    const dir = folder()
    for (const times of [3, 4]) {
      const { downloads } = startCounting(dir)
      recordMany(downloads, times)
      await downloads.close(5_000)
    }
    const { total } = startCounting(dir)
    await vi.waitFor(() => expect(total()).toBe(7))
  })
})

/** A folder cannot be opened as a file. */
const breakStore = (dir: string) => mkdirSync(join(dir, 'stats.db'))

describe('while the store is unavailable', () => {
  it('downloads are queued on disk, and counted when it is available again', async () => {
    const dir = folder()
    breakStore(dir)
    const { downloads, total, metric, logged } = startCounting(dir)
    recordMany(downloads, 100)
    await vi.waitFor(() => expect(journaled(dir)).toHaveLength(100))
    expect(await metric('download_queue_events')).toBe(100)
    expect(await metric('download_store_up')).toBe(0)
    expect(
      Date.now() / 1000 - (await metric('download_queue_oldest_timestamp_seconds')),
    ).toBeLessThan(60)

    rmSync(join(dir, 'stats.db'), { recursive: true })
    await vi.waitFor(() => expect(total()).toBe(100))
    expect(logged).toContain('download store unavailable, events are queued on disk')
  })

  it('downloads wait for the next process', async () => {
    const dir = folder()
    breakStore(dir)
    const first = startCounting(dir)
    recordMany(first.downloads, 10)
    await first.downloads.close(1_000)
    expect(first.logged).toContain('downloads are queued on disk and counted after the next start')

    rmSync(join(dir, 'stats.db'), { recursive: true })
    const { total } = startCounting(dir)
    await vi.waitFor(() => expect(total()).toBe(10))
  })

  it('the oldest downloads are lost if there are too many, and the loss is counted', async () => {
    const dir = folder()
    breakStore(dir)
    const limits = { segmentBytes: 2_000, maxQueueBytes: 20_000 }
    const { downloads, metric, logged } = startCounting(dir, { limits })
    for (let round = 0; round < 50; round += 1) {
      recordMany(downloads, 20)
      await vi.waitFor(() => expect(journaled(dir).at(-1)?.sequence).toBe(20 * (round + 1)))
    }
    await vi.waitFor(async () =>
      expect(
        (await metric('download_queue_events')) +
          (await metric('download_events_dropped_total', 'QueueFull')),
      ).toBe(1_000),
    )
    await vi.waitFor(() => expect(journaled(dir).length).toBeLessThan(500))
    expect(journaled(dir).at(-1)?.sequence).toBe(1_000)
    expect(logged).toContain('downloads lost, they will never be counted')
  })
})

describe('a store that', () => {
  it('came back in an older state gets the lost events again', async () => {
    const dir = folder()
    const first = startCounting(dir)
    recordMany(first.downloads, 50)
    await vi.waitFor(() => expect(first.total()).toBe(50))
    const snapshot = join(dir, 'snapshot.db')
    new DatabaseSync(join(dir, 'stats.db')).exec(`VACUUM INTO '${snapshot}'`)
    recordMany(first.downloads, 30)
    await vi.waitFor(() => expect(first.total()).toBe(80))
    await first.downloads.close(5_000)

    for (const ending of ['', '-wal', '-shm'])
      rmSync(join(dir, `stats.db${ending}`), { force: true })
    writeFileSync(join(dir, 'stats.db'), readFileSync(snapshot))
    const { total } = startCounting(dir)
    await vi.waitFor(() => expect(total()).toBe(80))
  })

  it('another process writes to is retried until it answers', async () => {
    const dir = folder()
    const { downloads, total, logged } = startCounting(dir)
    recordMany(downloads, 1)
    await vi.waitFor(() => expect(total()).toBe(1))
    const other = new DatabaseSync(join(dir, 'stats.db'))
    other.exec('BEGIN IMMEDIATE')
    recordMany(downloads, 5)
    await vi.waitFor(() =>
      expect(logged).toContain('download store unavailable, events are queued on disk'),
    )
    other.exec('COMMIT')
    await vi.waitFor(() => expect(total()).toBe(6))
  })
})

describe('a journal on disk', () => {
  it('loses only its damaged lines, and the loss is counted', async () => {
    const dir = folder()
    breakStore(dir)
    const first = startCounting(dir)
    recordMany(first.downloads, 10)
    await first.downloads.close(1_000)
    const [path = ''] = files(dir, '.log')
    writeFileSync(path, readFileSync(path, 'utf8').replace('"m3"', '"m4"'))

    rmSync(join(dir, 'stats.db'), { recursive: true })
    const { total, metric } = startCounting(dir)
    await vi.waitFor(() => expect(total()).toBe(9))
    expect(await metric('download_events_dropped_total', 'Corrupt')).toBe(1)
  })

  it('is not touched while its process is running', async () => {
    const dir = folder()
    breakStore(dir)
    const first = startCounting(dir)
    recordMany(first.downloads, 10)
    await vi.waitFor(() => expect(journaled(dir)).toHaveLength(10))
    const store = { path: join(dir, 'other.db') }
    const second = startCounting(dir, { store })
    recordMany(second.downloads, 1)
    await vi.waitFor(() => expect(second.total()).toBe(1))
    expect(await second.metric('download_queue_events')).toBe(0)
    expect(second.logged).not.toContain('took over the journal of a process that has ended')
  })

  it('may be removed while it is written', async () => {
    const dir = folder()
    const { downloads, total } = startCounting(dir, { limits: { segmentBytes: 100, retryMs: 50 } })
    recordMany(downloads, 10)
    await vi.waitFor(() => expect(total()).toBe(10))
    rmSync(join(dir, 'journal'), { recursive: true })
    recordMany(downloads, 10)
    await vi.waitFor(() => expect(total()).toBe(20))
    recordMany(downloads, 10)
    await vi.waitFor(() => expect(journaled(dir)).toHaveLength(10))
    await vi.waitFor(() => expect(total()).toBe(30))
  })

  it('is removed when its events were counted long ago', async () => {
    const dir = folder()
    const first = startCounting(dir)
    recordMany(first.downloads, 10)
    await first.downloads.close(5_000)
    expect(files(dir, '.log')).toHaveLength(1)
    const { total } = startCounting(dir, { clock: () => Date.now() + 2 * 3_600_000 })
    await vi.waitFor(() => expect(readdirSync(join(dir, 'journal'))).toEqual([]))
    await vi.waitFor(() => expect(total()).toBe(10))
  })
})

it('stops in time even if the store hangs', async () => {
  const dir = folder()
  breakStore(dir)
  const { downloads } = startCounting(dir)
  recordMany(downloads, 10)
  const before = Date.now()
  await downloads.close(100)
  expect(Date.now() - before).toBeLessThan(5_000)
})
