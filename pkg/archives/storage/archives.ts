import type { ArchiveLocation } from '../../api/v1alpha1/v1alpha1.ts'
import { hasReason, messageOf, unavailable } from '../../base/errors/errors.ts'
import type { Clock } from '../../base/pacing/pacing.ts'
import { type ByteSource, checkedBody, skipping } from '../spool/spool.ts'
import { ArchiveCache, type Origin } from './cache/archive-cache.ts'
import type { ByteRange, ObjectInfo, OpenObject } from './driver.ts'
import { FirstReads } from './first-reads.ts'
import { checkDeadlineMs, Hashing } from './hashing.ts'
import {
  type ArchiveMetrics,
  ArchiveReports,
  createArchiveMetrics,
  HotArchives,
  openVerified,
  type Source,
  VerifiedObjects,
} from './known-archives.ts'
import { createPlaces, type Place, StorageGrants } from './places.ts'
import { maxTtlSeconds, presignedUrl } from './presigning.ts'
import type { Archive, ArchiveDigest, Archives, ArchivesOptions, OpenArchive } from './types.ts'

const emptySha256 = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'
/** Lifetime of a URL of an object that its namespace was not granted. Another tenant may replace the object. */
const ungrantedTtlSeconds = 60
/** How long refused credentials are reported. */
const impairedMs = 5 * 60_000
/** Number of remembered verified objects; they take about 20 MB. */
const rememberedObjects = 100_000
/** Memory for small archives that are often requested. */
const memoryBytes = 16_000_000

/** An open archive, or a part of it, and the source of its bytes. */
interface Opened extends OpenObject {
  readonly source: Source
}

export const createArchives = (options: ArchivesOptions): Archives => new ArchiveReader(options)

class ArchiveReader implements Archives {
  readonly #options: ArchivesOptions
  readonly #clock: Clock
  readonly #metrics: ArchiveMetrics
  readonly #placeOf: (location: ArchiveLocation) => Place
  readonly #grants: StorageGrants
  readonly #verified: VerifiedObjects
  readonly #reports: ArchiveReports
  readonly #hot: HotArchives
  readonly #hashing: Hashing
  readonly #cache: ArchiveCache | undefined
  readonly #firstReads: FirstReads
  #refusal: { readonly atMs: number; readonly message: string } | undefined

