/** Bytes of an object, both ends included, as in HTTP: the first byte alone is `{ start: 0, end: 0 }`. */
export interface ByteRange {
  readonly start: number
  readonly end: number
}

export interface ObjectInfo {
  readonly sizeBytes: number
  /**
   * The same fingerprint means the same bytes. Only local files have one: device, inode, size, time of the last change
   * of the content and of the file.
   */
  readonly fingerprint?: string
  /**
   * When the file changed last, in ms since 1970. A file that changes twice within one tick of its file system's clock
   * keeps its fingerprint, so nothing is to be concluded from one that is younger than `settledAfterMs`.
   */
  readonly changedAtMs?: number
}

export interface OpenObject {
  /** About the whole object, whatever part of it was asked for. */
  readonly info: ObjectInfo
  /**
   * The bytes that were asked for. It reads on demand, so that a slow reader costs no memory; `cancel()` gives back what
   * it holds; it errors with a RegistryError when the backend fails or the object changes on the way. A body that ends
   * early is the reader's to notice.
   */
  readonly body: ReadableStream<Uint8Array>
}

/**
 * One place where archives are kept: a bucket, a container, a mounted directory.
 *
 * An object name is a path of non-empty segments, none of them `.` or `..`; any other name is NotFound. No promise waits
 * for ever, and every error is a RegistryError whose message names no path, host or account.
 */
export interface Driver {
  /** @throws RegistryError NotFound, Unavailable */
  stat(object: string): Promise<ObjectInfo>
  /**
   * Opens an object; the first bytes have been read when it answers, so that most failures come here and not in the body.
   *
   * @param range default: the whole object. An end beyond the last byte means the last byte.
   * @throws RegistryError NotFound, RangeNotSatisfiable (an inverted range, or a start beyond the last byte), Unavailable
   */
  open(object: string, range?: ByteRange): Promise<OpenObject>
}

/** The age from which on a fingerprint can be trusted: the clocks of file systems tick every 4 ms to 2 s. */
export const settledAfterMs = 3000
