import type { Context } from 'hono'
import type { ParentKind, PublishedBy } from '../../api/v1alpha1/v1alpha1.ts'
import type { LimitsByKind } from '../../archives/archive/archive.ts'
import type { Spool } from '../../archives/spool/spool.ts'
import type { ArchiveStore } from '../../archives/storage/storage.ts'
import { mayPass, type Reason, ReasonError, RegistryError } from '../../base/errors/errors.ts'
import type { Clock } from '../../base/pacing/pacing.ts'
import type { ServingEnv } from '../../base/serving/serving.ts'
import { counter, histogram, type Logger, type Metrics } from '../../base/telemetry/telemetry.ts'
import type { Objects } from '../../records/store/store.ts'
import { addressText, claimsOf, newName, type PublishAddress } from './target.ts'

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

/** A module or provider that a caller wants to publish. */
interface PublishSubject {
  readonly kind: ParentKind
  readonly namespace: string
  /** metadata.name */
  readonly name: string
  /** Whether it would be created, which the caller has to be allowed, too. */
  readonly isNew: boolean
}

/** Decides who publishes. */
interface PublishGuard {
  readonly objects: Objects
  /** Module from whose config a missing one is created: `NAME` or `NAMESPACE/NAME`. Undefined: none is created. */
  readonly template?: string | undefined
  /**
   * The caller, if it may write Versions of a module or provider; undefined if it may not.
   *
   * @throws RegistryError if the caller is unknown
   */
  readonly publisherOf: (
    c: Context<ServingEnv>,
    subject: PublishSubject,
  ) => Promise<PublishedBy | undefined>
}

/** The answer says nothing about modules and providers to callers who may not publish them. @throws RegistryError Forbidden */
export async function requireRight(
  { objects, publisherOf, template }: PublishGuard,
  c: Context<ServingEnv>,
  address: PublishAddress,
): Promise<PublishedBy> {
  const { namespace, system } = address
  const kind = system === undefined ? 'Provider' : 'Module'
  const found = claimsOf(objects, address)[0]?.metadata.name
  const isNew = found === undefined && kind === 'Module' && template !== undefined
  const checked = found ?? newName(objects, kind, address)
  const publisher = await publisherOf(c, { kind, namespace, name: checked, isNew })
  if (publisher !== undefined) return publisher
  throw new RegistryError(
    'Forbidden',
    `you may not publish ${addressText(address)}: ask for a GroupBinding that has the namespace in publishNamespaces and the ${kind} in publish${kind}s, or, with credentials of the cluster, for a right to create versions${isNew ? ' and modules' : ''} there`,
  )
}
