import type { ArchiveLocation } from '../../api/v1alpha1/v1alpha1.ts'
import type { Clock } from '../../base/pacing/pacing.ts'
import type { Logger, Metrics } from '../../base/telemetry/telemetry.ts'
import type { ByteSource } from '../spool/spool.ts'
import { ArchiveReader } from './archive-reader.ts'
import type { ByteRange, ObjectInfo } from './driver.ts'
import type { ArchiveDigest } from './hashing.ts'
import type { StorageSettings } from './places.ts'

/** One archive of the catalog. */
export interface Archive {
  readonly location: ArchiveLocation
  /** SHA-256 that its bytes must have, in lower-case hexadecimal. */
  readonly sha256: string
  /** Whose archive it is, for the log. */
  readonly label: Readonly<Record<'namespace' | 'kind' | 'name' | 'version', string>>
}

export interface OpenArchive {
  /** Of the whole archive. */
  readonly sizeBytes: number
  /** The part that `body` holds; not given where that is the whole archive, which may answer a range too. */
  readonly range?: ByteRange
  readonly body: ByteSource
}

/**
 * The archives of all backends, as clients get them: checked. Errors are those of the drivers, if not said otherwise.
 *
 * In a place that its namespace was not granted, nothing is given before the object was read once and found right: no
 * byte, no size, no URL. What is missing there and what is wrong there looks the same then: NotFound.
 */
export interface Archives {
  stat(location: ArchiveLocation): Promise<ObjectInfo>
  /**
   * Reads an archive from end to end; two at a time, others wait.
   *
   * @throws the signal's reason, once it is aborted
   */
  digest(location: ArchiveLocation, signal?: AbortSignal): Promise<ArchiveDigest>
  /** A small archive that many ask for, whole, checked and at once; nothing where none of this digest is in memory. */
  inMemory(sha256: string): Uint8Array<ArrayBuffer> | undefined
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
  /** Which places namespaces may use without a first read; default: none. */
  readonly grants?: {
    readonly text?: string | undefined
    readonly annotationOf?: ((namespace: string) => string | undefined) | undefined
    /** Name of the annotation, for the log. */
    readonly annotation: string
  }
  readonly log: Logger
  readonly metrics: Metrics
  readonly clock?: Clock
  /** How many verified objects need not be hashed again; default 100,000, about 20 MB. */
  readonly rememberedObjects?: number
  /** How much memory small archives may take that are asked for often; default 16 MB. */
  readonly memoryBytes?: number
}

export const createArchives = (options: ArchivesOptions): Archives => new ArchiveReader(options)
