import { ifFound, notFound, RegistryError } from '../../base/errors/errors.ts'
import { type ByteSource, sha256Of } from '../spool/spool.ts'

/** Bytes of an object, both ends included, as in HTTP: `{ start: 0, end: 0 }` is the first byte. */
export interface ByteRange {
  readonly start: number
  readonly end: number
}

export interface ObjectInfo {
  readonly sizeBytes: number
  /**
   * Objects with the same fingerprint have the same bytes. It consists of device, inode, size and times of a local file, or of
   * the strong ETag of a remote object.
   */
  readonly fingerprint?: string
  /** Name of the real object of a local file, because links inside the mount may lead elsewhere. */
  readonly object?: string
  /**
   * When a local file changed last, in milliseconds since 1970. A file that changes twice within one tick of its file
   * system's clock keeps its fingerprint, so a file younger than `settledAfterMs` proves nothing.
   */
  readonly changedAtMs?: number
}

export interface OpenObject {
  /** Describes the whole object, even if a part was requested. */
  readonly info: ObjectInfo
  /** The requested bytes. */
  readonly body: ByteSource
}

/**
 * One place of archives: a bucket, a container, a mounted directory.
 *
 * An object name is a path of non-empty segments other than `.` and `..`; other names are NotFound. Promises always settle,
 * and every error is a RegistryError whose message names no path, host or account.
 */
export interface Driver {
  /** @throws RegistryError NotFound, BadGateway, Unavailable, GatewayTimeout */
  stat(object: string): Promise<ObjectInfo>
  /**
   * Opens an object and reads its first bytes, so that most failures occur here and not in the body.
   *
   * @param range default: the whole object. An end beyond the last byte means the last byte.
   * @throws RegistryError as `stat`; RangeNotSatisfiable (an inverted range, or a start beyond the last byte)
   */
  open(object: string, range?: ByteRange): Promise<OpenObject>
  /**
   * Signs a URL that gives the object to everyone who has it. Absent if the backend does not support it.
   *
   * @param ttlSeconds how long the URL is valid, 1 to 604,800
   * @throws RegistryError BadGateway, GatewayTimeout
   */
  presign?(object: string, ttlSeconds: number): Promise<string>
}

/** A fingerprint can be trusted from this age on, because the clocks of file systems tick every 4 ms to 2 s. */
export const settledAfterMs = 3000

/** A local file that becomes an object. */
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

/** A driver that can write. A name is written once: an object is never overwritten. */
export interface WritableDriver extends Driver {
  /**
   * Stores a file atomically. An existing object of that name stays unchanged; `verify` tells whether it is the same.
   *
   * @throws RegistryError BadGateway, Unavailable, GatewayTimeout; then either nothing or the whole file is stored
   */
  put(
    object: string,
    file: LocalFile,
    options?: { readonly signal?: AbortSignal | undefined },
  ): Promise<'created' | 'exists'>
  /**
   * Whether an object has this size and digest, by the backend's SHA-256 of the whole object, otherwise by reading it.
   *
   * @param options.read always reads the object, because the disk may differ from what a backend reports
   * @returns false if it is missing
   * @throws RegistryError BadGateway, Unavailable, GatewayTimeout
   */
  verify(
    object: string,
    expected: { readonly sizeBytes: number; readonly sha256: string },
    options?: { readonly signal?: AbortSignal | undefined; readonly read?: boolean },
  ): Promise<boolean>
  /**
   * Whether an object has this size and digest, as far as the backend reports it: the size, and the SHA-256 if it keeps one.
   *
   * @throws RegistryError as `verify`
   */
  check(
    object: string,
    expected: { readonly sizeBytes?: number | undefined; readonly sha256?: string | undefined },
  ): Promise<boolean>
  /** Removes an object, if it exists. @throws RegistryError as `put` */
  remove(object: string): Promise<void>
  /**
   * Lists every object whose name begins with a prefix, in any order. Changes during the listing may be missing.
   *
   * @param prefix ends with `/`, or is empty
   * @throws RegistryError as `put`
   */
  list(prefix: string): AsyncIterable<ListedObject>
}

const maxSegmentBytes = 255
const maxNameBytes = 1024

/**
 * Refuses names that backends resolve differently: names that leave the directory, have empty parts, or are too long for a
 * file.
 *
 * @returns the name
 * @throws RegistryError NotFound
 */
export function checkObjectName(name: string): string {
  const segments = name.split('/')
  const bad =
    /[\0\\]/.test(name) ||
    !name.isWellFormed() ||
    Buffer.byteLength(name) > maxNameBytes ||
    segments.some(
      (part) => ['', '.', '..'].includes(part) || Buffer.byteLength(part) > maxSegmentBytes,
    )
  if (bad) throw notFound('there is no such archive: its name is not a valid object name')
  return name
}

/**
 * Selects the bytes of an object for a range.
 *
 * @throws RegistryError RangeNotSatisfiable
 */
export function satisfiable(range: ByteRange | undefined, sizeBytes: number): ByteRange {
  const last = sizeBytes - 1
  if (range === undefined) return { start: 0, end: last }
  const { start, end } = range
  if (isRange(range) && start <= last) return { start, end: Math.min(end, last) }
  throw notSatisfiable(sizeBytes)
}

/** Whether any object could have such bytes. */
export const isRange = ({ start, end }: ByteRange): boolean =>
  Number.isSafeInteger(start) && start >= 0 && end >= start

export function notSatisfiable(sizeBytes: number): RegistryError {
  return new RegistryError('RangeNotSatisfiable', `the archive has ${sizeBytes} bytes`, {
    headers: { 'Content-Range': `bytes */${sizeBytes}` },
  })
}

type Expected = Parameters<WritableDriver['check']>[1]

/**
 * Checks whether an object is the one that was stored.
 *
 * @param reported the digest that the backend reports for a whole object; undefined if it reports none
 */
export function createVerifying(
  driver: Pick<Driver, 'open' | 'stat'>,
  reported: (object: string) => Promise<Expected | undefined> = async () => undefined,
): Pick<WritableDriver, 'verify' | 'check'> {
  return {
    verify: async (object, expected, { signal, read = false } = {}) => {
      signal?.throwIfAborted()
      const known = read ? undefined : await reported(object)
      return known === undefined
        ? ((await ifFound(matchesRead(driver, object, expected, signal))) ?? false)
        : matches(known, expected)
    },
    check: async (object, expected) => {
      const known = await reported(object)
      if (known !== undefined) return matches(known, expected)
      const found = await ifFound(driver.stat(object))
      return found !== undefined && matches({ sizeBytes: found.sizeBytes }, expected)
    },
  }
}

/** Values that one side does not report are not compared. */
function matches(known: Expected, expected: Expected): boolean {
  const { sizeBytes = known.sizeBytes, sha256 = known.sha256 } = expected
  return known.sizeBytes === sizeBytes && (known.sha256 ?? sha256) === sha256
}

/** Reads a whole object and discards it. */
async function matchesRead(
  driver: Pick<Driver, 'open'>,
  object: string,
  { sizeBytes, sha256 }: Expected,
  signal: AbortSignal | undefined,
): Promise<boolean> {
  const { info, body } = await driver.open(object)
  const isSize = info.sizeBytes === sizeBytes
  if (!isSize) body.close()
  return isSize && (await sha256Of(body, signal)) === sha256
}
