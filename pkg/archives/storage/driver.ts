import type { ByteSource } from '../spool/spool.ts'

/** Bytes of an object, both ends included, as in HTTP: the first byte alone is `{ start: 0, end: 0 }`. */
export interface ByteRange {
  readonly start: number
  readonly end: number
}

export interface ObjectInfo {
  readonly sizeBytes: number
  /**
   * The same fingerprint means the same bytes: device, inode, size and times of a local file, the strong ETag of a remote
   * object.
   */
  readonly fingerprint?: string
  /** Name of the object that a local file really is: links inside of the mount may lead elsewhere. */
  readonly object?: string
  /**
   * When a local file changed last, in milliseconds since 1970. A file that changes twice within one tick of its file system's
   * clock keeps its fingerprint, so nothing is to be concluded from one that is younger than `settledAfterMs`.
   */
  readonly changedAtMs?: number
}

export interface OpenObject {
  /** About the whole object, whatever part of it was asked for. */
  readonly info: ObjectInfo
  /** The bytes that were asked for. */
  readonly body: ByteSource
}

/**
 * One place where archives are kept: a bucket, a container, a mounted directory.
 *
 * An object name is a path of non-empty segments, none of them `.` or `..`; any other name is NotFound. No promise waits
 * for ever, and every error is a RegistryError whose message names no path, host or account.
 */
export interface Driver {
  /** @throws RegistryError NotFound, BadGateway, Unavailable, GatewayTimeout */
  stat(object: string): Promise<ObjectInfo>
  /**
   * Opens an object; the first bytes have been read when it answers, so that most failures come here and not in the body.
   *
   * @param range default: the whole object. An end beyond the last byte means the last byte.
   * @throws RegistryError as `stat`; RangeNotSatisfiable (an inverted range, or a start beyond the last byte)
   */
  open(object: string, range?: ByteRange): Promise<OpenObject>
  /**
   * A URL that gives the object to every holder. Where there is none, the backend cannot do that.
   *
   * @param ttlSeconds how long the URL is valid, 1 to 604,800
   * @throws RegistryError BadGateway, GatewayTimeout
   */
  presign?(object: string, ttlSeconds: number): Promise<string>
}

/** The age from which on a fingerprint can be trusted: the clocks of file systems tick every 4 ms to 2 s. */
export const settledAfterMs = 3000

/** A file on the local disk that is to become an object. */
export interface LocalFile {
  readonly path: string
  readonly sizeBytes: number
  /** In lower-case hexadecimal. */
  readonly sha256: string
}

export interface ListedObject {
  readonly object: string
  readonly sizeBytes: number
  /** In milliseconds since 1970. */
  readonly changedAtMs: number
}

/** A driver that fills its place, too. A name is written once: an object is never overwritten. */
export interface WritableDriver extends Driver {
  /**
   * Stores a file; no reader ever sees a part of it. Where there is an object of that name, it is left as it is:
   * `verify` tells whether it is the same.
   *
   * @throws RegistryError BadGateway, Unavailable, GatewayTimeout; nothing is stored then, or the whole file
   */
  put(
    object: string,
    file: LocalFile,
    options?: { readonly signal?: AbortSignal | undefined },
  ): Promise<'created' | 'exists'>
  /**
   * Whether an object has this size and digest, by the backend's own SHA-256 of the whole object, else by reading it.
   *
   * @param options.read reads it in any case: what a backend says of an object is not what its disk holds
   * @returns false where it is missing
   * @throws RegistryError BadGateway, Unavailable, GatewayTimeout
   */
  verify(
    object: string,
    expected: { readonly sizeBytes: number; readonly sha256: string },
    options?: { readonly signal?: AbortSignal | undefined; readonly read?: boolean },
  ): Promise<boolean>
  /**
   * As `verify`, by what the backend says alone: its size, and its SHA-256 where it keeps one.
   *
   * @throws RegistryError as `verify`
   */
  check(
    object: string,
    expected: { readonly sizeBytes?: number | undefined; readonly sha256?: string | undefined },
  ): Promise<boolean>
  /** Removes an object; one that is missing is removed already. @throws RegistryError as `put` */
  remove(object: string): Promise<void>
  /**
   * Every object whose name begins with a prefix, in no order. What is written or removed meanwhile may be there or not.
   *
   * @param prefix ends with `/`, or is empty
   * @throws RegistryError as `put`
   */
  list(prefix: string): AsyncIterable<ListedObject>
}
