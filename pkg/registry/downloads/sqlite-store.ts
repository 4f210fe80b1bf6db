import { mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync, type StatementSync } from 'node:sqlite'
import type { Clock } from '../../base/pacing/pacing.ts'
import {
  type Batch,
  type ConsumerUse,
  type CountedDownload,
  type DownloadedResource,
  dayOf,
  type HourlyCount,
  historyDays,
  hourMs,
  hourOf,
} from './event.ts'
import { ConsumerTable, consumerSchema } from './sqlite-consumers.ts'
import { type CountStore, journalMemoryDays } from './store.ts'

/** Layout version of the file, explained in docs/downloads.md. */
const layout = 1
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
