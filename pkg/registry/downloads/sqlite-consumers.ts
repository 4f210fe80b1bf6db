import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { type ConsumerUse, type DownloadedResource, historyDays, type UseOf } from './event.ts'
import { maxConsumers, otherConsumers } from './store.ts'

/** Texts are in one table, so that a row of `consumers` has only numbers: there may be millions. */
export const consumerSchema = `
  CREATE TABLE IF NOT EXISTS names (
    id INTEGER PRIMARY KEY AUTOINCREMENT, text TEXT NOT NULL UNIQUE, day INTEGER NOT NULL
  ) STRICT;
  CREATE TABLE IF NOT EXISTS consumers (
    resource INTEGER, consumer INTEGER, version INTEGER, day INTEGER NOT NULL, days INTEGER NOT NULL,
    PRIMARY KEY (resource, consumer, version)
  ) STRICT, WITHOUT ROWID;
`

const consumerStatements = {
  name: 'SELECT id, day FROM names WHERE text = ?',
  addName: `INSERT INTO names (text, day) VALUES (?, ?)
    ON CONFLICT DO UPDATE SET day = max(day, excluded.day) RETURNING id`,
  last: 'SELECT day FROM consumers WHERE resource = ? AND consumer = ? AND version = ?',
  isKnown: 'SELECT 1 FROM consumers WHERE resource = ? AND consumer = ? LIMIT 1',
  count: 'SELECT count(DISTINCT consumer) AS count FROM consumers WHERE resource = ?',
  note: `INSERT INTO consumers VALUES (?, ?, ?, ?, 1)
    ON CONFLICT DO UPDATE SET day = excluded.day, days = min(days + 1, ${historyDays})`,
  of: `SELECT consumer.text AS consumer, version.text AS version, used.day, used.days
    FROM consumers AS used
    JOIN names AS consumer ON consumer.id = used.consumer
    JOIN names AS version ON version.id = used.version
    WHERE used.resource = ? AND used.day BETWEEN ? AND ?`,
  forget: 'DELETE FROM consumers WHERE resource = ? AND day < ?',
  forgetNames: 'DELETE FROM names WHERE day < ?',
  nextResource: 'SELECT min(resource) AS resource FROM consumers WHERE resource > ?',
} as const

/** How many resources are looked through for old rows with each batch. */
const swept = 10

/** Consumers of each resource in a SQLite file. Methods run in a transaction of the caller. */
export class ConsumerTable {
  readonly #run: Record<keyof typeof consumerStatements, StatementSync>
  #sweptUpTo = 0

  constructor(database: DatabaseSync) {
    this.#run = Object.fromEntries(
      Object.entries(consumerStatements).map(([name, sql]) => [name, database.prepare(sql)]),
    ) as Record<keyof typeof consumerStatements, StatementSync>
  }

  /** Notes uses. A day that is known already changes nothing, so they may come several times. */
  note(uses: readonly UseOf[], today: number): void {
    for (const { kind, namespace, name, version, consumer, day: at } of uses) {
      const day = Math.min(at, today)
      const resource = this.#id(keyOf({ kind, namespace, name }), day)
      const isKnown = this.#isKnown(resource, consumer) || this.#hasSpace(resource)
      const by = this.#id(isKnown ? consumer : otherConsumers, day)
      const of = this.#id(version, day)
      const last = this.#run.last.get(resource, by, of)?.['day']
      // A clock that was wrong may have noted a day in the future.
      if (last === undefined || Number(last) < day || Number(last) > today + 1) {
        this.#run.note.run(resource, by, of, day)
      }
    }
    this.#sweep(today - historyDays)
  }

  of(resource: DownloadedResource, today: number): ConsumerUse[] {
    const id = this.#run.name.get(keyOf(resource))?.['id']
    if (id === undefined) return []
    return this.#run.of.all(Number(id), today - historyDays, today + 1).map((row) => ({
      consumer: String(row['consumer']),
      version: String(row['version']),
      day: Number(row['day']),
      days: Number(row['days']),
    }))
  }

  #isKnown(resource: number, consumer: string): boolean {
    const id = this.#run.name.get(consumer)?.['id']
    return id !== undefined && this.#run.isKnown.get(resource, Number(id)) !== undefined
  }

  #hasSpace(resource: number): boolean {
    return Number(this.#run.count.get(resource)?.['count']) < maxConsumers
  }

  #id(text: string, day: number): number {
    const known = this.#run.name.get(text)
    if (known !== undefined && Number(known['day']) >= day) return Number(known['id'])
    return Number(this.#run.addName.get(text, day)?.['id'])
  }

  /** Removes old rows, of few resources at a time, so that no request waits. */
  #sweep(oldest: number): void {
    for (let round = 0; round < swept; round += 1) {
      const next = this.#run.nextResource.get(this.#sweptUpTo)?.['resource']
      this.#sweptUpTo = Number(next ?? 0)
      if (typeof next !== 'number') {
        this.#run.forgetNames.run(oldest)
        return
      }
      this.#run.forget.run(next, oldest)
    }
  }
}

const keyOf = ({ kind, namespace, name }: DownloadedResource): string =>
  JSON.stringify([kind, namespace, name])
