import type { ArchiveLocation } from '../apis/v1alpha1/v1alpha1.ts'
import type { Logger, Metrics } from '../telemetry/telemetry.ts'
import { ArchiveCache, type Origin } from './archive-cache.ts'
import { createArchiveMetrics, type Source } from './archive-metrics.ts'
import { createReports } from './archive-reports.ts'
import { checkedBody } from './checked-body.ts'
import type { ByteRange, ByteSource, ObjectInfo, OpenObject } from './driver.ts'
import { type ArchiveDigest, createHashing } from './hashing.ts'
import { HotArchives } from './hot-archives.ts'
import { createPlaces, type Place, type StorageSettings } from './places.ts'
import { presignedUrl } from './presigning.ts'
import { skipping } from './skipping.ts'
import { VerifiedObjects } from './verified-objects.ts'
import { openVerified } from './verified-reading.ts'

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
  readonly body: ByteSource
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
  /** A small archive that many ask for, whole, checked and at once; nothing where it is not in memory. */
  inMemory(archive: Archive): Uint8Array | undefined
  /** Size of an archive in bytes, from the cache where it is there. */
  sizeOf(archive: Archive): Promise<number>
  /**
   * Opens an archive. Reading its body fails rather than ends where it is not what `sha256` promises. A part of a file
   * that was not read before is given only after all of the file was read and found right.
   *
   * @throws RegistryError BadGateway where the bytes are known to be wrong before the first of them is given, which is so
   * for a minute after they were found wrong
   */
  open(archive: Archive, range?: ByteRange): Promise<OpenArchive>
  /**
   * The URL that a client is sent to instead, where its StorageConfig says presign.
   *
   * @throws RegistryError NotConfigured, BadGateway, GatewayTimeout where the StorageConfig forbids to fall back
   */
  presign(archive: Archive): Promise<string | undefined>
}

export interface ArchivesOptions extends StorageSettings {
  /** Keeps archives of remote backends on local disk; default: not. One process to a directory. */
  readonly cache?: { readonly dir: string; readonly sizeBytes: number } | undefined
  readonly log: Logger
  readonly metrics: Metrics
  /** ms since 1970 */
  readonly now?: () => number
  /** How many verified objects need not be hashed again; default 100,000, about 20 MB. */
  readonly rememberedObjects?: number
  /** How much memory small archives may take that are asked for often; default 16 MB. */
  readonly memoryBytes?: number
}

