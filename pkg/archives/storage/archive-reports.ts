import { RegistryError } from '../../base/errors/errors.ts'
import { Bounded } from '../../base/memory/memory.ts'
import type { Clock } from '../../base/pacing/pacing.ts'
import type { Logger } from '../../base/telemetry/telemetry.ts'
import { type AbortReason, mismatch } from '../spool/spool.ts'
import type { ObjectInfo } from './driver.ts'
import type { ArchiveMetrics } from './metrics.ts'
import type { Place } from './places.ts'
import type { Archive } from './types.ts'

const badForMs = 60_000
const maxRemembered = 10_000
/** Under a storm of requests, a remote store is asked once a second whether an object has changed. */
const reviewEveryMs = 1000

interface BadArchive {
  readonly untilMs: number
  readonly fingerprint: string | undefined
  reviewedMs: number
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

  aborted(
    archive: Archive,
    place: Place,
    { fingerprint }: ObjectInfo,
    reason: AbortReason,
    err: unknown,
  ): void {
    const { label, sha256 } = archive
    const { backend } = place
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

  /** The error of an archive that is known to be wrong before a byte of it was sent. */
  wrong(archive: Archive, place: Place, info: ObjectInfo): RegistryError {
    const error = mismatch()
    this.aborted(archive, place, info, 'ChecksumMismatch', error)
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
    // To look at a local file costs next to nothing.
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
