import { messageOf } from '../../pkg/base/errors/errors.ts'
import { gauge, type Logger, type Metrics } from '../../pkg/base/telemetry/telemetry.ts'
import { type BackupLease, lastBackupMs } from '../../pkg/records/backup/backup.ts'
import type { KubeClient } from '../../pkg/records/kube/kube.ts'

/**
 * Reads the time of the last backup now and once a minute, for a metric. Without an answer, the metric keeps its value.
 *
 * @returns a function that stops it
 */
export function watchLastBackup({
  client,
  lease,
  log,
  metrics,
  intervalMs = 60_000,
}: {
  readonly client: KubeClient
  readonly lease: BackupLease
  readonly log: Logger
  readonly metrics: Metrics
  readonly intervalMs?: number
}): () => void {
  const time = gauge(metrics, {
    name: 'backup_last_success_timestamp_seconds',
    help: 'Time of the last backup; before the first one, the time when backups were enabled.',
  })
  const look = async (): Promise<void> => {
    try {
      time.set((await lastBackupMs(client, lease)) / 1000)
    } catch (error) {
      log.warn({ lease, error: messageOf(error) }, 'time of the last backup cannot be read')
    }
  }
  void look()
  const timer = setInterval(() => void look(), intervalMs).unref()
  return () => clearInterval(timer)
}