export function createArchives(options: ArchivesOptions): Archives {
  const { now = Date.now } = options
  const log = options.log.child({ component: 'storage' })
  const metrics = createArchiveMetrics(options.metrics)
  const placeOf = createPlaces(options)
  const verified = new VerifiedObjects(options.rememberedObjects ?? 100_000)
  const reports = createReports({ log, metrics, now })
  const hot = new HotArchives(options.memoryBytes ?? 16_000_000)
  const open = ({ backend, driver, object }: Place, range?: ByteRange): Promise<OpenObject> =>
    metrics.timed(backend, 'open', driver.open(object, range))
  const hashing = createHashing({ open, verified, now })
  const cache = options.cache && openCache(options.cache)

  function openCache(config: { dir: string; sizeBytes: number }): ArchiveCache {
    const opened = new ArchiveCache({
      ...config,
      log,
      now,
      remember: (info, sha256) => verified.remember(info, sha256, Number.POSITIVE_INFINITY),
      async openChecked(driver, object, sha256, range) {
        const place: Place = { backend: 'filesystem', driver, object }
        const digest = () => hashing.sharedDigest(place)
        const openFrom = (from?: ByteRange) => driver.open(object, from)
        return openVerified({ sha256, range, verified, open: openFrom, digest })
      },
    })
    metrics.observeCache(() => opened.storedBytes)
    return opened
  }

  /** A whole archive as its backend has it, checked. */
  async function openWhole(archive: Archive, place: Place) {
    reports.refuseBad(archive)
    const openedAtMs = now()
    const { info, body } = await open(place)
    const { sizeBytes } = info
    const { sha256 } = archive
    if (sizeBytes === 0 && sha256 !== emptySha256) {
      body.close()
      throw reports.wrong(archive, place)
    }
    const known = place.backend === 'filesystem' && verified.has(info, sha256)
    const checked = checkedBody(body, {
      sizeBytes,
      sha256: known ? undefined : sha256,
      onEnd: () => !known && verified.remember(info, sha256, openedAtMs),
      onAbort: (reason, error) => reports.aborted(archive, place, reason, error),
    })
    return { sizeBytes, body: checked }
  }

  async function openPart(archive: Archive, place: Place, range: ByteRange) {
    reports.refuseBad(archive)
    const { sha256 } = archive
    if (place.backend === 'filesystem') {
      const digest = () => hashing.sharedDigest(place)
      const openFrom = (from?: ByteRange) => open(place, from)
      const part = await openVerified({ sha256, range, verified, open: openFrom, digest })
      if (part === undefined) throw reports.wrong(archive, place)
      return part
    }
    const cached = await cache?.open(sha256, range)
    if (cached !== undefined || cache === undefined) return cached ?? openRemotePart()
    await cache.fill(sha256, originOf(archive, place))
    return (await cache.open(sha256, range)) ?? openRemotePart()

    /** Nothing where the object was not found right yet: a part of it cannot be checked. */
    async function openRemotePart(): Promise<OpenObject | undefined> {
      const part = await open(place, range)
      if (verified.has(part.info, sha256)) return part
      part.body.close()
      return undefined
    }
  }

  const originOf = (archive: Archive, place: Place): Origin => ({
    open: () => openWhole(archive, place),
    openFrom: async (fromByte) => skipping((await openWhole(archive, place)).body, fromByte),
  })

  async function read(archive: Archive, place: Place) {
    if (cache !== undefined && place.backend !== 'filesystem') {
      const found = await cache.read(archive.sha256, originOf(archive, place))
      if (found !== undefined) {
        const { sizeBytes } = found
        // Its bytes were verified; a file that is cut short while it is read must not end in peace.
        const body = checkedBody(found.body, {
          sizeBytes,
          onAbort: (reason) => metrics.aborted(place.backend, reason),
        })
        return { ...found, body }
      }
    }
    const source: Source = 'backend'
    return { ...(await openWhole(archive, place)), source }
  }

  /** Counts what a client gets, and keeps it in memory where it is small and wanted often. */
  function given(body: ByteSource, sizeBytes: number, source: Source, sha256?: string): ByteSource {
    const kept =
      sha256 !== undefined && hot.wants(sha256, sizeBytes) ? new Uint8Array(sizeBytes) : undefined
    let givenBytes = 0
    let closed = false
    return {
      async read() {
        const chunk = await body.read()
        // The buffer of a body that was closed may hold somebody else's bytes by now.
        if (chunk === undefined || closed) return undefined
        kept?.set(chunk, givenBytes)
        givenBytes += chunk.length
        metrics.sent(source, chunk.length)
        if (kept !== undefined && givenBytes === sizeBytes) hot.put(sha256 as string, kept)
        return chunk
      },
      close() {
        closed = true
        body.close()
      },
    }
  }

  return {
    async stat(location) {
      const { backend, driver, object } = placeOf(location)
      return metrics.timed(backend, 'stat', driver.stat(object))
    },

    digest: async (location, signal) => hashing.digest(placeOf(location), signal),

    inMemory(archive) {
      const bytes = hot.get(archive.sha256)
      if (bytes !== undefined) metrics.sent('cache', bytes.length)
      return bytes
    },

    async sizeOf(archive) {
      const cached = await cache?.sizeOf(archive.sha256)
      if (cached !== undefined) return cached
      const place = placeOf(archive.location)
      reports.refuseBad(archive)
      const { backend, driver, object } = place
      return (await metrics.timed(backend, 'stat', driver.stat(object))).sizeBytes
    },

    async open(archive, range) {
      const place = placeOf(archive.location)
      const part = range && (await openPart(archive, place, range))
      if (part && range) {
        const { sizeBytes } = part.info
        const end = Math.min(range.end, sizeBytes - 1)
        const checked = checkedBody(part.body, {
          sizeBytes: end + 1 - range.start,
          onAbort: (reason, error) => reports.aborted(archive, place, reason, error),
        })
        const body = given(checked, sizeBytes, place.backend === 'filesystem' ? 'backend' : 'cache')
        return { sizeBytes, range: { ...range, end }, body }
      }
      const { sizeBytes, body, source } = await read(archive, place)
      return { sizeBytes, body: given(body, sizeBytes, source, archive.sha256) }
    },

    async presign(archive) {
      const place = placeOf(archive.location)
      reports.refuseBad(archive)
      const { storage } = archive.location
      return presignedUrl(storage, place, log, (url) =>
        metrics.timed(place.backend, 'presign', url),
      )
    },
  }
}
