import { join } from 'node:path'
import { JsonReader, type ResourceSink } from '../../api/v1alpha1/v1alpha1.ts'
import { messageOf } from '../../base/errors/errors.ts'
import { backoffMs, eachLimited, Loop, Turns } from '../../base/pacing/pacing.ts'
import type { Logger, Metrics } from '../../base/telemetry/telemetry.ts'
import type { ArchiveProbe } from './archive-state.ts'
import { Definitions, type Resolution } from './definitions.ts'
import { Digests } from './digests.ts'
import { type ManifestFile, parseManifest } from './manifest-file.ts'
import { createManifestMetrics } from './metrics.ts'
import { Mistakes } from './mistakes.ts'
import { Publisher } from './publisher.ts'
import { readText } from './read-text.ts'
import { FolderReadmes } from './readme.ts'
import { type Rejection, Rejections } from './rejections.ts'
import { type Difference, Settling } from './settling.ts'
import { codeOf, identityOf, isGone, type Listing, walk } from './tree.ts'

/** How long a file must look the same before it is read. */
const settleMs = 100
/** How long an object that is nowhere stays while files change, because it may be moving between them. */
const maxChangingMs = 2_000
/** Files that are read at a time. */
const maxReading = 4
/** Scans that no event asked for, for file systems without events; they take at most this part of the time. */
const scanMs = 500
const scanShare = 1 / 50
const maxScanMs = 30_000
const retries = { firstMs: 2 * scanMs, capMs: 5_000, jitter: 'equal', random: Math.random } as const

/** Objects of one file that change in one step; more than that would keep requests waiting. */
const maxTogether = 1_000

interface ScannerOptions {
  /** Whether a folder that is empty all at once means that there is nothing to serve. */
  readonly allowEmpty: boolean
  readonly dir: string
  readonly apiGroup: string
  readonly namespace?: string | undefined
  readonly sink: ResourceSink
  readonly probe: ArchiveProbe
  readonly log: Logger
  readonly metrics: Metrics
}

/** Compares the folder with what was read of it, and hands on the difference. */
export class Scanner {
  readonly #dir: string
  readonly #apiGroup: string
  readonly #log: Logger
  readonly #allowEmpty: boolean
  readonly readmes = new FolderReadmes()
  readonly #settling = new Settling(settleMs)
  readonly #definitions = new Definitions()
  /** Without a limit: findings are compared with those of the last reading, which must be of the same kind. */
  readonly #json = new JsonReader(Number.POSITIVE_INFINITY)
  readonly #files = new Map<string, ManifestFile>()
  readonly #rejections: Rejections
  readonly #mistakes: Mistakes
  readonly #metrics: ReturnType<typeof createManifestMetrics>
  readonly #publisher: Publisher
  readonly #digests: Digests
  readonly #loop = new Loop(() => this.#turn())
  #root = ''
  #changingSinceMs = Infinity
  #failures = 0
  #started = false
  #closed = false

  constructor({ dir, apiGroup, namespace, allowEmpty, sink, probe, log, metrics }: ScannerOptions) {
    this.#dir = dir
    this.#apiGroup = apiGroup
    this.#allowEmpty = allowEmpty
    this.#log = log
    this.#rejections = new Rejections(log, metrics)
    this.#mistakes = new Mistakes({ apiGroup, namespace, log })
    this.#metrics = createManifestMetrics(metrics, () => this.#started)
    this.#publisher = new Publisher(sink)
    this.#digests = new Digests({ probe, log, onChange: (ids) => this.#republish(ids) })
  }

