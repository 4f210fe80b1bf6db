import { createHash } from 'node:crypto'
import { unavailable } from '../../base/errors/errors.ts'
import type { Clock } from '../../base/pacing/pacing.ts'
import type { ByteRange, ObjectInfo, OpenObject } from './driver.ts'
import type { VerifiedObjects } from './known-archives.ts'
import type { Place } from './places.ts'
import type { ArchiveDigest } from './types.ts'

export interface ResumableHashOptions {
  readonly open: (place: Place, range?: ByteRange) => Promise<OpenObject>
  /** Receives every object that was read to its end. */
  readonly verified: VerifiedObjects
  readonly clock: Clock
}

/** Reads a whole object for its digest. It can stop before the end, and continue from there. */
export class ResumableHash {
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
