import type { LimitsByKind } from '../../archives/archive/archive.ts'
import type { Spool } from '../../archives/spool/spool.ts'
import type { ArchiveStore } from '../../archives/storage/storage.ts'
import type { Clock } from '../../base/pacing/pacing.ts'
import type { Logger } from '../../base/telemetry/telemetry.ts'
import type { PublishMetrics } from './publish-metrics.ts'
import type { PublishGuard } from './right.ts'

/** Everything that routes for publishing share. */
export interface PublishParts extends PublishGuard {
  readonly archives: ArchiveStore
  readonly spool: Spool
  readonly limits: LimitsByKind
  readonly metrics: PublishMetrics
  readonly log: Logger
  readonly clock: Clock
  /** How long each MiB of a body may take to arrive, in milliseconds. */
  readonly mibMs: number
}
