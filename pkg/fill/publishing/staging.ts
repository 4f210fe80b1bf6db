import { renameSync } from 'node:fs'
import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Spool, SpoolFile } from '../../archives/spool/spool.ts'
import { RegistryError, unavailable } from '../../base/errors/errors.ts'
import type { AnnouncedBody } from './upload.ts'
import { type UploadSpace, UploadSpaces } from './upload-space.ts'

/** One version of a provider that one caller sends. */
export interface StagedKey {
  /** Distinguishes callers: nobody else can replace, publish or see the files. */
  readonly caller: string
  /** `namespace/type/version`. */
  readonly version: string
}

interface StagedFile {
  readonly sha256: string
  readonly space: UploadSpace
}

/** A file that arrives. */
export interface StagedUpload extends AsyncDisposable {
  readonly space: UploadSpace
  readonly maxBytes: number
  /** Adds the complete file to its release, in place of one of the same name. @throws RegistryError Unavailable */
  keep(sha256: string): Promise<void>
}

/** Files in the release of one caller. */
interface Release {
  readonly key: StagedKey
  /** A folder. */
  readonly place: SpoolFile
  readonly files: Map<string, StagedFile>
  /** Sizes of what arrives now. */
  readonly arriving: Set<() => number>
  expiry?: NodeJS.Timeout
  /** When a file began to arrive, arrived, or broke off. */
  usedMs: number
  isOver: boolean
}

/** A release that rests for so long gives way to others. */
const restMs = 60_000
const maxFiles = 100
const maxReleases = 4

/**
 * Keeps the files of releases until all of them are there. They are gone after an hour in which none arrived, after a
 * minute if others need the space, and after a restart. Those of all callers fill an eighth of the spool at most.
 */
export class Staging {
  readonly #spool: Spool
  readonly #spaces: UploadSpaces
  readonly #keepMs: number
  readonly #releases = new Map<string, Release>()
  readonly #turns = new Map<string, Promise<unknown>>()
  /** Releases that are being published. */
  readonly #inWork = new Set<string>()

  constructor(spool: Spool, keepMs = 3_600_000) {
    this.#spool = spool
    this.#spaces = new UploadSpaces(spool, () => this.#dropResting())
    this.#keepMs = keepMs
  }

  /** Digests of the files of a release, by their names. */
  filesOf(key: StagedKey): ReadonlyMap<string, string> {
    const files = this.#releases.get(idOf(key))?.files ?? new Map<string, StagedFile>()
    return new Map(Array.from(files, ([name, { sha256 }]) => [name, sha256]))
  }

  /** @param maxBytes of this file @throws RegistryError TooLarge, Unavailable */
  async begin(
    key: StagedKey,
    name: string,
    { sizeBytes }: Pick<AnnouncedBody, 'sizeBytes'>,
    { maxBytes, signal }: { readonly maxBytes: number; readonly signal: AbortSignal },
  ): Promise<StagedUpload> {
    this.#requireRest(key)
    const release = await this.#open(key, signal)
    // Comparisons and counts must come before the first await.
    const limit = this.#spool.sizeBytes / 8
    const left = limit - this.#bytesOf(key.caller)
    const count = release.files.size + release.arriving.size
    const isFull = count >= maxFiles && !release.files.has(name)
    let held: UploadSpace | undefined
    const arriving = () => Math.max(sizeBytes, held?.bytes ?? 0)
    release.arriving.add(arriving)
    const end = async (): Promise<void> => {
      release.arriving.delete(arriving)
      if (release.isOver) return
      if (release.files.size + release.arriving.size > 0) this.#expireLater(release)
      else await this.drop(key)
    }
    try {
      if (sizeBytes > left || left <= 0) throw tooMuch(limit)
      if (isFull) {
        throw new RegistryError('TooLarge', `a release has ${maxFiles} files at most: send fewer`)
      }
      held = await this.#spaces.open(sizeBytes, signal)
    } catch (error) {
      await end()
      throw error
    }
    const space = held
    let isKept = false
    return {
      space,
      maxBytes: Math.min(maxBytes, left),
      keep: async (sha256) => {
        if (release.isOver)
          throw unavailable('the release was published or removed in the meantime')
        this.#requireRest(key)
        // Two uploads of one name may end together: each replaces the one before it, on disk and in the list.
        renameSync(space.path, join(release.place.path, name))
        isKept = true
        const former = release.files.get(name)
        release.files.set(name, { sha256, space })
        await former?.space[Symbol.asyncDispose]()
      },
      [Symbol.asyncDispose]: async () => {
        if (!isKept) await space[Symbol.asyncDispose]()
        await end()
      },
    }
  }

