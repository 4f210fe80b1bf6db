import type { ParentKind } from '../../api/v1alpha1/v1alpha1.ts'
import { mayPass, type Reason, ReasonError } from '../../base/errors/errors.ts'
import { counter, histogram, type Metrics } from '../../base/telemetry/telemetry.ts'

/** From a small module to the release of a large provider, in seconds. */
const buckets = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300]

/** Counts and times publications over HTTP, by the kind of what is published. */
export class PublishMetrics {
  readonly #total
  readonly #bytes
  readonly #durations

  constructor(metrics: Metrics) {
    this.#total = counter(metrics, {
      name: 'publish_total',
      help: 'Attempts to publish a version over HTTP, by how they ended.',
      labels: ['kind', 'outcome', 'reason'],
    })
    this.#bytes = counter(metrics, {
      name: 'publish_received_bytes_total',
      help: 'Bytes of complete files that callers sent.',
      labels: ['kind'],
    })
    this.#durations = histogram(metrics, {
      name: 'publish_duration_seconds',
      help: 'Time from the last byte of a version until it is published.',
      labels: ['kind'],
      buckets,
    })
  }

  received(kind: ParentKind, bytes: number): void {
    this.#bytes.inc({ kind }, bytes)
  }

  /** @param startMs on the clock of `performance.now()` */
  ended(kind: ParentKind, outcome: 'published' | 'exists', startMs: number): void {
    this.#total.inc({ kind, outcome, reason: '' })
    this.#durations.observe({ kind }, (performance.now() - startMs) / 1000)
  }

  /** Counts what a caller has to change as refused, and everything else as failed. */
  failed(kind: ParentKind, error: unknown): void {
    const reason: Reason = error instanceof ReasonError ? error.reason : 'Internal'
    const outcome = reason === 'Internal' || mayPass(reason) ? 'failed' : 'refused'
    this.#total.inc({ kind, outcome, reason })
  }
}
