import type { Spool } from '../../archives/spool/spool.ts'
import { gauge, type Metrics } from '../../base/telemetry/telemetry.ts'

/** Shows the use of a spool. Each replica has one, even if it only receives publications. */
export function showSpool(
  metrics: Metrics,
  spool: Pick<Spool, 'reservedBytes' | 'sizeBytes'>,
): void {
  const help = 'Bytes of --spool-size that archives in work have reserved.'
  gauge(metrics, { name: 'spool_bytes', help, collect: (bytes) => bytes.set(spool.reservedBytes) })
  gauge(metrics, {
    name: 'spool_size_bytes',
    help: 'The --spool-size.',
    collect: (bytes) => bytes.set(spool.sizeBytes),
  })
}
