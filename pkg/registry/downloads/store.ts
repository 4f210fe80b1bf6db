import type { Batch } from './batch.ts'
import type { CountedDownload, DownloadedResource, HourlyCount } from './event.ts'

/**
 * Where counts live. Every method may fail at any time, without telling whether it was done: who asks then asks `applied`
 * what the store really has.
 */
export interface CountStore {
  readonly name: 'sqlite' | 'valkey'
  /** Changes whenever the store may have lost what it had: it came back, or another one stands in its place. */
  readonly generation: number
  /**
   * Counts a batch if the store has this journal up to `batch.after`, else does nothing.
   *
   * @returns up to where the store has this journal now
   */
  apply(batch: Batch): Promise<number>
  /** Up to where the store has a journal; 0 for one that it does not know. */
  applied(journal: string): Promise<number>
  /**
   * Counts that changed after a revision, in the order of their changes.
   *
   * @param after 0 for everything
   * @returns at most `limit` counts, and the revision to go on from
   */
  changes(after: number, limit: number): Promise<{ counts: CountedDownload[]; revision: number }>
  /**
   * Hours of the last 90 days in which a resource was downloaded, oldest first.
   *
   * @param versions whose hours come too, each by itself
   */
  hourly(resource: DownloadedResource, versions: readonly string[]): Promise<HourlyCount[]>
  close(): Promise<void>
}

/** How long a store remembers a journal that adds nothing any more. */
export const journalMemoryDays = 90
