import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { notFound, unavailable } from '../../base/errors/errors.ts'
import { type Clock, Slots, withDeadline } from '../../base/pacing/pacing.ts'
import type { ByteRange, ObjectInfo, OpenObject } from './driver.ts'
import type { VerifiedObjects } from './known-archives.ts'
import type { Place } from './places.ts'
import type { ArchiveDigest } from './types.ts'

/** CLIs time out. The reading continues for a while, and the next request continues it further. */
export const checkDeadlineMs = 25_000
const busy = 'too many archives are being checked'
const checking = 'the archive is being checked'

const largestBytes = 4 * 2 ** 30
const longestMs = 30 * 60_000
/** Stopped readings that can continue. Each has some hundred bytes. */
const maxStopped = 1000

const defaultStepBytes = 64 * 2 ** 20

/** A reading that requests wait for. */
interface SharedReading {
  waiting: number
  /** Undefined if it stopped because no request waited. */
  readonly done: Promise<ArchiveDigest | undefined>
}

interface HashingOptions extends ResumableHashOptions {
  /** Default: {@link defaultStepBytes} */
  readonly stepBytes?: number
}

/** Digests of whole objects. An object that was read is remembered as verified. */
export class Hashing {
  readonly #options: HashingOptions
  readonly #background = new Slots({ max: 2, maxWaiting: Number.POSITIVE_INFINITY })
  readonly #requested = new Slots({ max: 16, perKey: 4, isFair: true, maxWaiting: 200, busy })
  readonly #running = new Map<string, SharedReading>()
  readonly #stopped = new LRUCache<string, ResumableHash>({ max: maxStopped })

  constructor(options: HashingOptions) {
    this.#options = options
  }

  /**
   * Hashes two objects at a time. Others wait, and the caller has to limit them. @throws the signal's reason, once it is
   * aborted
   */
  async digest(place: Place, signal?: AbortSignal): Promise<ArchiveDigest> {
    const mayGoOn = (): boolean => {
      signal?.throwIfAborted()
      return true
    }
    const digest = await this.#background.run(async () => {
      signal?.throwIfAborted()
      return new ResumableHash(this.#options, place).read(mayGoOn)
    })
    return digest as ArchiveDigest
  }

  /**
   * Reads an object once for all concurrent requests. A request waits for at most 25 s.
   *
   * @param owner of the archive: large archives of one owner never delay those of another
   * @param seen the object when the request looked at it: the request never joins the reading of an older object
   */
  async sharedDigest(
    place: Place,
    owner: string,
    { fingerprint }: ObjectInfo,
  ): Promise<ArchiveDigest> {
    const key = JSON.stringify([owner, place.key, fingerprint])
    const shared = this.#running.get(key) ?? this.#begin(key, place, owner)
    shared.waiting += 1
    try {
      const digest = await withDeadline(shared.done, checkDeadlineMs, checking)
      if (digest === undefined) throw unavailable(checking)
      return digest
    } finally {
      shared.waiting -= 1
    }
  }

  #begin(key: string, place: Place, owner: string): SharedReading {
    const reading = this.#stopped.get(key) ?? new ResumableHash(this.#options, place)
    this.#stopped.delete(key)
    const isWaitedFor = () => shared.waiting > 0
    const shared: SharedReading = {
      waiting: 0,
      done: this.#requested.run(() => reading.read(boundsOf(this.#options, isWaitedFor)), owner),
    }
    this.#running.set(key, shared)
    void shared.done
      .then(
        (digest) => digest === undefined && reading.canGoOn && this.#stopped.set(key, reading),
        () => undefined,
      )
      .finally(() => this.#running.delete(key))
    return shared
  }
}

/** Limits how much callers can make a server read. A reading that no request waits for stops after its next step. */
function boundsOf(
  { clock, stepBytes = defaultStepBytes }: HashingOptions,
  isWaitedFor: () => boolean,
) {
  const endsAtMs = clock() + longestMs
  let next = stepBytes
  return (readBytes: number, sizeBytes: number): boolean => {
    if (sizeBytes > largestBytes) {
      throw notFound(
        `the archive has ${sizeBytes} bytes, and one outside of a granted place may have ${largestBytes}: grant its place`,
      )
    }
    if (clock() > endsAtMs) throw unavailable('the storage takes too long to read the archive')
    if (readBytes < next) return true
    next = readBytes + stepBytes
    return isWaitedFor()
  }
}

interface ResumableHashOptions {
  readonly open: (place: Place, range?: ByteRange) => Promise<OpenObject>
  /** Receives every object that was read to its end. */
  readonly verified: VerifiedObjects
  readonly clock: Clock
}

/** Reads a whole object for its digest. It can stop before the end, and continue from there. */
class ResumableHash {
  readonly #options: ResumableHashOptions
  readonly #place: Place
  readonly #hash = createHash('sha256')
  #readBytes = 0
  #openedAtMs = 0
  #info: ObjectInfo | undefined

  constructor(options: ResumableHashOptions, place: Place) {
    this.#options = options
    this.#place = place
  }

  /** Whether the read part can be distinguished from that of a replaced object. */
  get canGoOn(): boolean {
    return this.#info?.fingerprint !== undefined
  }

  /**
   * @param mayGoOn called before every chunk, with the read bytes and the size of the object
   * @returns undefined if `mayGoOn` returned false
   */
  async read(
    mayGoOn: (readBytes: number, sizeBytes: number) => boolean,
  ): Promise<ArchiveDigest | undefined> {
    const { info, body } = await this.#open()
    try {
      while (mayGoOn(this.#readBytes, info.sizeBytes)) {
        const chunk = await body.read()
        if (chunk === undefined) return this.#end(info)
        this.#hash.update(chunk)
        this.#readBytes += chunk.byteLength
      }
      return undefined
    } finally {
      body.close()
    }
  }

  async #open(): Promise<OpenObject> {
    const { open, clock } = this.#options
    const before = this.#info
    if (before === undefined) {
      this.#openedAtMs = clock()
      const opened = await open(this.#place)
      this.#info = opened.info
      return opened
    }
    const opened = await open(this.#place, { start: this.#readBytes, end: before.sizeBytes - 1 })
    if (opened.info.fingerprint === before.fingerprint) return opened
    opened.body.close()
    throw changed()
  }

  #end(info: ObjectInfo): ArchiveDigest {
    if (this.#readBytes !== info.sizeBytes) throw changed()
    const sha256 = this.#hash.digest('hex')
    this.#options.verified.remember(info, sha256, this.#openedAtMs)
    return { ...info, sha256 }
  }
}

const changed = () => unavailable('the archive changed while it was read')
