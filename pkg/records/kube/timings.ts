/** Limits and intervals of a reflector. */
export interface Timings {
  /** First wait after a failure. It doubles each time up to the cap; the real wait is a random part of it. */
  readonly backoffMs: number
  readonly backoffCapMs: number
  /** After this long without a failure, the wait starts again at the first value. */
  readonly backoffForgetMs: number
  /** The longest `Retry-After` that is followed. */
  readonly retryAfterCapMs: number
  /** Credentials, connection and response headers together. */
  readonly headersMs: number
  /** One page of a list, body included. */
  readonly pageMs: number
  /** Silence after which a connection counts as dead. Bookmarks are a minute apart. */
  readonly idleMs: number
  /** A watch is requested to last between this and twice this. */
  readonly watchMinSeconds: number
  /** Additional time for the server to end a watch. */
  readonly watchGraceMs: number
  /** A resourceVersion that expires this soon after its list is a failure. */
  readonly shortWatchMs: number
  /** Interval at which the store is compared with the API server, at the next end of a watch. */
  readonly compareMs: number
  /** Share of the time that comparing may take. */
  readonly comparingShare: number
  /** Interval at which READMEs without a watch are read again. */
  readonly readmeRefreshMs: number
}

export const defaultTimings: Timings = {
  backoffMs: 800,
  backoffCapMs: 30_000,
  backoffForgetMs: 120_000,
  retryAfterCapMs: 120_000,
  headersMs: 60_000,
  pageMs: 300_000,
  idleMs: 150_000,
  watchMinSeconds: 300,
  watchGraceMs: 10_000,
  shortWatchMs: 1_000,
  compareMs: 3_600_000,
  comparingShare: 0.05,
  readmeRefreshMs: 300_000,
}
