import type { Backend } from '../../api/v1alpha1/v1alpha1.ts'
import { RegistryError } from '../../base/errors/errors.ts'
import {
  counter,
  gauge,
  histogram,
  type Metrics,
  requestDurationBuckets,
} from '../../base/telemetry/telemetry.ts'
import type { AbortReason } from '../spool/spool.ts'

export type Operation = 'stat' | 'open' | 'presign'
/** The source of the bytes for a client. Memory counts as cache. */
export type Source = 'cache' | 'backend'

export type ArchiveMetrics = ReturnType<typeof createArchiveMetrics>

/** The metrics of archive storage. */
export function createArchiveMetrics(metrics: Metrics) {
  const duration = histogram(metrics, {
    name: 'storage_request_duration_seconds',
    help: 'Time to the first byte of requests to the archive storage.',
    labels: ['backend', 'operation', 'result'],
    buckets: requestDurationBuckets,
  })
  const errors = counter(metrics, {
    name: 'storage_errors_total',
    help: 'Requests to the archive storage that failed, by what the client was answered.',
    labels: ['backend', 'reason'],
  })
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
  const sentFrom = { cache: bytes.labels('cache'), backend: bytes.labels('backend') }

  return {
    sent: (source: Source, sizeBytes: number) => sentFrom[source].inc(sizeBytes),

    aborted(backend: Backend, reason: AbortReason) {
      aborts.inc({ backend, reason })
      if (reason !== 'ClientGone') errors.inc({ backend, reason })
    },

    /** Measures one request. The result is `ok` or the reason of the RegistryError. */
    async timed<T>(backend: Backend, operation: Operation, request: Promise<T>): Promise<T> {
      const stop = duration.startTimer({ backend, operation })
      try {
        const value = await request
        stop({ result: 'ok' })
        return value
      } catch (error) {
        const result = error instanceof RegistryError ? error.reason : 'Internal'
        stop({ result })
        if (result !== 'RangeNotSatisfiable') errors.inc({ backend, reason: result })
        throw error
      }
    },

    observeCache(usedBytes: () => number) {
      gauge(metrics, {
        name: 'archive_cache_bytes',
        help: 'Size of the archives in the cache on disk.',
        collect: (used) => used.set(usedBytes()),
      })
    },
  }
}
