import { randomUUID } from 'node:crypto'
import { type FileHandle, mkdir, open, readdir, rename, rm, stat, unlink } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { hasReason, RegistryError } from '../../../base/errors/errors.ts'
import { type Clock, withDeadline } from '../../../base/pacing/pacing.ts'
import type { Logger } from '../../../base/telemetry/telemetry.ts'
import { type ByteSource, GrowingFile } from '../../spool/spool.ts'
import type { ByteRange, Driver, ObjectInfo, OpenObject } from '../driver.ts'
import { infoOf } from '../file/file-reading.ts'
import { createFilesystemDriver } from '../file/filesystem.ts'

/** Pause after the disk has failed. */
const pauseMs = 60_000
/** Number of concurrent fetches. Further archives are streamed. */
const maxFetches = 64
const maxAttempts = 3

export interface CacheOptions {
  readonly dir: string
  readonly sizeBytes: number
  /** Opens a cached file after verifying it; undefined if it is wrong or missing. */
  readonly openChecked: (
    driver: Driver,
    object: string,
    sha256: string,
    range?: ByteRange,
  ) => Promise<OpenObject | undefined>
  /** Remembers a file that was just written and verified. */
  readonly remember: (info: ObjectInfo, sha256: string) => void
  readonly log: Logger
  readonly clock: Clock
}

/** How to read an archive that is not cached. */
export interface Origin {
  /** Identifies the place. Only requests for the same place share a fetch. */
  readonly key: string
  /** Opens the whole archive. It fails instead of giving the last chunk of a wrong archive. */
  open(): Promise<{ readonly sizeBytes: number; readonly body: ByteSource }>
  /** Opens the archive from a given byte. Earlier bytes are read and checked too. */
  openFrom(fromByte: number): Promise<ByteSource>
}

/** Archives of remote backends on local disk, by digest. Processes cannot share a directory. */
export class ArchiveCache {
  readonly #options: CacheOptions
  readonly #files: CacheFiles
  readonly #driver: Driver
  readonly #index: CacheIndex
  readonly #fetches = new Map<string, Promise<GrowingFile | undefined>>()
  readonly #opened: Promise<void>
  #pausedUntilMs = 0

  /** Lists the directory in the background. Until then, all archives count as missing. */
  constructor(options: CacheOptions) {
    this.#options = options
    this.#files = new CacheFiles(options.dir)
    this.#driver = createFilesystemDriver({ mountPath: this.#files.archivesDir })
    this.#index = new CacheIndex(options.sizeBytes)
    this.#opened = this.#open()
  }

  get storedBytes(): number {
    return this.#index.storedBytes
  }