  /** @throws the error of the file system when the folder cannot be read */
  async start(firstDigestsMs: number): Promise<void> {
    const startMs = performance.now()
    const listing = await walk(this.#dir)
    this.#root = listing.root
    const turns = new Turns()
    await this.#read(
      this.#settling.compare(listing.files, startMs, () => false, 0),
      listing,
    )
    const resolutions: Resolution[] = []
    for (const resolution of this.#definitions.resolve(false)) {
      this.#note(resolution)
      resolutions.push(resolution)
      await turns.yieldIfDue()
    }
    const resources = resolutions.flatMap(({ id, resource }) =>
      resource === undefined ? [] : [[id, resource] as const],
    )
    await this.#publisher.replace(resources, turns)
    await this.#digests.start(firstDigestsMs)
    const durationMs = Math.round(performance.now() - startMs)
    const counts = { files: listing.files.size, objects: this.#definitions.size }
    const rejected = this.#rejections.count
    this.#log.info({ ...counts, rejected, durationMs }, 'manifests loaded')
    this.#started = true
    this.schedule(0)
  }

  /** Asks for a scan within `delayMs`. */
  schedule(delayMs: number): void {
    if (this.#started) this.#loop.schedule(delayMs)
  }

  async close(): Promise<void> {
    this.#closed = true
    await Promise.all([this.#loop.close(), this.#digests.close()])
  }

  async #turn(): Promise<number> {
    const startMs = performance.now()
    try {
      const listing = await walk(this.#dir)
      if (this.#isEmptied(listing)) throw new EmptiedFolder(this.#files.size)
      this.#root = listing.root
      const nowMs = performance.now()
      const isUnknown = (path: string) => isCovered(path, listing.problems)
      const difference = this.#settling.compare(listing.files, nowMs, isUnknown)
      const isRead = await this.#read(difference, listing)
      const isChanging = difference.waiting || !isRead
      if (!isChanging) this.#changingSinceMs = Infinity
      else if (this.#changingSinceMs === Infinity) this.#changingSinceMs = nowMs
      const mayReappear = isChanging && nowMs - this.#changingSinceMs < maxChangingMs
      await this.#publish([...this.#definitions.resolve(mayReappear)], startMs)
      this.#rejections.set('folder', [])
      if (this.#failures > 0) this.#log.info('manifests can be read again')
      this.#failures = 0
      if (isChanging) return settleMs
      return Math.min(maxScanMs, Math.max(scanMs, (nowMs - startMs) / scanShare))
    } catch (err) {
      if (this.#failures++ === 0) {
        const files = this.#files.size
        this.#log.error({ files, err }, 'manifests cannot be read, what was read last stays')
      }
      this.#rejections.set('folder', [unreadable('.', err)])
      return backoffMs(retries, this.#failures)
    }
  }

  /** An unmounted volume looks like this; files that are removed one by one do not. */
  #isEmptied({ root, files, problems }: Listing): boolean {
    if (this.#allowEmpty || files.size > 0 || problems.size > 0) return false
    return this.#files.size > (root === this.#root ? 1 : 0)
  }

  /** Hands resolutions on, those of one file in one step, so that no reader sees half of a change. */
  async #publish(resolutions: readonly Resolution[], readMs: number): Promise<void> {
    const turns = new Turns()
    const steps = Map.groupBy(resolutions, ({ file }) => file).values()
    const waiting = [...steps].flatMap((step) => chunksOf(step, maxTogether))
    for (let step = waiting.shift(); step !== undefined; step = waiting.shift()) {
      try {
        for (const resolution of step) this.#note(resolution)
        for (const { id, key, resource } of step) {
          this.#publisher.publish(id, key, resource && this.#digests.complete(resource))
          this.#metrics.published(key.kind, readMs)
        }
      } catch (error) {
        this.#definitions.reopen([step, ...waiting].flat())
        throw error
      }
      await turns.yieldIfDue()
    }
  }

  /** Reads what has changed and takes it over. @returns false where something changed while it was read */
  async #read({ changed, removed }: Difference, { problems }: Listing): Promise<boolean> {
    const turns = new Turns()
    const broken = new Map(problems)
    const renamed = new Map(removed.map((path) => [this.#identityOf(path), path]))
    const read = new Map<string, { signature: string; from: string; content: ManifestFile }>()
    let isRead = true
    await eachLimited(changed, maxReading, async ([path, signature]) => {
      if (this.#closed) return
      const from = this.#files.has(path) ? path : (renamed.get(identityOf(signature)) ?? path)
      try {
        const text = await readText(join(this.#dir, path), signature)
        const previous = this.#files.get(from)
        const options = { apiGroup: this.#apiGroup, previous, json: this.#json, turns }
        const content = text && (await parseManifest(path, text, options))
        if (content !== undefined) read.set(path, { signature, from, content })
        else isRead = false
      } catch (error) {
        if (isGone(error)) isRead = false
        else broken.set(path, error as Error)
      }
    })
    if (this.#closed) return true
    // In the order of the files, whichever came first, so that what is logged of them is the same each time.
    for (const path of changed.keys()) {
      const file = read.get(path)
      if (file === undefined) continue
      const { signature, from, content } = file
      this.#definitions.replace(path, content, from)
      this.#files.set(path, content)
      this.#mistakes.look(path, content.entries)
      this.readmes.set(path, content.readmes)
      this.#settling.accept(path, signature)
      const unknown = content.rejections.some(({ object }) => object === undefined)
      this.#rejections.set(path, content.rejections, ({ object }) =>
        object === undefined ? !unknown : this.#definitions.defines(path, object),
      )
    }
    for (const path of removed) {
      this.#definitions.remove(path)
      this.#files.delete(path)
      this.readmes.set(path, [])
      this.#settling.forget(path)
      this.#rejections.set(path, [])
    }
    const rejections = [...broken].map(([path, error]) => unreadable(path, error))
    this.#rejections.set('unreadable', rejections, ({ file }) => this.#files.has(file))
    return isRead
  }

  #identityOf(path: string): string {
    return identityOf(this.#settling.signatureOf(path) ?? '')
  }

  /** Takes note of what an object is now, before it is handed on. */
  #note({ id, key, resource, duplicates }: Resolution): void {
    this.#digests.set(key, resource)
    this.#rejections.set(`duplicate ${id}`, duplicates, ({ file }) =>
      this.#definitions.defines(file, key),
    )
  }

  /** Hands on Versions of which the archive has changed. */
  #republish(ids: Iterable<string>): void {
    for (const id of ids) {
      const resource = this.#definitions.get(id)
      if (resource === undefined) continue
      const { kind, metadata } = resource
      const key = { kind, namespace: metadata.namespace, name: metadata.name }
      this.#publisher.publish(id, key, this.#digests.complete(resource))
    }
  }
}

class EmptiedFolder extends Error {
  constructor(files: number) {
    super(
      `holds no manifest any more, where there were ${files} files: mount it again, or start with --allow-empty-manifests if it is meant to be empty`,
    )
  }
}

function chunksOf<T>(items: readonly T[], size: number): T[][] {
  const chunks: T[][] = []
  for (let at = 0; at < items.length; at += size) chunks.push(items.slice(at, at + size))
  return chunks
}

/** Messages of the file system name a path of the host after a comma. */
function unreadable(file: string, error: unknown): Rejection {
  const code = codeOf(error)
  const message = code === undefined ? messageOf(error) : `cannot be read (${code})`
  return { file, reason: 'Unreadable', kind: 'unknown', message }
}

/** Whether a path, or a folder above it, is among those. */
function isCovered(path: string, places: ReadonlyMap<string, unknown>): boolean {
  if (places.size === 0) return false
  for (let end = path.length; end > 0; end = path.lastIndexOf('/', end - 1)) {
    if (places.has(path.slice(0, end))) return true
  }
  return false
}