  constructor(options: ArchivesOptions) {
    const { clock = Date.now, grants, cache } = options
    const log = options.log.child({ component: 'storage' })
    this.#options = { ...options, log }
    this.#clock = clock
    this.#metrics = createArchiveMetrics(options.metrics)
    this.#placeOf = createPlaces(options)
    this.#grants = new StorageGrants({
      ...grants,
      mountPath: options.filesystemMountPath,
      onInvalid: (namespace, part) =>
        log.warn(
          { namespace, annotation: grants?.annotation, part },
          'storage grant ignored: not a valid location',
        ),
    })
    this.#verified = new VerifiedObjects(rememberedObjects)
    this.#reports = new ArchiveReports(log, this.#metrics, clock)
    this.#hot = new HotArchives(memoryBytes)
    this.#hashing = new Hashing({
      open: (place, range) => this.#openObject(place, range),
      verified: this.#verified,
      clock,
    })
    this.#cache = cache && this.#openCache(cache)
    this.#firstReads = new FirstReads({
      stat: (place) => this.#stat(place),
      digest: (place, owner, seen) => this.#hashing.sharedDigest(place, owner, seen),
      fill: (archive, place) => this.#fill(archive, place),
      cachedSize: async (digest) => this.#cache?.sizeOf(digest),
      verified: this.#verified,
      reports: this.#reports,
      log,
      annotation: grants?.annotation ?? '',
    })
  }

  async stat(location: ArchiveLocation): Promise<ObjectInfo> {
    return this.#stat(this.#placeOf(location))
  }

  async digest(location: ArchiveLocation, signal?: AbortSignal): Promise<ArchiveDigest> {
    return this.#hashing.digest(this.#placeOf(location), signal)
  }

  inMemory(sha256: string): Uint8Array<ArrayBuffer> | undefined {
    const bytes = this.#hot.get(sha256)
    if (bytes !== undefined) this.#metrics.sent('cache', bytes.length)
    return bytes
  }

  async sizeOf(archive: Archive): Promise<number> {
    const cached = await this.#cache?.sizeOf(archive.sha256)
    if (cached !== undefined) return cached
    const place = this.#placeOf(archive.location)
    if (await this.#isGranted(archive, place)) {
      await this.#refuseBad(archive, place)
      return (await this.#stat(place)).sizeBytes
    }
    return (await this.#firstReads.confirm(archive, place)).sizeBytes
  }

  async open(archive: Archive, range?: ByteRange): Promise<OpenArchive> {
    const place = this.#placeOf(archive.location)
    const part = range && (await this.#openPart(archive, place, range))
    if (part && range) {
      const { info, source } = part
      const { sizeBytes } = info
      const end = Math.min(range.end, sizeBytes - 1)
      const partBytes = end + 1 - range.start
      const body = checkedBody(part.body, {
        sizeBytes: partBytes,
        onAbort: (reason, error) => this.#reports.aborted(archive, place, { info, reason, error }),
      })
      const onBytes = (bytes: number) => this.#metrics.sent(source, bytes)
      return {
        sizeBytes,
        range: { ...range, end },
        body: countedBody(body, partBytes, { onBytes }),
      }
    }
    const { info, body, source } = await this.#openWhole(archive, place)
    const { sizeBytes } = info
    const { sha256, isKept } = archive
    return {
      sizeBytes,
      body: countedBody(body, sizeBytes, {
        onBytes: (bytes) => this.#metrics.sent(source, bytes),
        onWhole: this.#hot.wants(sha256, sizeBytes, isKept)
          ? (bytes) => this.#hot.put(sha256, bytes)
          : undefined,
      }),
    }
  }

  async presign(archive: Archive): Promise<string | undefined> {
    const { storage } = archive.location
    if (storage.presign?.enabled !== true) return undefined
    const place = this.#placeOf(archive.location)
    const granted = await this.#isGranted(archive, place)
    if (granted) await this.#refuseBad(archive, place)
    else await this.#firstReads.confirm(archive, place)
    return presignedUrl(storage, {
      place,
      mostTtlSeconds: granted ? maxTtlSeconds : ungrantedTtlSeconds,
      log: this.#options.log,
      sign: (url) => this.#metrics.timed(place.backend, 'presign', url),
    })
  }

  #stat({ backend, driver, object }: Place): Promise<ObjectInfo> {
    return this.#watched(this.#metrics.timed(backend, 'stat', driver.stat(object)))
  }

  #openObject({ backend, driver, object }: Place, range?: ByteRange): Promise<OpenObject> {
    return this.#watched(this.#metrics.timed(backend, 'open', driver.open(object, range)))
  }

  /** Remembers that a storage refuses the credentials. */
  async #watched<T>(request: Promise<T>): Promise<T> {
    try {
      return await request
    } catch (error) {
      if (hasReason(error, 'StorageCredentialsRefused')) {
        this.#refusal = { atMs: this.#clock(), message: messageOf((error as Error).cause) }
      }
      throw error
    }
  }

  impaired(): readonly string[] {
    const { atMs, message } = this.#refusal ?? {}
    if (atMs === undefined || this.#clock() - atMs > impairedMs) return []
    return [`archives cannot be read: ${message}`]
  }

  #refuseBad(archive: Archive, place: Place): Promise<void> {
    return this.#reports.refuseBad(archive, place, () => this.#stat(place))
  }

  /** Whether the place of an archive was granted to its namespace, and links stay inside of that place. */
  async #isGranted(archive: Archive, place: Place): Promise<boolean> {
    if (!this.#mayUse(archive, place)) return false
    if (place.backend !== 'filesystem' || this.#mayUse(archive, place, { object: '' })) return true
    const info = await this.#stat(place).catch(() => ({}))
    return this.#mayUse(archive, place, info)
  }

  /** @param info the real place of the object, after links; default: that of its name */
  #mayUse({ label }: Archive, { url }: Place, { object }: Partial<ObjectInfo> = {}): boolean {
    return this.#grants.allows(label.namespace, object === undefined ? url : `file:///${object}`)
  }

  #openCache(config: { dir: string; sizeBytes: number }): ArchiveCache {
    const cache = new ArchiveCache({
      ...config,
      log: this.#options.log,
      clock: this.#clock,
      remember: (info, sha256) => this.#verified.remember(info, sha256, Number.POSITIVE_INFINITY),
      openChecked: async (driver, object, sha256, range) => {
        const key = JSON.stringify(['cache', object])
        const place: Place = { backend: 'filesystem', driver, object, url: '', key }
        return openVerified({
          sha256,
          range,
          verified: this.#verified,
          open: (from) => driver.open(object, from),
          digest: (seen) => this.#hashing.sharedDigest(place, '', seen),
        })
      },
    })
    this.#metrics.observeCache(() => cache.storedBytes)
    return cache
  }

  /** Reads a whole archive for the cache. */
  #originOf(archive: Archive, place: Place): Origin {
    return {
      key: place.key,
      open: async () => {
        const { info, body } = await this.#openAndCheck(archive, place)
        return { sizeBytes: info.sizeBytes, body }
      },
      openFrom: async (fromByte) =>
        skipping((await this.#openAndCheck(archive, place)).body, fromByte),
    }
  }

  async #fill(archive: Archive, place: Place): Promise<void> {
    if (place.backend === 'filesystem') return
    await this.#cache?.fill(archive.sha256, this.#originOf(archive, place), checkDeadlineMs)
  }

  async #openWhole(archive: Archive, place: Place): Promise<Opened> {
    if (!(await this.#isGranted(archive, place))) return this.#openConfirmed(archive, place)
    if (this.#cache !== undefined && place.backend !== 'filesystem') {
      const found = await this.#cache.read(archive.sha256, this.#originOf(archive, place))
      if (found !== undefined) {
        const { sizeBytes } = found
        // The bytes are verified. But a file that is truncated while it is read must not look complete.
        const body = checkedBody(found.body, {
          sizeBytes,
          onAbort: (reason) => this.#metrics.aborted(place.backend, reason),
        })
        return { info: { sizeBytes }, body, source: found.source }
      }
    }
    return this.#openAndCheck(archive, place)
  }

  /** A whole archive from its backend, checked while it is read. */
  async #openAndCheck(archive: Archive, place: Place): Promise<Opened> {
    await this.#refuseBad(archive, place)
    const openedAtMs = this.#clock()
    const opened = await this.#openObject(place)
    const { info, body } = opened
    if (info.object !== undefined && info.object !== place.object) {
      // A new link may lead to another tenant's archive.
      if (!this.#verified.has(info, archive.sha256) && !this.#mayUse(archive, place, info)) {
        body.close()
        return this.#openConfirmed(archive, place)
      }
    }
    if (info.sizeBytes === 0 && archive.sha256 !== emptySha256) {
      body.close()
      throw this.#reports.wrong(archive, place, info)
    }
    return this.#checked(archive, place, opened, openedAtMs)
  }

  #checked(archive: Archive, place: Place, { info, body }: OpenObject, openedAtMs: number): Opened {
    const { sizeBytes } = info
    const { sha256 } = archive
    const known = place.backend === 'filesystem' && this.#verified.has(info, sha256)
    const checked = checkedBody(body, {
      sizeBytes,
      sha256: known ? undefined : sha256,
      onEnd: () => !known && this.#verified.remember(info, sha256, openedAtMs),
      onAbort: (reason, error) => this.#reports.aborted(archive, place, { info, reason, error }),
    })
    return { info, body: checked, source: 'backend' }
  }

  /** Opens a part of a verified archive; undefined if a part would cost as much as the whole. */
  async #openPart(archive: Archive, place: Place, range: ByteRange): Promise<Opened | undefined> {
    if (!(await this.#isGranted(archive, place))) return this.#openConfirmed(archive, place, range)
    await this.#refuseBad(archive, place)
    const { sha256 } = archive
    if (place.backend === 'filesystem') return this.#openFilePart(archive, place, range)
    const cached = await this.#cache?.open(sha256, range)
    if (cached !== undefined) return fromCache(cached)
    if (this.#cache !== undefined) {
      await this.#cache.fill(sha256, this.#originOf(archive, place), checkDeadlineMs)
      const filled = await this.#cache.open(sha256, range)
      if (filled !== undefined) return fromCache(filled)
    }
    const part = await this.#openObject(place, range)
    if (this.#verified.has(part.info, sha256)) return fromBackend(part)
    part.body.close()
    return undefined
  }

  async #openFilePart(archive: Archive, place: Place, range: ByteRange): Promise<Opened> {
    let last: ArchiveDigest | undefined
    const part = await openVerified({
      sha256: archive.sha256,
      range,
      verified: this.#verified,
      open: (from) => this.#openObject(place, from),
      digest: async (seen) => {
        last = await this.#hashing.sharedDigest(place, archive.label.namespace, seen)
        return last
      },
    })
    if (part !== undefined) return fromBackend(part)
    throw this.#reports.wrong(archive, place, last ?? { sizeBytes: 0 })
  }

  /** Opens an archive, or a part of it, in a place that was not granted to its namespace. */
  async #openConfirmed(archive: Archive, place: Place, range?: ByteRange): Promise<Opened> {
    const { sha256 } = archive
    const cache = place.backend === 'filesystem' ? undefined : this.#cache
    const cached = await cache?.open(sha256, range)
    if (cached !== undefined) return fromCache(cached)
    await this.#firstReads.conceal(() => this.#refuseBad(archive, place))
    if (range === undefined && cache === undefined) {
      const openedAtMs = this.#clock()
      const known = await this.#firstReads.conceal(() => this.#openObject(place))
      if (this.#verified.has(known.info, sha256)) {
        return this.#checked(archive, place, known, openedAtMs)
      }
      known.body.close()
    }
    const { fingerprint } = await this.#firstReads.confirm(archive, place)
    const filled = await cache?.open(sha256, range)
    if (filled !== undefined) return fromCache(filled)
    const openedAtMs = this.#clock()
    const opened = await this.#openObject(place, range)
    if (fingerprint === undefined || opened.info.fingerprint !== fingerprint) {
      opened.body.close()
      throw unavailable('the archive changed while it was read')
    }
    if (range !== undefined) return fromBackend(opened)
    return this.#checked(archive, place, opened, openedAtMs)
  }
}