  async #open(): Promise<void> {
    try {
      for (const { sha256, sizeBytes } of await this.#files.open()) {
        this.#index.add(sha256, sizeBytes)
      }
      await this.#delete(this.#index.shrink())
    } catch (err) {
      this.#pause(err)
    }
  }

  async sizeOf(sha256: string): Promise<number | undefined> {
    await this.#opened
    return this.#index.sizeOf(sha256)
  }

  /** Opens a verified archive, or part of it, from the cache. A damaged file is deleted. */
  async open(sha256: string, range?: ByteRange): Promise<OpenObject | undefined> {
    await this.#opened
    if (this.#index.sizeOf(sha256) === undefined) return undefined
    try {
      const object = this.#files.objectOf(sha256)
      const opened = await this.#options.openChecked(this.#driver, object, sha256, range)
      if (opened !== undefined) {
        this.#index.used(sha256)
        return opened
      }
      this.#options.log.warn({ sha256 }, 'archive in the cache is damaged, fetching it again')
    } catch (err) {
      if (err instanceof RegistryError && err.reason === 'RangeNotSatisfiable') throw err
      this.#options.log.warn({ sha256, err }, 'archive in the cache cannot be read')
      // A slow disk says nothing about the file.
      if (!(err instanceof RegistryError && err.reason === 'NotFound')) return undefined
    }
    this.#index.remove(sha256)
    await this.#files.remove(sha256)
    return undefined
  }

  /**
   * Opens the whole archive: from disk, or from its origin with a copy to disk. Concurrent requests share one read of the
   * origin.
   *
   * @returns undefined if it cannot be cached: too large, too many at once, or a failed disk
   * @throws RegistryError of the origin
   */
  async read(
    sha256: string,
    origin: Origin,
  ): Promise<{ sizeBytes: number; body: ByteSource; source: 'cache' | 'backend' } | undefined> {
    for (let attempt = 1; attempt <= maxAttempts; attempt++) {
      const cached = await this.open(sha256)
      if (cached !== undefined) {
        return { sizeBytes: cached.info.sizeBytes, body: cached.body, source: 'cache' }
      }
      const joined = this.#fetches.has(fetchKey(sha256, origin))
      const fetch = await this.#join(sha256, origin)
      if (fetch === undefined) return undefined
      const body = fetch.follow((fromByte) => origin.openFrom(fromByte))
      const { sizeBytes } = fetch
      if (body !== undefined) return { sizeBytes, body, source: joined ? 'cache' : 'backend' }
      // The fetch ended before it could be followed.
      await fetch.done.catch(unlessDisk)
    }
    return undefined
  }

  /**
   * Waits until an archive is cached, if it can be.
   *
   * @throws RegistryError of the origin; Unavailable after `deadlineMs`, while the fetch continues
   */
  async fill(sha256: string, origin: Origin, deadlineMs: number): Promise<void> {
    const fetch = await this.#join(sha256, origin)
    if (fetch === undefined) return
    const done = fetch.done.catch(unlessDisk)
    await withDeadline(done, deadlineMs, 'the archive is being checked')
  }

  async #join(sha256: string, origin: Origin): Promise<GrowingFile | undefined> {
    const key = fetchKey(sha256, origin)
    const running = this.#fetches.get(key)
    if (running !== undefined) return running
    if (this.#fetches.size >= maxFetches || this.#options.clock() < this.#pausedUntilMs) {
      return undefined
    }
    const starting = this.#start(sha256, origin)
    this.#fetches.set(key, starting)
    const over = () => this.#fetches.delete(key)
    starting.then((fetch) => (fetch === undefined ? over() : fetch.done.then(over, over)), over)
    return starting
  }

  async #start(sha256: string, origin: Origin): Promise<GrowingFile | undefined> {
    const { sizeBytes, body } = await origin.open()
    const evicted = this.#index.reserve(sizeBytes)
    if (evicted === undefined) {
      body.close()
      return undefined
    }
    try {
      await this.#delete(evicted)
      const { path, file } = await this.#files.create()
      const fetch = new GrowingFile(body, file, sizeBytes, () => this.#files.keep(path, sha256))
      void this.#finish(sha256, path, fetch)
      return fetch
    } catch (err) {
      body.close()
      this.#index.release(sizeBytes)
      this.#pause(err)
      return undefined
    }
  }

  async #finish(sha256: string, path: string, { done, sizeBytes }: GrowingFile): Promise<void> {
    try {
      this.#options.remember(infoOf(await done), sha256)
      this.#index.add(sha256, sizeBytes)
    } catch (err) {
      if (hasReason(err, 'DiskFailed')) this.#pause(err)
      await this.#files.drop(path)
    } finally {
      this.#index.release(sizeBytes)
    }
  }

  async #delete(evicted: readonly string[]): Promise<void> {
    for (const sha256 of evicted) await this.#files.remove(sha256)
  }

  #pause(err: unknown): void {
    this.#pausedUntilMs = this.#options.clock() + pauseMs
    this.#options.log.error({ err }, 'archive cache cannot be used, archives are streamed')
  }
}

const fetchKey = (sha256: string, { key }: Origin): string => `${sha256} ${key}`

/** The cache works without its disk, only slower. */
function unlessDisk(error: unknown): void {
  if (!hasReason(error, 'DiskFailed')) throw error
}

