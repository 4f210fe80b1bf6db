import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, it, onTestFinished } from 'vitest'
import type { Clock } from '../../base/pacing/pacing.ts'
import { batchOf, hourMs } from './event.ts'
import { SqliteStore } from './sqlite-store.ts'
import { describeStore } from './store-conformance.fixture.ts'

function folder(): string {
  const dir = mkdtempSync(join(tmpdir(), 'depot-sqlite-'))
  onTestFinished(() => rmSync(dir, { recursive: true }))
  return dir
}

function open(path: string, clock: Clock = Date.now): SqliteStore {
  const store = new SqliteStore({ path, clock })
  onTestFinished(() => store.close())
  return store
}

describeStore(async (clock) => {
  const path = join(folder(), 'deep', 'stats.db')
  return { store: open(path, clock), again: async () => open(path, clock) }
})

const event = { kind: 'Module', namespace: 'a', name: 'vpc', version: '1.0.0' } as const

it('forgets history after 90 days', async () => {
  let now = Date.UTC(2030, 0, 1)
  const path = join(folder(), 'stats.db')
  const store = open(path, () => now)
  await store.apply(batchOf('old', 0, [{ sequence: 1, at: now, event }], now))
  now += 91 * 24 * hourMs
  await store.apply(batchOf('new', 0, [{ sequence: 1, at: now, event }], now))
  expect(await store.hourly(event, [])).toHaveLength(1)
  expect(await store.applied('old')).toBe(0)
  const rows = (table: string) =>
    new DatabaseSync(path).prepare(`SELECT count(*) AS n FROM ${table}`).get()?.['n']
  expect(['hours', 'version_hours', 'journals', 'downloads'].map(rows)).toEqual([1, 1, 1, 1])
})

it.each([
  ['is not a database', (path: string) => writeFileSync(path, 'x'.repeat(5000)), /not a database/],
  [
    'was written by a newer release',
    (path: string) => new DatabaseSync(path).exec('PRAGMA user_version = 9'),
    /newer release \(layout 9/,
  ],
])('does not change a file that %s', async (_, write, message) => {
  const path = join(folder(), 'stats.db')
  write(path)
  await expect(open(path).applied('x')).rejects.toThrow(message)
})

it('fails immediately while another process writes, and works afterwards', async () => {
  const path = join(folder(), 'stats.db')
  const store = open(path)
  await store.applied('x')
  const other = new DatabaseSync(path)
  other.exec('BEGIN IMMEDIATE')
  const batch = batchOf('x', 0, [{ sequence: 1, at: 0, event }], 0)
  await expect(store.apply(batch)).rejects.toThrow(/locked/)
  other.exec('COMMIT')
  expect(await store.apply(batch)).toBe(1)
})
