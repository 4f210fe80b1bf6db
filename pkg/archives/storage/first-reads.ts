import { notFound, RegistryError } from '../../base/errors/errors.ts'
import type { Logger } from '../../base/telemetry/telemetry.ts'
import type { ObjectInfo } from './driver.ts'
import type { ArchiveReports, VerifiedObjects } from './known-archives.ts'
import type { Place } from './places.ts'
import type { Archive, ArchiveDigest } from './types.ts'

/** Namespaces that were logged. */
const maxAnnounced = 10_000

export interface FirstReadOptions {
  readonly stat: (place: Place) => Promise<ObjectInfo>
  /** Reads a whole object. @throws Unavailable after a while; reading continues */
  readonly digest: (place: Place, owner: string, seen: ObjectInfo) => Promise<ArchiveDigest>
  /** Reads a whole object into the cache, if it fits. @throws as `digest`, and if the object is wrong */
  readonly fill: (archive: Archive, place: Place) => Promise<void>
  /** Size of an archive in the cache; undefined if it is not there. */
  readonly cachedSize: (sha256: string) => Promise<number | undefined>
  readonly verified: VerifiedObjects
  readonly reports: ArchiveReports
  readonly log: Logger
  /** Name of the annotation that grants places, for the log. */
  readonly annotation: string
}

/**
 * Archives in places that were not granted to their namespace. The server's credentials open the objects of all tenants, so a
 * Version that names an object proves nothing. One that names its digest proves that its author knew the content.
 */
export class FirstReads {
  readonly #options: FirstReadOptions
  readonly #announced = new Set<string>()

  constructor(options: FirstReadOptions) {
    this.#options = options
  }

  /**
   * Describes an object after this process has read all of it and found the digest of the archive.
   *
   * @throws RegistryError NotFound if it is missing, wrong or forbidden, without saying which; Unavailable while it is
   * being read
   */
  async confirm(archive: Archive, place: Place): Promise<ObjectInfo> {
    this.#announce(archive, place)
    return this.conceal(() => this.#confirm(archive, place))
  }

  /** Runs a request to storage and hides what its failure reveals about an object. */
  async conceal<T>(request: () => Promise<T>): Promise<T> {
    try {
      return await request()
    } catch (error) {
      if (!(error instanceof RegistryError) || !concealed.has(error.reason)) throw error
      throw notFound(
        'the archive was not found in storage, or does not match its checksum: the log of the server says which',
        error,
      )
    }
  }

  async #confirm(archive: Archive, place: Place): Promise<ObjectInfo> {
    const { stat, digest, fill, verified, reports, cachedSize } = this.#options
    const { sha256, label } = archive
    const info = await stat(place)
    if (verified.has(info, sha256)) return info
    await reports.refuseBad(archive, place, async () => info)
    await fill(archive, place)
    if (info.fingerprint === undefined) {
      // Only a copy is certain to have the checked bytes.
      const sizeBytes = await cachedSize(sha256)
      if (sizeBytes !== undefined) return { ...info, sizeBytes }
      throw this.#untagged(archive, place)
    }
    const filled = await stat(place)
    if (verified.has(filled, sha256)) return filled
    const found = await digest(place, label.namespace, filled)
    if (found.sha256 !== sha256) throw reports.wrong(archive, place, found)
    return found
  }

  #untagged({ label: { namespace, name, version } }: Archive, { url }: Place): RegistryError {
    const { log, annotation } = this.#options
    const message = `the storage gives this object no entity tag, so a check of it cannot be remembered: grant ${url} to namespace ${namespace} with the annotation ${annotation}, or give the server an --archive-cache-dir with enough space`
    log.warn({ namespace, name, version, place: url, annotation, message }, 'archive not served')
    return notFound(message)
  }

  #announce({ label: { namespace } }: Archive, { url }: Place): void {
    if (this.#announced.has(namespace) || this.#announced.size >= maxAnnounced) return
    this.#announced.add(namespace)
    const { log, annotation } = this.#options
    log.info(
      { namespace, place: url, annotation },
      'archives outside of the places granted to this namespace are read and checked once before they are served: grant the places with the annotation or with --storage-grants',
    )
  }
}

/** Reasons that would reveal whether an object exists, or its size. */
const concealed: ReadonlySet<string> = new Set(['NotFound', 'BadGateway', 'RangeNotSatisfiable'])
