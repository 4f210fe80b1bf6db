import type { Backend } from '../../api/v1alpha1/v1alpha1.ts'
import { RegistryError, unavailable } from '../../base/errors/errors.ts'
import { Bounded, keptBytes } from '../../base/memory/memory.ts'
import type { Clock } from '../../base/pacing/pacing.ts'
import {
  counter,
  gauge,
  histogram,
  type Logger,
  type Metrics,
  requestDurationBuckets,
} from '../../base/telemetry/telemetry.ts'
import { type AbortReason, mismatch } from '../spool/spool.ts'
import { type ByteRange, type ObjectInfo, type OpenObject, settledAfterMs } from './driver.ts'
import type { Place } from './places.ts'
import type { Archive, ArchiveDigest } from './types.ts'

/** Larger archives gain little, because reading this much costs as much as sending it. */
const maxArchiveBytes = 256 * 1024
/** Limit of remembered keys: of archives that were requested once, and of those that failed. */
const maxRemembered = 10_000

/** Small archives in memory that were requested more than once. The least recently used ones are dropped. */
export class HotArchives {
  readonly #archives: Bounded<Uint8Array<ArrayBuffer>>
  readonly #askedOnce = new Set<string>()
  readonly #limitBytes: number

  constructor(limitBytes: number) {
    this.#limitBytes = limitBytes
    this.#archives = new Bounded({
      maxBytes: limitBytes,
      sizeOf: ({ buffer }) => buffer.byteLength,
    })
  }

  get(sha256: string): Uint8Array<ArrayBuffer> | undefined {
    return this.#archives.get(sha256)
  }

  /** Whether to keep an archive that is about to be read. It must have been requested before, unless `atOnce` is set. */
  wants(sha256: string, sizeBytes: number, atOnce = false): boolean {
    if (sizeBytes === 0 || sizeBytes > Math.min(maxArchiveBytes, this.#limitBytes)) return false
    if (atOnce || this.#askedOnce.delete(sha256)) return true
    if (this.#askedOnce.size >= maxRemembered) this.#askedOnce.clear()
    this.#askedOnce.add(sha256)
    return false
  }

  /** @param bytes checked; a copy is kept */
  put(sha256: string, bytes: Uint8Array<ArrayBuffer>): void {
    this.#archives.getOrMake(sha256, () => keptBytes(bytes))
  }
}

/** Digests of objects that this process has read completely, by fingerprint. */
export class VerifiedObjects {
  readonly #digests: Bounded<string>

  /** @param maxEntries how many objects to remember, about 200 bytes each */
  constructor(maxEntries: number) {
    this.#digests = new Bounded({ maxEntries })
  }

  /** @param openedAtMs when it was opened. A file that changed shortly before is not remembered. */
  remember({ fingerprint, changedAtMs }: ObjectInfo, sha256: string, openedAtMs: number): void {
    if (fingerprint === undefined) return
    if (changedAtMs !== undefined && openedAtMs - changedAtMs < settledAfterMs) return
    this.#digests.set(fingerprint, sha256)
  }

  has({ fingerprint }: ObjectInfo, sha256: string): boolean {
    return fingerprint !== undefined && this.#digests.get(fingerprint) === sha256
  }
}

const badForMs = 60_000
/** Under heavy load, a remote store is asked once a second whether an object has changed. */
const reviewEveryMs = 1000

interface BadArchive {
  readonly untilMs: number
  readonly fingerprint: string | undefined
  reviewedMs: number
}

interface Abort {
  readonly info: ObjectInfo
  readonly reason: AbortReason
  readonly error: unknown
}

/** Logs and counts archives that fail their checks, and remembers wrong ones for a minute so that they are not read again. */
export class ArchiveReports {
  readonly #log: Logger
  readonly #metrics: ArchiveMetrics
  readonly #clock: Clock
  readonly #bad: Bounded<BadArchive>

  constructor(log: Logger, metrics: ArchiveMetrics, clock: Clock) {
    this.#log = log
    this.#metrics = metrics
    this.#clock = clock
    this.#bad = new Bounded({ maxEntries: maxRemembered, clock })
  }

  aborted(archive: Archive, place: Place, { info, reason, error: err }: Abort): void {
    const { label, sha256 } = archive
    const { backend } = place
    const { fingerprint } = info
    this.#metrics.aborted(backend, reason)
    if (reason === 'ChecksumMismatch' || reason === 'Truncated') {
      const untilMs = this.#clock() + badForMs
      this.#bad.set(keyOf(archive, place), { untilMs, fingerprint, reviewedMs: 0 }, untilMs)
    }
    if (reason === 'ChecksumMismatch') {
      this.#log.error({ ...label, backend, sha256 }, 'archive does not match its checksum')
    } else if (reason !== 'ClientGone') {
      this.#log.error({ ...label, backend, reason, err }, 'sending an archive was aborted')
    }
  }

  /** The error for an archive that is known to be wrong before a byte of it was sent. */
  wrong(archive: Archive, place: Place, info: ObjectInfo): RegistryError {
    const error = mismatch()
    this.aborted(archive, place, { info, reason: 'ChecksumMismatch', error })
    return error
  }

  /**
   * Refuses an archive for a minute after a failed check, unless its object has changed since.
   *
   * @param stat looks at the object
   * @throws RegistryError BadGateway
   */
  async refuseBad(archive: Archive, place: Place, stat: () => Promise<ObjectInfo>): Promise<void> {
    const key = keyOf(archive, place)
    const bad = this.#bad.get(key)
    if (bad === undefined) return
    // Looking at a local file costs almost nothing.
    if (place.backend === 'filesystem' || this.#clock() - bad.reviewedMs >= reviewEveryMs) {
      bad.reviewedMs = this.#clock()
      const { fingerprint } = await stat()
      if (fingerprint !== bad.fingerprint) this.#bad.delete(key)
      if (this.#bad.get(key) === undefined) return
    }
    const seconds = Math.ceil((bad.untilMs - this.#clock()) / 1000)
    throw new RegistryError(
      'BadGateway',
      'the archive in storage failed its check a moment ago; tell its owner',
      { headers: { 'Retry-After': String(seconds) } },
    )
  }
}

const keyOf = ({ sha256 }: Archive, { key }: Place): string => `${sha256} ${key}`

/**
 * Opens a local file, or part of it, after the whole file was verified. A verified file that has not changed is not read
 * again.
 *
 * @param digest reads the whole file, as it was when it was opened
 * @returns undefined if the file is wrong
 * @throws RegistryError as `open` and `digest`; Unavailable if the file changes meanwhile
 */
export async function openVerified({
  sha256,
  range,
  verified,
  open,
  digest,
}: {
  sha256: string
  range: ByteRange | undefined
  verified: VerifiedObjects
  open: (range?: ByteRange) => Promise<OpenObject>
  digest: (seen: ObjectInfo) => Promise<ArchiveDigest>
}): Promise<OpenObject | undefined> {
  const opened = await open(range)
  if (verified.has(opened.info, sha256)) return opened
  opened.body.close()
  const { sha256: found, fingerprint } = await digest(opened.info)
  if (found !== sha256) return undefined
  const again = await open(range)
  if (again.info.fingerprint === fingerprint) return again
  again.body.close()
  throw unavailable('the archive changed while it was read')
}

type Operation = 'stat' | 'open' | 'presign'
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
    help: 'Failed requests to the archive storage, by the reason in the answer to the client.',
    labels: ['backend', 'reason'],
  })
  const bytes = counter(metrics, {
    name: 'archive_bytes_total',
    help: 'Bytes of archives that were sent to clients, by their source.',
    labels: ['source'],
  })
  const aborts = counter(metrics, {
    name: 'archive_aborts_total',
    help: 'Archives whose sending was aborted.',
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