  /**
   * Works on a release while nothing else of that version is published from here, and no file is added to it.
   *
   * @param work receives the folder with the files; undefined if there are none
   */
  async inTurn<T>(key: StagedKey, work: (folder: string | undefined) => Promise<T>): Promise<T> {
    const before = this.#turns.get(key.version)
    const id = idOf(key)
    const turn = (before ?? Promise.resolve()).then(async () => {
      this.#inWork.add(id)
      try {
        return await work(this.#releases.get(id)?.place.path)
      } finally {
        this.#inWork.delete(id)
      }
    })
    const ended = turn.catch(() => undefined)
    this.#turns.set(key.version, ended)
    try {
      return await turn
    } finally {
      if (this.#turns.get(key.version) === ended) this.#turns.delete(key.version)
    }
  }

  /** Removes one file of a release. */
  async remove(key: StagedKey, name: string): Promise<void> {
    const release = this.#releases.get(idOf(key))
    const file = release?.files.get(name)
    if (release === undefined || file === undefined) return
    release.files.delete(name)
    await rm(join(release.place.path, name), { force: true })
    await file.space[Symbol.asyncDispose]()
  }

  /** Removes a release. */
  async drop(key: StagedKey): Promise<void> {
    const release = this.#releases.get(idOf(key))
    if (release === undefined) return
    this.#releases.delete(idOf(key))
    release.isOver = true
    clearTimeout(release.expiry)
    await release.place.remove()
    for (const { space } of release.files.values()) await space[Symbol.asyncDispose]()
  }

  /** Refuses files while the release is being published, which would be a mix of two builds. */
  #requireRest(key: StagedKey): void {
    if (this.#inWork.has(idOf(key))) {
      throw unavailable('the files that were sent before are being published')
    }
  }

  async #open(key: StagedKey, signal: AbortSignal): Promise<Release> {
    const known = this.#releases.get(idOf(key))
    if (known !== undefined) {
      known.usedMs = performance.now()
      return known
    }
    const place = await this.#spool.reserve(0, { signal })
    await mkdir(place.path, { mode: 0o700 })
    // Another file of the release may have come at the same moment.
    const other = this.#releases.get(idOf(key))
    if (other !== undefined) {
      await place.remove()
      return other
    }
    const own = [...this.#releases.values()].filter((one) => one.key.caller === key.caller)
    if (own.length >= maxReleases) {
      await place.remove()
      throw new RegistryError(
        'TooLarge',
        `you have begun to send ${maxReleases} releases: finish one of them, or wait an hour`,
      )
    }
    const files = new Map<string, StagedFile>()
    const release = {
      key,
      place,
      files,
      arriving: new Set<() => number>(),
      usedMs: performance.now(),
      isOver: false,
    }
    this.#releases.set(idOf(key), release)
    return release
  }

  #expireLater(release: Release): void {
    clearTimeout(release.expiry)
    if (release.isOver) return
    release.usedMs = performance.now()
    release.expiry = setTimeout(() => {
      if (this.#isInUse(release)) this.#expireLater(release)
      else void this.drop(release.key)
    }, this.#keepMs).unref()
  }

  #isInUse({ arriving, key }: Release): boolean {
    return arriving.size > 0 || this.#turns.has(key.version)
  }

  /** Drops the release that has rested for the longest time. @returns whether there was one */
  async #dropResting(): Promise<boolean> {
    const dueMs = performance.now() - restMs
    const [oldest] = [...this.#releases.values()]
      .filter((release) => !this.#isInUse(release) && release.usedMs <= dueMs)
      .toSorted((a, b) => a.usedMs - b.usedMs)
    if (oldest === undefined) return false
    await this.drop(oldest.key)
    return true
  }

  #bytesOf(caller: string): number {
    let bytes = 0
    for (const { key, files, arriving } of this.#releases.values()) {
      if (key.caller !== caller) continue
      for (const { space } of files.values()) bytes += space.bytes
      for (const arrivingBytes of arriving) bytes += arrivingBytes()
    }
    return bytes
  }
}

const idOf = ({ caller, version }: StagedKey): string => `${caller} ${version}`

const tooMuch = (limit: number) =>
  new RegistryError(
    'TooLarge',
    `your unpublished files would be larger than ${limit} bytes: finish another release, wait an hour, or ask for a larger --spool-size of the controller`,
  )
