import { stat } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { watch } from 'chokidar'
import { codeOf, messageOf } from '../../base/errors/errors.ts'
import { backoffMs, eachLimited, Loop, Turns } from '../../base/pacing/pacing.ts'
import type { Logger, Metrics } from '../../base/telemetry/telemetry.ts'
import { Definitions, type Resolution } from './definitions.ts'
import type { Keeper } from './keeper.ts'
import {
  type ManifestFile,
  Mistakes,
  mistakeFinder,
  type ParseOptions,
  parseManifest,
} from './manifest-file.ts'
import { type Rejection, Rejections } from './rejections.ts'
import { type Difference, maxHeldMs, Settling } from './settling.ts'
import {
  type FileText,
  identityOf,
  isGone,
  type Listing,
  readText,
  signatureOf,
  walk,
} from './tree.ts'

/** Several related events cause one scan. */
const debounceMs = 50
/** Time without changes after which a file is read. */
const settleMs = 100
/** Limit of scans while a write waits for a changing folder. */
const maxLooks = 20
/** Number of files that are read at a time. */
const maxReading = 4
/** Scans without an event, for file systems without events. They take at most this share of the time. */
const scanMs = 500
const scanShare = 1 / 50
const maxScanMs = 30_000
const retries = { firstMs: 2 * scanMs, capMs: 5_000, jitter: 'equal' } as const

/** When an object without a file is removed. */
interface Absence {
  /** Required time without changes in the folder. */
  readonly restMs: number
  /** Limit of that wait while files keep changing. */
  readonly patienceMs: number
}

export interface ScannerOptions<O, E> {
  readonly dir: string
  readonly apiGroup: string
  /** The only namespace whose GroupBindings count. */
  readonly namespace?: string | undefined
  readonly keeper: Keeper<O, E>
  readonly absence: Absence
  /** Advice for a folder that suddenly becomes empty, such as an option to set; undefined if every object is to be removed. */
  readonly emptyHint: string | undefined
  /** Receives the changes. If it throws, it gets the same changes again. */
  readonly take: (changes: readonly Resolution<O>[], readMs: number) => Promise<void>
  /** Called with the other current content of a file. */
  readonly onExtras?: (file: string, extras: readonly E[]) => void
  /** Called at the end of each scan. */
  readonly onScanned?: () => Promise<void>
  readonly log: Logger
  readonly metrics?: Metrics | undefined
}

/**
 * Compares a folder with its last state, and passes on the difference. The server and sync share it, so that they agree when a
 * file has changed, when an object is removed, and what is reported.
 */
export class Scanner<O, E> {
  readonly definitions: Definitions<O>
  readonly rejections: Rejections
  readonly #options: ScannerOptions<O, E>
  readonly #log: Logger
  readonly #parsing: Omit<ParseOptions<O, E>, 'previous' | 'turns'>
  readonly #settling = new Settling(settleMs)
  readonly #files = new Map<string, ManifestFile<O, E>>()
  readonly #mistakes: Mistakes
  readonly #loop = new Loop(() => this.exclusively(() => this.#turn()))
  #last: Promise<unknown> = Promise.resolve()
  #root = ''
  #changingSinceMs = Infinity
  #changedAtMs = 0
  #failures = 0
  #closed = false

  constructor(options: ScannerOptions<O, E>) {
    const { apiGroup, namespace, keeper, log, metrics } = options
    this.#options = options
    this.#log = log
    this.#parsing = { apiGroup, keeper, mistakeIn: mistakeFinder(apiGroup, namespace) }
    this.definitions = new Definitions(keeper)
    this.rejections = new Rejections(log, metrics)
    this.#mistakes = new Mistakes(log)
  }

