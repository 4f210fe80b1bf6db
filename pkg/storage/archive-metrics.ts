import { RegistryError } from '../errors/errors.ts'
import { counter, histogram, type Metrics } from '../telemetry/telemetry.ts'
import type { Backend } from './backends.ts'
import type { AbortReason } from './checked-body.ts'

const buckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10]

export type Operation = 'stat' | 'open'

/** What the storage of archives counts. */
export function createArchiveMetrics(metrics: Metrics) {
  const duration = histogram(
    metrics,
    {
      name: 'storage_request_duration_seconds',
      help: 'Time to the first byte of requests to the archive storage.',
      labels: ['backend', 'operation', 'result'],
    },
    buckets,
  )
  const bytes = counter(metrics, {
    name: 'archive_bytes_total',
    help: 'Bytes of archives that were given to clients, by where they came from.',
    labels: ['source'],
  })
  const aborts = counter(metrics, {
    name: 'archive_aborts_total',
    help: 'Archives that were broken off on the way to a client.',
    labels: ['backend', 'reason'],
  })

  return {
    sent: (source: 'cache' | 'backend', sizeBytes: number) => bytes.inc({ source }, sizeBytes),
    aborted: (backend: Backend, reason: AbortReason) => aborts.inc({ backend, reason }),

    /** Measures one request; its result is `ok` or the reason of the RegistryError. */
    async timed<T>(backend: Backend, operation: Operation, request: Promise<T>): Promise<T> {
      const stop = duration.startTimer({ backend, operation })
      try {
        const value = await request
        stop({ result: 'ok' })
        return value
      } catch (error) {
        stop({ result: error instanceof RegistryError ? error.reason : 'Internal' })
        throw error
      }
    },
  }
}
