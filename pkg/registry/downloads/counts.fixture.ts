import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { createLogger, createMetrics } from '../../base/telemetry/telemetry.ts'
import { createDownloads, type DownloadCounter, type DownloadsOptions } from './downloads.ts'
import { archiveKey } from './event.ts'

/** A folder for one test. */
export function folder(): string {
  const dir = mkdtempSync(join(tmpdir(), 'depot-downloads-'))
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }))
  return dir
}

export interface Counting {
  readonly downloads: DownloadCounter
  /** The counts that a server shows now, by archive. */
  readonly counts: Map<string, number>
  /** All archives together. */
  readonly total: () => number
  /** Value of a metric, for all its labels or for one of them. */
  readonly metric: (name: string, label?: string) => Promise<number>
  /** Message of each log line. */
  readonly logged: string[]
}

/** Counts downloads in a folder, in its file `stats.db` unless another store is given. */
export function startCounting(dir: string, options: Partial<DownloadsOptions> = {}): Counting {
  const counts = new Map<string, number>()
  const metrics = createMetrics({ version: 'test' })
  const logged: string[] = []
  const log = createLogger('info', { write: (line) => void logged.push(JSON.parse(line).msg) })
  const downloads = createDownloads({
    store: { path: join(dir, 'stats.db') },
    journalDir: join(dir, 'journal'),
    refreshIntervalMs: 100,
    sink: {
      setDownloads(changed) {
        for (const one of changed) counts.set(archiveKey(one), one.count)
      },
    },
    log,
    metrics,
    ...options,
  })
  onTestFinished(() => downloads.close(2_000))
  return {
    downloads,
    counts,
    logged,
    total: () => [...counts.values()].reduce((sum, count) => sum + count, 0),
    async metric(name, label) {
      const values = (await metrics.getSingleMetric(`depot_${name}`)?.get())?.values ?? []
      return values
        .filter(({ labels }) => label === undefined || Object.values(labels).includes(label))
        .reduce((sum, { value }) => sum + value, 0)
    },
  }
}

export const event = { kind: 'Module', namespace: 'a', name: 'vpc', version: '1.0.0' } as const
export const platformEvent = { ...event, kind: 'Provider', os: 'linux', arch: 'amd64' } as const

export function recordMany(downloads: DownloadCounter, times: number): void {
  for (let index = 0; index < times; index += 1) {
    downloads.record({ ...event, name: `m${index % 7}` })
  }
}