  /** Time until absent objects are removed if nothing changes, in milliseconds; 0 if they are removed now. */
  get restsInMs(): number {
    const { restMs } = this.#options.absence
    return Math.max(0, this.#changedAtMs + restMs - performance.now())
  }

  get files(): number {
    return this.#files.size
  }

  /** The content of a file as it was read last. */
  contentOf(file: string): ManifestFile<O, E> | undefined {
    return this.#files.get(file)
  }

  /** The signature of a file as it was read last. */
  signatureOf(file: string): string | undefined {
    return this.#settling.signatureOf(file)
  }

  *extras(): Generator<E> {
    for (const { extras } of this.#files.values()) yield* extras
  }

  /**
   * Reads everything once, in its current state.
   *
   * @returns all content; it is not passed to `take`
   * @throws the error of the file system if the folder cannot be read
   */
  async load(): Promise<Resolution<O>[]> {
    const startMs = performance.now()
    const listing = await walk(this.#options.dir)
    this.#root = listing.root
    this.#changedAtMs = startMs
    const turns = new Turns()
    await this.#read(
      this.#settling.compare(listing.files, startMs, () => false, 0),
      listing,
      true,
    )
    const resolutions: Resolution<O>[] = []
    for (const resolution of this.definitions.resolve(false)) {
      this.#note(resolution)
      resolutions.push(resolution)
      await turns.yieldIfDue()
    }
    return resolutions
  }

  /** Continues scanning. @returns a function that stops it */
  follow(): () => Promise<void> {
    const { dir } = this.#options
    // Events only request a scan. Scans also run without them, so events may be missing or wrong.
    const watcher = watch(dir, {
      ignoreInitial: true,
      followSymlinks: false,
      ignored: (path) => path !== dir && /^\.(?!\.)/.test(basename(path)),
    })
    watcher.on('all', () => this.#loop.schedule(debounceMs))
    watcher.on('error', (err) =>
      this.#log.warn({ err }, 'watching failed, changes may take longer'),
    )
    this.#loop.schedule(0)
    return async () => {
      this.#closed = true
      await Promise.all([watcher.close(), this.#loop.close()])
    }
  }

  /** Runs a function while no scan runs. */
  exclusively<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#last.then(work)
    this.#last = result.catch(() => undefined)
    return result
  }

  /** Waits until the folder has no recent changes, at most two seconds. Call it only while nothing else runs. */
  async settle(): Promise<void> {
    for (let looks = 0; looks < maxLooks && (await this.#turn()) === settleMs; looks += 1) {
      await sleep(settleMs)
    }
  }

  /** Whether a file has not changed since it was read, by its signature. */
  async isCurrent(file: string): Promise<boolean> {
    return this.#settling.signatureOf(file) === (await this.#signatureAt(file))
  }

  /**
   * Records what this process wrote. Call it only while nothing else runs.
   *
   * @param text undefined if the file is removed
   * @param identity of the written file, from `identityOf`
   */
  async wrote(file: string, text: string | undefined, identity?: string): Promise<void> {
    if (text === undefined) this.#forget(file)
    else {
      const signature = await this.#signatureAt(file)
      const isMine = signature !== undefined && identityOf(signature) === identity
      // If another program has written the file since, the next scan reads it.
      this.#takeOver(file, file, await this.#parse(file, file, { text }), isMine ? signature : '')
    }
    await this.#resolve(performance.now(), true)
  }

  #signatureAt(file: string): Promise<string | undefined> {
    const looking = stat(join(this.#options.dir, file), { bigint: true })
    return looking.then(signatureOf, () => undefined)
  }

  /**
   * Lists the folder. One walk may see the last change of a file, but miss a file that was written before it. So if something
   * has just changed, a second walk lists the files. Those have no signature yet.
   */
  async #look(): Promise<Listing> {
    const listing = await walk(this.#options.dir)
    if (!this.#settling.hasNews(listing.files)) return listing
    const { files } = await walk(this.#options.dir)
    const there = [...files.keys()].map((path) => [path, ''] as const)
    return { ...listing, files: new Map([...there, ...listing.files]) }
  }

  async #turn(): Promise<number> {
    const startMs = performance.now()
    const { absence, onScanned } = this.#options
    try {
      const listing = await this.#look()
      this.#refuseEmptied(listing)
      this.#root = listing.root
      const nowMs = performance.now()
      const isUnknown = (path: string) => isCovered(path, listing.problems)
      const difference = this.#settling.compare(listing.files, nowMs, isUnknown)
      const isOverdue = nowMs - this.#changingSinceMs >= maxHeldMs
      const isRead = await this.#read(difference, listing, isOverdue)
      const isChanging = difference.waiting || !isRead
      if (!isChanging) this.#changingSinceMs = Infinity
      else if (this.#changingSinceMs === Infinity) this.#changingSinceMs = nowMs
      const { changed, removed } = difference
      if (isChanging || changed.size + removed.length > 0) this.#changedAtMs = nowMs
      const isMoving = isChanging && nowMs - this.#changingSinceMs < absence.patienceMs
      await this.#resolve(startMs, isMoving || this.restsInMs > 0)
      this.rejections.set('folder', [])
      if (this.#failures > 0) this.#log.info('manifests can be read again')
      this.#failures = 0
      await onScanned?.()
      if (isChanging) return settleMs
      const pauseMs = Math.min(maxScanMs, Math.max(scanMs, (nowMs - startMs) / scanShare))
      // Absent objects are removed once the folder has had no changes for a while.
      return this.restsInMs > 0 ? Math.min(pauseMs, this.restsInMs + 1) : pauseMs
    } catch (err) {
      this.#changedAtMs = performance.now()
      if (this.#failures++ === 0) {
        const files = this.#files.size
        this.#log.error({ files, err }, 'manifests cannot be read, what was read last stays')
      }
      this.rejections.set('folder', [unreadable('.', err)])
      return backoffMs(retries, this.#failures)
    }
  }

  /** An unmounted volume looks like this. Files that are removed one by one do not. */
  #refuseEmptied({ root, files, problems }: Listing): void {
    const { emptyHint } = this.#options
    if (emptyHint === undefined || files.size > 0 || problems.size > 0) return
    const known = this.#files.size
    if (known <= (root === this.#root ? 1 : 0)) return
    throw new Error(
      `has no manifests now, and had ${known} files before: mount it again, or ${emptyHint}`,
    )
  }

  async #resolve(readMs: number, mayReappear: boolean): Promise<void> {
    const resolutions = [...this.definitions.resolve(mayReappear)]
    if (resolutions.length === 0) return
    for (const resolution of resolutions) this.#note(resolution)
    try {
      await this.#options.take(resolutions, readMs)
    } catch (error) {
      this.definitions.reopen(resolutions)
      throw error
    }
  }

  /**
   * Reads changed files and passes on their changes.
   *
   * @param takesPart whether to pass on the others if a file changed while it was read
   * @returns whether none did
   */
  async #read(
    { changed, removed }: Difference,
    { problems }: Listing,
    takesPart: boolean,
  ): Promise<boolean> {
    const broken = new Map(problems)
    const renamed = new Map(removed.map((path) => [this.#identityOf(path), path]))
    const read = new Map<string, { from: string; content: ManifestFile<O, E> }>()
    let isRead = true
    await eachLimited(changed, maxReading, async ([path, signature]) => {
      if (this.#closed) return
      const from = this.#files.has(path) ? path : (renamed.get(identityOf(signature)) ?? path)
      try {
        const text = await readText(join(this.#options.dir, path), signature)
        if (text === undefined) isRead = false
        else read.set(path, { from, content: await this.#parse(path, from, text) })
      } catch (error) {
        if (isGone(error)) isRead = false
        else broken.set(path, error as Error)
      }
    })
    if (this.#closed) return true
    // A file must not be seen before files that were written earlier.
    if (!isRead && !takesPart) return false
    // In the order of the files, so that the log has the same order each time.
    for (const [path, signature] of changed) {
      const file = read.get(path)
      if (file !== undefined) this.#takeOver(path, file.from, file.content, signature)
    }
    for (const path of removed) this.#forget(path)
    const rejections = [...broken].map(([path, error]) => unreadable(path, error))
    this.rejections.set('unreadable', rejections, ({ file }) => this.#files.has(file))
    return isRead
  }

  #parse(path: string, from: string, text: FileText): Promise<ManifestFile<O, E>> {
    const previous = this.#files.get(from)
    return parseManifest(path, text, { ...this.#parsing, previous, turns: new Turns() })
  }

  #takeOver(path: string, from: string, content: ManifestFile<O, E>, signature: string): void {
    this.definitions.replace(path, content, from)
    this.#files.set(path, content)
    this.#mistakes.look(path, content.entries)
    this.#options.onExtras?.(path, content.extras)
    this.#settling.accept(path, signature)
    const unknown = content.rejections.some(({ object }) => object === undefined)
    this.rejections.set(path, content.rejections, ({ object }) =>
      object === undefined ? !unknown : this.definitions.defines(path, object),
    )
  }

  #forget(path: string): void {
    this.definitions.remove(path)
    this.#files.delete(path)
    this.#options.onExtras?.(path, [])
    this.#settling.forget(path)
    this.rejections.set(path, [])
  }

  #identityOf(path: string): string {
    return identityOf(this.#settling.signatureOf(path) ?? '')
  }

  #note({ id, key, duplicates }: Resolution<O>): void {
    this.rejections.set(`duplicate ${id}`, duplicates, ({ file }) =>
      this.definitions.defines(file, key),
    )
  }
}

/** Messages of the file system contain a path of the host after a comma. */
function unreadable(file: string, error: unknown): Rejection {
  const code = codeOf(error)
  const message = code === '' ? messageOf(error) : `cannot be read (${code})`
  return { file, reason: 'Unreadable', kind: 'unknown', message }
}

/** Whether the paths include a path or a folder above it. */
function isCovered(path: string, places: ReadonlyMap<string, unknown>): boolean {
  if (places.size === 0) return false
  for (let end = path.length; end > 0; end = path.lastIndexOf('/', end - 1)) {
    if (places.has(path.slice(0, end))) return true
  }
  return false
}
