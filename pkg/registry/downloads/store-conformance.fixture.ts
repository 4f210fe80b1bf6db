import { describe, expect, it } from 'vitest'
import type { Clock } from '../../base/pacing/pacing.ts'
import {
  batchOf,
  type CountStore,
  type DownloadEvent,
  hourMs,
  type JournalRecord,
} from './event.ts'

const module: DownloadEvent = { kind: 'Module', namespace: 'a', name: 'vpc', version: '1.0.0' }
const other: DownloadEvent = { ...module, version: '2.0.0' }
const provider: DownloadEvent = { ...module, kind: 'Provider', os: 'linux', arch: 'arm64' }
const now = Date.UTC(2030, 0, 15, 12, 30)

export interface OpenStore {
  /** An empty store. */
  readonly store: CountStore
  /** A second connection to the same counts. */
  readonly again: () => Promise<CountStore>
}

/**
 * Tests for every store.
 *
 * @param open creates a store with a clock that returns `now`
 */
export function describeStore(open: (clock: Clock) => Promise<OpenStore>): void {
  const clock = () => now
  const records = (events: readonly DownloadEvent[], from = 1, at = now): JournalRecord[] =>
    events.map((event, index) => ({ sequence: from + index, at, event }))
  const batch = (after: number, of: readonly JournalRecord[], journal = 'one') =>
    batchOf(journal, after, of, now)
  const all = async (store: CountStore) => (await store.changes(0, 100)).counts

  describe('a batch', () => {
    it('is counted by archive', async () => {
      const { store } = await open(clock)
      expect(await store.apply(batch(0, records([module, provider, module])))).toBe(3)
      expect(await all(store)).toEqual([
        { ...module, count: 2, lastAt: now },
        { ...provider, count: 1, lastAt: now },
      ])
    })

    it('is counted once, however often it is sent', async () => {
      const { store } = await open(clock)
      const first = batch(0, records([module, module]))
      for (let attempt = 0; attempt < 3; attempt += 1) expect(await store.apply(first)).toBe(2)
      expect(await all(store)).toEqual([{ ...module, count: 2, lastAt: now }])
    })

    it('is refused as a whole if the store has a part of it', async () => {
      const { store } = await open(clock)
      await store.apply(batch(0, records([module])))
      expect(await store.apply(batch(0, records([module, other])))).toBe(1)
      expect(await store.apply(batch(7, records([other], 8)))).toBe(1)
      expect(await all(store)).toEqual([{ ...module, count: 1, lastAt: now }])
    })

    it('may omit lost events', async () => {
      const { store } = await open(clock)
      await store.apply(batch(0, records([module])))
      expect(await store.apply(batch(1, records([module], 9)))).toBe(9)
      expect(await all(store)).toEqual([{ ...module, count: 2, lastAt: now }])
    })

    it('of another journal is counted too', async () => {
      const { store } = await open(clock)
      await store.apply(batch(0, records([module])))
      await store.apply(batch(0, records([module]), 'two'))
      expect(await all(store)).toEqual([{ ...module, count: 2, lastAt: now }])
      expect([await store.applied('one'), await store.applied('nobody')]).toEqual([1, 0])
    })

    it('keeps the time of the last download if it is late', async () => {
      const { store } = await open(clock)
      await store.apply(batch(0, records([module])))
      await store.apply(batch(0, records([module], 1, now - 5_000), 'two'))
      expect(await all(store)).toEqual([{ ...module, count: 2, lastAt: now }])
    })

    it('may have the maximum size, over many days', async () => {
      const { store } = await open(clock)
      const many = Array.from({ length: 1_000 }, (_, index) => ({
        sequence: index + 1,
        at: now - index * hourMs,
        event: { ...module, name: `m${index}` },
      }))
      expect(await store.apply(batch(0, many))).toBe(1_000)
      expect(await store.hourly({ ...module, name: 'm999' }, [])).toHaveLength(1)
    })
  })

  describe('changes', () => {
    it('are returned after a revision, each archive once', async () => {
      const { store, again } = await open(clock)
      await store.apply(batch(0, records([module, other])))
      const reader = await again()
      const { revision } = await reader.changes(0, 100)
      await store.apply(batch(2, records([other], 3)))
      const next = await reader.changes(revision, 100)
      expect(next.counts).toEqual([{ ...other, count: 2, lastAt: now }])
      expect(await reader.changes(next.revision, 100)).toEqual({
        counts: [],
        revision: next.revision,
      })
    })

    it('are returned in pages', async () => {
      const { store } = await open(clock)
      const names = Array.from({ length: 25 }, (_, index) => `m${index}`)
      await store.apply(batch(0, records(names.map((name) => ({ ...module, name })))))
      const found: string[] = []
      for (let after = 0, more = true; more; ) {
        const { counts, revision } = await store.changes(after, 10)
        found.push(...counts.map(({ name }) => name))
        after = revision
        more = counts.length > 0
      }
      expect(found).toEqual(names)
    })
  })

  describe('consumers', () => {
    const today = Math.floor(now / hourMs / 24)
    const dayMs = 24 * hourMs
    const by = (consumer: string, version = '1.0.0') => ({ ...module, version, consumer })

    it('are kept with the last day and the number of days, however often a batch is sent', async () => {
      const { store, again } = await open(clock)
      const early = batch(0, records([by('team-a'), by('team-a')], 1, now - 2 * dayMs))
      for (let attempt = 0; attempt < 2; attempt += 1) await store.apply(early)
      await store.apply(batch(2, records([by('team-a'), by('team-b', '2.0.0'), module], 3)))
      const reader = await again()
      expect((await reader.consumers(module)).toSorted((a, b) => a.days - b.days)).toEqual([
        { consumer: 'team-b', version: '2.0.0', day: today, days: 1 },
        { consumer: 'team-a', version: '1.0.0', day: today, days: 2 },
      ])
      expect(await reader.consumers({ ...module, name: 'nobody' })).toEqual([])
      expect((await all(store)).find(({ version }) => version === '1.0.0')?.count).toBe(4)
    })

    it('end after 90 days, and do not change if a clock goes back', async () => {
      const { store } = await open(clock)
      await store.apply(batch(0, records([by('old')], 1, now - 91 * dayMs)))
      await store.apply(batch(1, records([by('team-a')], 2)))
      await store.apply(batch(2, records([by('team-a')], 3, now - dayMs)))
      await store.apply(batch(3, records([by('team-a')], 4, now + 400 * dayMs)))
      expect(await store.consumers(module)).toEqual([
        { consumer: 'team-a', version: '1.0.0', day: today, days: 1 },
      ])
    })

    it('has at most 1,000 consumers by name, and the others as one', async () => {
      const { store } = await open(clock)
      const many = Array.from({ length: 1_002 }, (_, index) => by(`team-${index}`))
      await store.apply(batch(0, records(many)))
      await store.apply(batch(1_002, records([by('team-7', '2.0.0'), by('one more')], 1_003)))
      const found = await store.consumers(module)
      expect(new Set(found.map(({ consumer }) => consumer)).size).toBe(1_001)
      expect(found.filter(({ consumer }) => consumer === '(others)')).toHaveLength(1)
      expect(found.filter(({ consumer }) => consumer === 'team-7')).toHaveLength(2)
    })

    it('may have any name', async () => {
      const { store } = await open(clock)
      const names = [`'; DROP TABLE names; --`, ' 1:1=20783:1', '🦊\u202e', '"', 'swept', '12']
      await store.apply(batch(0, records(names.map((name) => by(name)))))
      const found = (await store.consumers(module)).map(({ consumer }) => consumer)
      expect(found.toSorted()).toEqual(names.toSorted())
    })
  })

  describe('history', () => {
    it('has the hours of a resource, all its versions together', async () => {
      const { store } = await open(clock)
      const early = records([module, other, provider], 1, now - 26 * hourMs)
      await store.apply(batch(0, [...early, ...records([module], 4)]))
      await store.apply(batch(4, records([module, other], 5)))
      await store.apply(batch(6, records([module], 7, now - 2 * hourMs)))
      const hour = Math.floor(now / hourMs) * hourMs
      expect(await store.hourly(module, [])).toEqual([
        { startsAt: hour - 26 * hourMs, count: 2 },
        { startsAt: hour - 2 * hourMs, count: 1 },
        { startsAt: hour, count: 3 },
      ])
      expect(await store.hourly({ ...module, name: 'nobody' }, ['1.0.0'])).toEqual([])
    })

    it('is kept for each version too', async () => {
      const { store } = await open(clock)
      const next = { ...module, version: '2.0.0' }
      await store.apply(batch(0, records([module, module, next], 1, now - 3 * hourMs)))
      await store.apply(batch(3, records([next], 4)))
      const hour = Math.floor(now / hourMs) * hourMs
      expect(await store.hourly(module, [module.version, '2.0.0', '3.0.0'])).toEqual([
        { startsAt: hour - 3 * hourMs, count: 3 },
        { startsAt: hour, count: 1 },
        { startsAt: hour - 3 * hourMs, version: module.version, count: 2 },
        { startsAt: hour - 3 * hourMs, version: '2.0.0', count: 1 },
        { startsAt: hour, version: '2.0.0', count: 1 },
      ])
    })

    it('ends after 90 days, counts do not', async () => {
      const { store } = await open(clock)
      const at = now - 91 * 24 * hourMs
      await store.apply(batch(0, records([module], 1, at)))
      expect(await store.hourly(module, [])).toEqual([])
      expect(await all(store)).toEqual([{ ...module, count: 1, lastAt: at }])
    })
  })
}
