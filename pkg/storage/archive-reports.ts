import { RegistryError } from '../errors/errors.ts'
import type { Logger } from '../telemetry/telemetry.ts'
import type { ArchiveMetrics } from './archive-metrics.ts'
import type { Archive } from './archives.ts'
import { BadArchives } from './bad-archives.ts'
import { type AbortReason, mismatch } from './checked-body.ts'
import type { Place } from './places.ts'

/** Logs and counts archives that are not what they should be, and remembers for a while which ones are wrong. */
export function createReports({
  log,
  metrics,
  now,
}: {
  log: Logger
  metrics: ArchiveMetrics
  now: () => number
}) {
  const bad = new BadArchives(now)
  // With all of the location: the same name elsewhere is somebody else's archive.
  const keyOf = ({ location, sha256 }: Archive) => `${JSON.stringify(location)} ${sha256}`

  function aborted(archive: Archive, place: Place, reason: AbortReason, err: unknown): void {
    const { label, sha256 } = archive
    const { backend } = place
    metrics.aborted(backend, reason)
    if (reason === 'checksum' || reason === 'truncated') bad.add(keyOf(archive))
    if (reason === 'checksum') {
      log.error({ ...label, backend, sha256 }, 'archive does not match its checksum')
    } else if (reason !== 'client') {
      log.error({ ...label, backend, reason, err }, 'archive broken off')
    }
  }

  return {
    aborted,

    /** The error of an archive that is known to be wrong before any of it was given. */
    wrong(archive: Archive, place: Place): RegistryError {
      const error = mismatch()
      aborted(archive, place, 'checksum', error)
      return error
    },

    /** @throws RegistryError BadGateway for a minute after an archive was found wrong */
    refuseBad(archive: Archive): void {
      const seconds = bad.secondsLeft(keyOf(archive))
      if (seconds === 0) return
      throw new RegistryError(
        'BadGateway',
        'the archive in storage was found to be wrong a moment ago; tell its owner',
        { headers: { 'Retry-After': String(seconds) } },
      )
    },
  }
}