const fromCache = (opened: OpenObject): Opened => ({ ...opened, source: 'cache' })

const fromBackend = (opened: OpenObject): Opened => ({ ...opened, source: 'backend' })

interface Counting {
  /** Called with the size of each chunk that was delivered. */
  readonly onBytes: (sizeBytes: number) => void
  /** Called with a copy of all bytes after the last one; undefined if no copy is needed. */
  readonly onWhole?: ((bytes: Uint8Array<ArrayBuffer>) => void) | undefined
}

/** Passes a body on, counts its bytes, and may keep a copy of it. @param sizeBytes of the body */
function countedBody(
  body: ByteSource,
  sizeBytes: number,
  { onBytes, onWhole }: Counting,
): ByteSource {
  const copy = onWhole === undefined ? undefined : new Uint8Array(sizeBytes)
  let givenBytes = 0
  let closed = false
  return {
    async read() {
      const chunk = await body.read()
      // The buffer of a closed body may already contain bytes of another body.
      if (chunk === undefined || closed) return undefined
      copy?.set(chunk, givenBytes)
      givenBytes += chunk.length
      onBytes(chunk.length)
      if (copy !== undefined && givenBytes === sizeBytes) onWhole?.(copy)
      return chunk
    },
    close() {
      closed = true
      body.close()
    },
  }
}
