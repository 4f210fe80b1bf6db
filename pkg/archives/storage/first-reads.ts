import { notFound, RegistryError } from '../../base/errors/errors.ts'
import type { Logger } from '../../base/telemetry/telemetry.ts'
import type { createReports } from './archive-reports.ts'
import type { Archive } from './archives.ts'
import type { ObjectInfo } from './driver.ts'
import type { ArchiveDigest } from './hashing.ts'
import type { Place } from './places.ts'
import type { VerifiedObjects } from './verified-objects.ts'

/** Namespaces that the log has named. */
const maxAnnounced = 10_000

export interface FirstReadOptions {
  readonly stat: (place: Place) => Promise<ObjectInfo>
  /** Reads all of an object that was seen. @throws Unavailable after a while, and goes on */
  readonly digest: (place: Place, owner: string, seen: ObjectInfo) => Promise<ArchiveDigest>
  /** Reads all of an object into the cache, where there is one that can take it. @throws as `digest`, and where it is wrong */
  readonly fill: (archive: Archive, place: Place) => Promise<void>
  readonly verified: VerifiedObjects
  readonly reports: ReturnType<typeof createReports>
  readonly log: Logger
  /** Name of the annotation that grants places, for the log. */
  readonly annotation: string
}

/**
 * Places that a namespace was not granted. The server's credentials open everybody's, so that a Version names an object
 * proves nothing; that it names the digest of an object shows that its author knew what is in there.
 */
export class FirstReads {
  readonly #options: FirstReadOptions
  readonly #announced = new Set<string>()

  constructor(options: FirstReadOptions) {
    this.#options = options
  }

  /**
   * What an object is, once this process has read all of it and found the digest of the archive.
   *
   * @throws RegistryError NotFound where it is missing, wrong or may not be read, without a word which; Unavailable while
   * it is being read
   */
  async confirm(archive: Archive, place: Place): Promise<ObjectInfo> {
    this.#announce(archive, place)
    return this.conceal(() => this.#confirm(archive, place))
  }

  /** Runs a request to storage so that its failure tells nothing about an object. */
  async conceal<T>(request: () => Promise<T>): Promise<T> {
    try {
      return await request()
    } catch (error) {
      if (!(error instanceof RegistryError) || !concealed.has(error.reason)) throw error
      throw notFound(
        'the archive was not found in storage, or is not the one of its checksum: the log of the server says which',
        error,
      )
    }
  }

  async #confirm(archive: Archive, place: Place): Promise<ObjectInfo> {
    const { stat, digest, fill, verified, reports } = this.#options
    const { sha256, label } = archive
    const info = await stat(place)
    if (verified.has(info, sha256)) return info
    if (info.fingerprint === undefined) {
      throw notFound(
        'the storage gives this object no entity tag: what it was cannot be remembered',
      )
    }
    await reports.refuseBad(archive, place, async () => info)
    await fill(archive, place)
    const filled = await stat(place)
    if (verified.has(filled, sha256)) return filled
    const found = await digest(place, label.namespace, filled)
    if (found.sha256 !== sha256) throw reports.wrong(archive, place, found)
    return found
  }

  #announce({ label: { namespace } }: Archive, { url }: Place): void {
    if (this.#announced.has(namespace) || this.#announced.size >= maxAnnounced) return
    this.#announced.add(namespace)
    const { log, annotation } = this.#options
    log.info(
      { namespace, place: url, annotation },
      'archives outside of the places granted to this namespace are read and checked once before they are served: grant its places by the annotation, or by --storage-grants',
    )
  }
}

/** What would tell whether there is an object, or how large it is. */
const concealed: ReadonlySet<string> = new Set(['NotFound', 'BadGateway', 'RangeNotSatisfiable'])
