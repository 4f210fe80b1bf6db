import { createHash } from 'node:crypto'
import { mkdir, readdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { z } from 'zod'
import { messageOf } from '../../base/errors/errors.ts'
import { Bounded } from '../../base/memory/memory.ts'
import { type Clock, SingleFlight } from '../../base/pacing/pacing.ts'
import type { Logger } from '../../base/telemetry/telemetry.ts'
import { SourceError } from './errors.ts'
import type { ListOptions } from './module-source.ts'

const maxFileBytes = 32 * 1024 * 1024
/** Lists that were not asked for so long are removed at the start. */
const keepMs = 30 * 24 * 3_600_000

/** A list as it was fetched, with what the upstream needs to see to answer "unchanged". */
interface Kept<T> {
  readonly value: T
  /** As JSON: what it takes in memory is near that. */
  readonly bytes: number
  readonly atMs: number
}

/** Fetches a list; `unchanged` says that the former one still counts. */
type Load<T> = (
  former: T | undefined,
) => Promise<{ readonly value: T; readonly unchanged: boolean }>

/**
 * Lists of versions, in memory and on disk, so that a restart asks with conditional requests and gets short answers.
 * Callers who ask for one at the same time wait for the same request.
 */
export class ListingCache {
  readonly #dir: string
  readonly #log: Logger
  readonly #clock: Clock
  readonly #memory = new Bounded<Kept<unknown>>({
    maxEntries: 5000,
    maxBytes: 64 * 1024 * 1024,
    sizeOf: ({ bytes }) => bytes,
  })
  readonly #flights = new SingleFlight<{
    readonly value: unknown
    readonly unchanged: boolean
  }>({
    max: 10_000,
    overload: () => new Error('too many lists of versions are asked for at once'),
  })
  #ready: Promise<void> | undefined

  constructor(dir: string, log: Logger, clock: Clock) {
    this.#dir = dir
    this.#log = log
    this.#clock = clock
  }

  /** @param key of the upstream and the credential: lists of different callers are not mixed */
  async get<T>(
    key: string,
    schema: z.ZodType<T>,
    options: ListOptions,
    load: Load<T>,
  ): Promise<{ readonly value: T; readonly unchanged: boolean }> {
    try {
      return await this.#get(key, schema, options, load)
    } catch (error) {
      // The caller whose request this was may have given up; its reason is none for this caller.
      if (error instanceof SourceError || options.signal.aborted) throw error
      return this.#get(key, schema, options, load)
    }
  }

  async #get<T>(
    key: string,
    schema: z.ZodType<T>,
    { maxAgeMs = 0 }: ListOptions,
    load: Load<T>,
  ): Promise<{ readonly value: T; readonly unchanged: boolean }> {
    const kept = this.#memory.get(key) ?? (await this.#read(key))
    const former = kept === undefined ? undefined : schema.safeParse(kept.value).data
    if (kept !== undefined && former !== undefined && this.#clock() - kept.atMs < maxAgeMs) {
      this.#memory.set(key, kept)
      return { value: former, unchanged: true }
    }
    const { value, unchanged } = await this.#flights.run(key, async () => {
      const loaded = await load(former)
      const text = JSON.stringify(loaded.value)
      const bytes = text.length
      this.#memory.set(key, { value: loaded.value, bytes, atMs: this.#clock() })
      await this.#keep(key, text, loaded.unchanged)
      return loaded
    })
    return { value: schema.parse(value), unchanged }
  }

  #path(key: string): string {
    return join(this.#dir, `${createHash('sha256').update(key).digest('hex').slice(0, 40)}.json`)
  }

  /** What was kept by the process before this one. */
  async #read(key: string): Promise<Kept<unknown> | undefined> {
    try {
      const path = this.#path(key)
      const { mtimeMs } = await stat(path)
      const text = await readFile(path, 'utf8')
      return { value: JSON.parse(text), bytes: text.length, atMs: mtimeMs }
    } catch {
      return undefined
    }
  }

  /** A list that cannot be kept costs a longer answer the next time, and nothing else. */
  async #keep(key: string, text: string, unchanged: boolean): Promise<void> {
    const path = this.#path(key)
    try {
      await (this.#ready ??= this.#prepare())
      if (unchanged) {
        const now = new Date(this.#clock())
        await utimes(path, now, now)
        return
      }
      if (text.length > maxFileBytes) return
      await writeFile(`${path}.new`, text, { mode: 0o600 })
      await rename(`${path}.new`, path)
    } catch (error) {
      this.#log.warn({ error: messageOf(error) }, 'a list of versions cannot be kept on disk')
    }
  }

  async #prepare(): Promise<void> {
    await mkdir(this.#dir, { recursive: true, mode: 0o700 })
    for (const name of await readdir(this.#dir)) {
      if (!/^[0-9a-f]{40}\.json(\.new)?$/.test(name)) continue
      const path = join(this.#dir, name)
      const { mtimeMs } = await stat(path)
      if (Date.now() - mtimeMs > keepMs) await rm(path, { force: true })
    }
  }
}