/** The content of the cache in order of use, and the space that it takes. */
class CacheIndex {
  readonly #sizes = new Map<string, number>()
  readonly #limitBytes: number
  #storedBytes = 0
  #reservedBytes = 0

  constructor(limitBytes: number) {
    this.#limitBytes = limitBytes
  }

  /** Size of complete archives. */
  get storedBytes(): number {
    return this.#storedBytes
  }

  sizeOf(sha256: string): number | undefined {
    return this.#sizes.get(sha256)
  }

  used(sha256: string): void {
    const sizeBytes = this.#sizes.get(sha256)
    if (sizeBytes === undefined) return
    this.#sizes.delete(sha256)
    this.#sizes.set(sha256, sizeBytes)
  }

  /**
   * Reserves space for an archive before it is written.
   *
   * @returns the archives to delete for it; undefined if there cannot be enough space
   */
  reserve(sizeBytes: number): string[] | undefined {
    if (this.#reservedBytes + sizeBytes > this.#limitBytes) return undefined
    this.#reservedBytes += sizeBytes
    return this.shrink()
  }

  /** Makes space for reservations. The returned archives are forgotten and must be deleted. */
  shrink(): string[] {
    const evicted: string[] = []
    for (const sha256 of this.#sizes.keys()) {
      if (this.#reservedBytes + this.#storedBytes <= this.#limitBytes) break
      this.remove(sha256)
      evicted.push(sha256)
    }
    return evicted
  }

  release(sizeBytes: number): void {
    this.#reservedBytes -= sizeBytes
  }

  add(sha256: string, sizeBytes: number): void {
    this.remove(sha256)
    this.#sizes.set(sha256, sizeBytes)
    this.#storedBytes += sizeBytes
  }

  remove(sha256: string): void {
    this.#storedBytes -= this.#sizes.get(sha256) ?? 0
    this.#sizes.delete(sha256)
  }
}

/** The files of the cache: `archives/ab/abcd…` by digest, and `partial/…` while they are written. */
class CacheFiles {
  readonly archivesDir: string
  readonly #partialDir: string

  constructor(dir: string) {
    this.archivesDir = join(dir, 'archives')
    this.#partialDir = join(dir, 'partial')
  }

  /** Name of an archive below `archivesDir`. */
  objectOf(sha256: string): string {
    return `${sha256.slice(0, 2)}/${sha256}`
  }

  /**
   * Deletes partial files of previous processes.
   *
   * @returns the cached archives, the least recently used first
   */
  async open(): Promise<{ sha256: string; sizeBytes: number }[]> {
    await rm(this.#partialDir, { recursive: true, force: true })
    await mkdir(this.#partialDir, { recursive: true, mode: 0o700 })
    await mkdir(this.archivesDir, { recursive: true, mode: 0o700 })
    const found: { sha256: string; sizeBytes: number; usedMs: number }[] = []
    for (const entry of await readdir(this.archivesDir, { recursive: true, withFileTypes: true })) {
      if (!entry.isFile() || !/^[0-9a-f]{64}$/.test(entry.name)) continue
      const { size, atimeMs, mtimeMs } = await stat(join(entry.parentPath, entry.name))
      found.push({ sha256: entry.name, sizeBytes: size, usedMs: Math.max(atimeMs, mtimeMs) })
    }
    return found.toSorted((a, b) => a.usedMs - b.usedMs)
  }

  async create(): Promise<{ path: string; file: FileHandle }> {
    const path = join(this.#partialDir, randomUUID())
    return { path, file: await open(path, 'wx+', 0o600) }
  }

  /** Moves a complete file to its final path, atomically. */
  async keep(path: string, sha256: string): Promise<void> {
    const target = join(this.archivesDir, this.objectOf(sha256))
    await mkdir(dirname(target), { recursive: true, mode: 0o700 })
    await rename(path, target)
  }

  async drop(path: string): Promise<void> {
    await unlink(path).catch(() => {})
  }

  async remove(sha256: string): Promise<void> {
    await this.drop(join(this.archivesDir, this.objectOf(sha256)))
  }
}
