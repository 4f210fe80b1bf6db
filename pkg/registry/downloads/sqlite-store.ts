import { mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync, type StatementSync } from 'node:sqlite'
import type { Clock } from '../../base/pacing/pacing.ts'
import {
  type Batch,
  type ConsumerUse,
  type CountedDownload,
  type CountStore,
  type DownloadedResource,
  dayOf,
  type HourlyCount,
  historyDays,
  hourMs,
  hourOf,
  journalMemoryDays,
  maxConsumers,
  otherConsumers,
  type UseOf,
} from './event.ts'

/** Layout version of the file, explained in docs/downloads.md. */
const layout = 1
/** Texts are in one table, so that a row of `consumers` has only numbers: there may be millions. */
const consumerSchema = `
  CREATE TABLE IF NOT EXISTS names (
    id INTEGER PRIMARY KEY AUTOINCREMENT, text TEXT NOT NULL UNIQUE, day INTEGER NOT NULL
  ) STRICT;
  CREATE TABLE IF NOT EXISTS consumers (
    resource INTEGER, consumer INTEGER, version INTEGER, day INTEGER NOT NULL, days INTEGER NOT NULL,
    PRIMARY KEY (resource, consumer, version)
  ) STRICT, WITHOUT ROWID;
`

const schema = `
  CREATE TABLE IF NOT EXISTS downloads (
    kind TEXT, namespace TEXT, name TEXT, version TEXT, os TEXT, arch TEXT,
    count INTEGER NOT NULL, last_at INTEGER NOT NULL, revision INTEGER NOT NULL,
    PRIMARY KEY (kind, namespace, name, version, os, arch)
  ) STRICT, WITHOUT ROWID;
  CREATE UNIQUE INDEX IF NOT EXISTS downloads_by_revision ON downloads (revision);
  CREATE TABLE IF NOT EXISTS hours (
    kind TEXT, namespace TEXT, name TEXT, hour INTEGER, count INTEGER NOT NULL,
    PRIMARY KEY (kind, namespace, name, hour)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX IF NOT EXISTS hours_by_hour ON hours (hour);
  CREATE TABLE IF NOT EXISTS journals (
    id TEXT PRIMARY KEY, sequence INTEGER NOT NULL, changed_at INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS version_hours (
    kind TEXT, namespace TEXT, name TEXT, version TEXT, hour INTEGER, count INTEGER NOT NULL,
    PRIMARY KEY (kind, namespace, name, version, hour)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX IF NOT EXISTS version_hours_by_hour ON version_hours (hour);
  ${consumerSchema}
  PRAGMA user_version = ${layout};
`

const statements = {
  applied: 'SELECT sequence FROM journals WHERE id = ?',
  remember: `INSERT INTO journals VALUES (?, ?, ?)
    ON CONFLICT DO UPDATE SET sequence = excluded.sequence, changed_at = excluded.changed_at`,
  revision: 'SELECT max(revision) AS revision FROM downloads',
  count: `INSERT INTO downloads VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT DO UPDATE SET count = count + excluded.count,
      last_at = max(last_at, excluded.last_at), revision = excluded.revision`,
  countHour: `INSERT INTO hours VALUES (?, ?, ?, ?, ?)
    ON CONFLICT DO UPDATE SET count = count + excluded.count`,
  countVersionHour: `INSERT INTO version_hours VALUES (?, ?, ?, ?, ?, ?)
    ON CONFLICT DO UPDATE SET count = count + excluded.count`,
  changes: 'SELECT * FROM downloads WHERE revision > ? ORDER BY revision LIMIT ?',
  hourly: `SELECT hour, count FROM hours
    WHERE kind = ? AND namespace = ? AND name = ? AND hour >= ? ORDER BY hour`,
  versionHourly: `SELECT hour, count FROM version_hours
    WHERE kind = ? AND namespace = ? AND name = ? AND version = ? AND hour >= ? ORDER BY hour`,
  pruneHours: 'DELETE FROM hours WHERE hour < ?',
  pruneVersionHours: 'DELETE FROM version_hours WHERE hour < ?',
  pruneJournals: 'DELETE FROM journals WHERE changed_at < ?',
} as const

type Statements = Record<keyof typeof statements, StatementSync>
type Row = Readonly<Record<string, string | number>>

/**
 * Counts in a SQLite file of this machine, for one server. It is opened on demand, and again after every error. Commits are
 * not synced one by one: events that a power failure reverts are counted again from the synced journal.
 */
export class SqliteStore implements CountStore {
  readonly name = 'sqlite'
  generation = 1
  readonly #path: string
  readonly #clock: Clock
  #open: ReturnType<typeof openDatabase> | undefined
  #prunedHour = 0

  constructor({ path, clock }: { path: string; clock: Clock }) {
    this.#path = path
    this.#clock = clock
  }

