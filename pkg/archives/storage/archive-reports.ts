import { RegistryError } from '../../base/errors/errors.ts'
import type { Clock } from '../../base/pacing/pacing.ts'
import type { Logger } from '../../base/telemetry/telemetry.ts'
import { type AbortReason, mismatch } from '../spool/spool.ts'
import type { Archive } from './archives.ts'
import { BadArchives } from './bad-archives.ts'
import type { ObjectInfo } from './driver.ts'
import type { ArchiveMetrics } from './metrics.ts'
import type { Place } from './places.ts'

/** Logs and counts archives that are not what they should be, and remembers for a while which ones are wrong. */
export function createReports({
  log,
  metrics,
  clock,
}: {
  log: Logger
  metrics: ArchiveMetrics
  clock: Clock
}) {
  const bad = new BadArchives(clock)
  const keyOf = ({ sha256 }: Archive, { key }: Place) => `${sha256} ${key}`

  function aborted(
    archive: Archive,
    place: Place,
    info: ObjectInfo,
    reason: AbortReason,
    err: unknown,
  ): void {
    const { label, sha256 } = archive
    const { backend } = place
    metrics.aborted(backend, reason)
    if (reason === 'ChecksumMismatch' || reason === 'Truncated') {
      bad.add(keyOf(archive, place), info.fingerprint)
    }
    if (reason === 'ChecksumMismatch') {
      log.error({ ...label, backend, sha256 }, 'archive does not match its checksum')
    } else if (reason !== 'ClientGone') {
      log.error({ ...label, backend, reason, err }, 'archive broken off')
    }
  }

  return {
    aborted,

    /** The error of an archive that is known to be wrong before any of it was given. */
    wrong(archive: Archive, place: Place, info: ObjectInfo): RegistryError {
      const error = mismatch()
      aborted(archive, place, info, 'ChecksumMismatch', error)
      return error
    },

    /**
     * Refuses an archive for a minute after it was found wrong, or until its object changes.
     *
     * @param stat what the object is now
     * @throws RegistryError BadGateway
     */
    async refuseBad(
      archive: Archive,
      place: Place,
      stat: () => Promise<ObjectInfo>,
    ): Promise<void> {
      const key = keyOf(archive, place)
      if (bad.secondsLeft(key) === 0) return
      // A look at a file costs next to nothing.
      if (place.backend === 'filesystem' || bad.isDue(key)) {
        bad.review(key, (await stat()).fingerprint)
      }
      const seconds = bad.secondsLeft(key)
      if (seconds === 0) return
      throw new RegistryError(
        'BadGateway',
        'the archive in storage was found to be wrong a moment ago; tell its owner',
        { headers: { 'Retry-After': String(seconds) } },
      )
    },
  }
}
