import type { SyncRequest } from '../requests.ts'

/** What is known of the work on a Version while it goes on, for the status that tells of its failure. */
export interface Attempt {
  sourceKey?: string
  revision?: string
  request?: SyncRequest
  /** Upstream was found to have something else. It is found again by the next poll only. */
  isOutdated?: boolean
}