  async apply({ journal, after, last, archives, hours, uses }: Batch): Promise<number> {
    return this.#use(({ run, consumers }) => {
      const applied = appliedTo(run, journal)
      if (applied !== after) return applied
      let revision = Number(run.revision.get()?.['revision'] ?? 0)
      for (const { kind, namespace, name, version, os = '', arch = '', ...of } of archives) {
        revision += 1
        run.count.run(kind, namespace, name, version, os, arch, of.count, of.lastAt, revision)
      }
      for (const { kind, namespace, name, version, hour, count } of hours) {
        if (version === undefined) run.countHour.run(kind, namespace, name, hour, count)
        else run.countVersionHour.run(kind, namespace, name, version, hour, count)
      }
      if (uses.length > 0) consumers().note(uses, dayOf(this.#clock()))
      run.remember.run(journal, last, this.#clock())
      this.#prune(run)
      return last
    }, 'BEGIN IMMEDIATE')
  }

  async applied(journal: string): Promise<number> {
    return this.#use(({ run }) => appliedTo(run, journal))
  }

  async changes(
    after: number,
    limit: number,
  ): Promise<{ counts: CountedDownload[]; revision: number }> {
    return this.#use(({ run }) => {
      const rows = run.changes.all(after, limit) as Row[]
      return { counts: rows.map(countOf), revision: Number(rows.at(-1)?.['revision'] ?? after) }
    })
  }

  async hourly(
    { kind, namespace, name }: DownloadedResource,
    versions: readonly string[],
  ): Promise<HourlyCount[]> {
    const oldest = hourOf(this.#clock()) - historyDays * 24
    const counts = (rows: unknown[], version?: string) =>
      (rows as Row[]).map(({ hour, count }) => ({
        startsAt: Number(hour) * hourMs,
        ...(version !== undefined && { version }),
        count: Number(count),
      }))
    return this.#use(({ run }) => [
      ...counts(run.hourly.all(kind, namespace, name, oldest)),
      ...versions.flatMap((version) =>
        counts(run.versionHourly.all(kind, namespace, name, version, oldest), version),
      ),
    ])
  }

  async consumers(resource: DownloadedResource): Promise<ConsumerUse[]> {
    return this.#use(({ consumers }) => consumers().of(resource, dayOf(this.#clock())))
  }

  async close(): Promise<void> {
    this.#open?.database.close()
    this.#open = undefined
  }

  #use<T>(work: (open: ReturnType<typeof openDatabase>) => T, begin = 'BEGIN'): T {
    try {
      this.#open ??= openDatabase(this.#path)
      const { database } = this.#open
      database.exec(begin)
      const result = work(this.#open)
      database.exec('COMMIT')
      return result
    } catch (error) {
      this.#abandon()
      throw error
    }
  }

  /** Closing reverts an open transaction. */
  #abandon(): void {
    this.generation += 1
    const database = this.#open?.database
    this.#open = undefined
    database?.close()
  }

  #prune(run: Statements): void {
    const now = this.#clock()
    if (hourOf(now) === this.#prunedHour) return
    run.pruneHours.run(hourOf(now) - historyDays * 24)
    run.pruneVersionHours.run(hourOf(now) - historyDays * 24)
    run.pruneJournals.run(now - journalMemoryDays * 24 * hourMs)
    this.#prunedHour = hourOf(now)
  }
}

function openDatabase(path: string) {
  mkdirSync(dirname(path), { recursive: true })
  const database = new DatabaseSync(path, { timeout: 0 })
  try {
    database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;')
    const found = Number(database.prepare('PRAGMA user_version').get()?.['user_version'])
    if (found > layout) {
      throw new Error(
        `${path} was written by a newer release (layout ${found}, this one knows ${layout}): run that release, or choose another --stats-path`,
      )
    }
    database.exec(`BEGIN IMMEDIATE; ${schema} COMMIT;`)
    const run = Object.fromEntries(
      Object.entries(statements).map(([name, sql]) => [name, database.prepare(sql)]),
    ) as Statements
    let table: ConsumerTable | undefined
    // Most registries know no consumer.
    return { database, run, consumers: () => (table ??= new ConsumerTable(database)) }
  } catch (error) {
    database.close()
    throw error
  }
}

function appliedTo(run: Statements, journal: string): number {
  return Number(run.applied.get(journal)?.['sequence'] ?? 0)
}

function countOf({
  kind,
  namespace,
  name,
  version,
  os,
  arch,
  count,
  last_at,
}: Row): CountedDownload {
  const isPlatform = os !== '' || arch !== ''
  return {
    kind: kind as CountedDownload['kind'],
    namespace: String(namespace),
    name: String(name),
    version: String(version),
    ...(isPlatform && { os: String(os), arch: String(arch) }),
    count: Number(count),
    lastAt: Number(last_at),
  }
}

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
class ConsumerTable {
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
