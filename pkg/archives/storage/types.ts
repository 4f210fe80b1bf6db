import type { ArchiveLocation } from '../../api/v1alpha1/v1alpha1.ts'
import type { Clock } from '../../base/pacing/pacing.ts'
import type { Logger, Metrics } from '../../base/telemetry/telemetry.ts'
import type { ByteSource } from '../spool/spool.ts'
import type { ByteRange, ObjectInfo } from './driver.ts'
import type { StorageSettings } from './places.ts'

/** The result of reading a whole archive. */
export interface ArchiveDigest extends ObjectInfo {
  /** In lower-case hexadecimal. */
  readonly sha256: string
}

/** One archive of the catalog. */
export interface Archive {
  readonly location: ArchiveLocation
  /** SHA-256 that its bytes must have, in lower-case hexadecimal. */
  readonly sha256: string
  /** Whether a small archive stays in memory from its first read on; default: from its second one on. */
  readonly isKept?: boolean
  /** The Version that it belongs to, for the log. */
  readonly label: Readonly<Record<'namespace' | 'kind' | 'name' | 'version', string>>
}

export interface OpenArchive {
  /** Size of the whole archive. */
  readonly sizeBytes: number
  /** The part in `body`; absent for a whole archive, which may also answer a range. */
  readonly range?: ByteRange
  readonly body: ByteSource
}

/**
 * The archives of all backends, checked before clients get them. Errors are those of the drivers unless documented here.
 *
 * In a place that was not granted to its namespace, an object is read once and checked before a byte, a size or a URL is
 * given. There, a missing object and a wrong one get the same answer: NotFound.
 */
export interface Archives {
  stat(location: ArchiveLocation): Promise<ObjectInfo>
  /**
   * Reads a whole archive. Two are read at a time, others wait.
   *
   * @throws the signal's reason, once it is aborted
   */
  digest(location: ArchiveLocation, signal?: AbortSignal): Promise<ArchiveDigest>
  /** A small, often requested archive, whole and checked; undefined if it is not in memory. */
  inMemory(sha256: string): Uint8Array<ArrayBuffer> | undefined
  /** Size of an archive in bytes, from the cache if it is there. */
  sizeOf(archive: Archive): Promise<number>
  /**
   * Opens an archive. If it does not match `sha256`, reading its body fails instead of ending. A part of an unverified file is
   * given only after the whole file was read and verified.
   *
   * @throws RegistryError BadGateway if the archive is known to be wrong: for a minute after a failed check
   */
  open(archive: Archive, range?: ByteRange): Promise<OpenArchive>
  /**
   * The URL to redirect a client to, if the StorageConfig enables presign.
   *
   * @throws RegistryError NotConfigured, BadGateway, GatewayTimeout if the StorageConfig forbids the fallback
   */
  presign(archive: Archive): Promise<string | undefined>
  /** Problems for operators: a storage that refused the credentials in the last five minutes. */
  impaired(): readonly string[]
}

export interface ArchivesOptions extends StorageSettings {
  /** Caches archives of remote backends on local disk; default: off. Processes cannot share a directory. */
  readonly cache?: { readonly dir: string; readonly sizeBytes: number } | undefined
  /** The places that namespaces may use without a first read; default: none. */
  readonly grants?: {
    readonly text?: string | undefined
    readonly annotationOf?: ((namespace: string) => string | undefined) | undefined
    /** Name of the annotation, for the log. */
    readonly annotation: string
  }
  readonly log: Logger
  readonly metrics: Metrics
  readonly clock?: Clock
}
