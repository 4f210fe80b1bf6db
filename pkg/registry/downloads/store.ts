import type {
  Batch,
  ConsumerUse,
  CountedDownload,
  DownloadedResource,
  HourlyCount,
} from './event.ts'

/** Storage of counts. Every method may fail at any time without telling whether it took effect: callers then ask `applied`. */
export interface CountStore {
  readonly name: 'sqlite' | 'valkey'
  /** Changes whenever the store may have lost data: it reconnected, or was replaced by another one. */
  readonly generation: number
  /**
   * Counts a batch if the store has this journal up to `batch.after`, otherwise does nothing.
   *
   * @returns the last event of this journal that the store has now
   */
  apply(batch: Batch): Promise<number>
  /** The last event of a journal that the store has; 0 for an unknown journal. */
  applied(journal: string): Promise<number>
  /**
   * Counts that changed after a revision, in the order of their changes.
   *
   * @param after 0 for everything
   * @returns at most `limit` counts, and the revision to continue from
   */
  changes(after: number, limit: number): Promise<{ counts: CountedDownload[]; revision: number }>
  /**
   * Hours of the last 90 days in which a resource was downloaded, oldest first.
   *
   * @param versions that are also counted separately
   */
  hourly(resource: DownloadedResource, versions: readonly string[]): Promise<HourlyCount[]>
  /** The consumers of a resource in the last 90 days. Of more than 1,000, the rest is `others`. */
  consumers(resource: DownloadedResource): Promise<ConsumerUse[]>
  close(): Promise<void>
}

/** The name of consumers that have no entry of their own. No other name begins with a parenthesis. */
export const otherConsumers = '(others)'
export const maxConsumers = 1_000

/** How long a store remembers a journal without new events. */
export const journalMemoryDays = 90
