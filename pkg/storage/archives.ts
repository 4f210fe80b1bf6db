import type { ArchiveLocation } from '../apis/v1alpha1/v1alpha1.ts'
import type { Logger, Metrics } from '../telemetry/telemetry.ts'
import { createArchiveMetrics } from './archive-metrics.ts'
import { type AbortReason, checkedBody, mismatch } from './checked-body.ts'
import { unavailable } from './deadline.ts'
import type { ByteRange, ObjectInfo, OpenObject } from './driver.ts'
import { type ArchiveDigest, createHashing } from './hashing.ts'
import { createPlaces, type Place } from './places.ts'
import { VerifiedFiles } from './verified-files.ts'

const emptySha256 = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'

/** One archive of the catalog. */
export interface Archive {
  readonly location: ArchiveLocation
  /** SHA-256 that its bytes must have, in lower-case hexadecimal. */
  readonly sha256: string
  /** Whose archive it is, for the log. */
  readonly label: Readonly<Record<'namespace' | 'kind' | 'name' | 'version', string>>
}

interface OpenArchive {
  /** Of the whole archive. */
  readonly sizeBytes: number
  /** The part that `body` holds; not given where that is the whole archive, which may answer a range too. */
  readonly range?: ByteRange
  readonly body: ReadableStream<Uint8Array>
}

/** The archives of all backends, as clients get them: checked. Errors are those of the drivers, if not said otherwise. */
export interface Archives {
  stat(location: ArchiveLocation): Promise<ObjectInfo>
  /**
   * Reads an archive from end to end; two at a time, others wait.
   *
   * @throws the signal's reason, once it is aborted
   */
  digest(location: ArchiveLocation, signal?: AbortSignal): Promise<ArchiveDigest>
  /**
   * Opens an archive. Its body errors rather than end where it is not what `sha256` promises. A part of a file that was
   * not read before is given only after all of the file was read and found right.
   *
   * @throws RegistryError BadGateway where the bytes are known to be wrong before the first of them is given
   */
  open(archive: Archive, range?: ByteRange): Promise<OpenArchive>
}

/**
 * @param options.filesystemMountPath root of the filesystem backend
 * @param options.now ms since 1970
 * @param options.rememberedFiles how many verified files need not be hashed again; default 100,000, about 20 MB
 */
export function createArchives(options: {
  filesystemMountPath: string
  log: Logger
  metrics: Metrics
  now?: () => number
  rememberedFiles?: number
}): Archives {
  const { now = Date.now } = options
  const log = options.log.child({ component: 'storage' })
  const metrics = createArchiveMetrics(options.metrics)
  const placeOf = createPlaces(options)
  const verifiedFiles = new VerifiedFiles(options.rememberedFiles ?? 100_000)
  const open = ({ backend, driver, object }: Place, range?: ByteRange): Promise<OpenObject> =>
    metrics.timed(backend, 'open', driver.open(object, range))
  const hashing = createHashing({ open, verifiedFiles, now })

  /** A part of an archive that is known to be right; nothing where the backend cannot tell whether it still is. */
  async function openPart(archive: Archive, place: Place, range: ByteRange) {
    const opened = await open(place, range)
    if (verifiedFiles.has(opened.info, archive.sha256)) return opened
    await opened.body.cancel()
    if (opened.info.fingerprint === undefined) return undefined
    const { sha256, fingerprint } = await hashing.sharedDigest(place)
    if (sha256 !== archive.sha256) throw reportMismatch(archive, place)
    const again = await open(place, range)
    if (again.info.fingerprint === fingerprint) return again
    await again.body.cancel()
    throw unavailable('the archive changed while it was read')
  }

  function reportMismatch(archive: Archive, place: Place): Error {
    const error = mismatch()
    reportAbort(archive, place, 'checksum', error)
    return error
  }

  function reportAbort(archive: Archive, place: Place, reason: AbortReason, err: unknown): void {
    const { label, sha256 } = archive
    const { backend } = place
    metrics.aborted(backend, reason)
    if (reason === 'checksum') {
      log.error({ ...label, backend, sha256 }, 'archive does not match its checksum')
    } else if (reason !== 'client') {
      log.error({ ...label, backend, reason, err }, 'archive broken off')
    }
  }

  return {
    async stat(location) {
      const { backend, driver, object } = placeOf(location)
      return metrics.timed(backend, 'stat', driver.stat(object))
    },

    digest: async (location, signal) => hashing.digest(placeOf(location), signal),

    async open(archive, range) {
      const place = placeOf(archive.location)
      const openedAtMs = now()
      const part = range && (await openPart(archive, place, range))
      const { info, body } = part ?? (await open(place))
      const { sizeBytes } = info
      const verified = part !== undefined || verifiedFiles.has(info, archive.sha256)
      if (sizeBytes === 0 && archive.sha256 !== emptySha256) {
        await body.cancel()
        throw reportMismatch(archive, place)
      }

      const served = part && range && { ...range, end: Math.min(range.end, sizeBytes - 1) }
      return {
        sizeBytes,
        ...(served && { range: served }),
        body: checkedBody(body, {
          sizeBytes: served ? served.end + 1 - served.start : sizeBytes,
          sha256: verified ? undefined : archive.sha256,
          onChunk: (chunkBytes) => metrics.sent('backend', chunkBytes),
          onEnd: () => !verified && verifiedFiles.remember(info, archive.sha256, openedAtMs),
          onAbort: (reason, error) => reportAbort(archive, place, reason, error),
        }),
      }
    },
  }
}
