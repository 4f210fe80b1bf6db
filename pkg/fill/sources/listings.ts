import { hash } from 'node:crypto'
import { mkdir, readdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import semver from 'semver'
import * as z from 'zod'
import { messageOf, printable } from '../../base/errors/errors.ts'
import { Bounded } from '../../base/memory/memory.ts'
import { type Clock, SingleFlight } from '../../base/pacing/pacing.ts'
import type { Logger } from '../../base/telemetry/telemetry.ts'
import { FillError } from './errors.ts'
import type {
  ModuleUpstream,
  ResolvedVersion,
  UpstreamListing,
  UpstreamOptions,
  UpstreamVersion,
} from './types.ts'

/** Versions of one repository are resolved one after the other: they share a list for this long. */
const freshMs = 60_000
const maxTagLength = 255

/** A tag and the commit that it points to. */
export interface Tag {
  readonly name: string
  readonly commit: string
}

/** A version without `v`; undefined if the text is not a version. */
export function bareVersion(text: string): string | undefined {
  const bare = text.startsWith('v') ? text.slice(1) : text
  // The parser ignores spaces and line ends around a version.
  return /^[0-9A-Za-z.+-]+$/.test(bare) && semver.parse(bare) !== null ? bare : undefined
}

/** A version without `v`. @throws FillError InvalidSpec */
export function versionFrom(text: string): string {
  const version = bareVersion(text)
  if (version !== undefined) return version
  throw new FillError(
    'InvalidSpec',
    `"${printable(text, 60)}" is not a semantic version, such as 1.2.3`,
  )
}

/**
 * The versions among tags: a tag has to begin with the prefix, followed by a version with or without `v`. If two tags spell
 * one version, the tag with `v` wins.
 */
export function versionsOf(
  tags: readonly Tag[],
  prefix: string,
): Omit<UpstreamListing<UpstreamVersion>, 'unchanged'> {
  const versions = new Map<string, UpstreamVersion>()
  let skipped = 0
  for (const { name, commit } of tags) {
    const isCandidate = name.startsWith(prefix) && name.length <= maxTagLength
    const version = isCandidate ? bareVersion(name.slice(prefix.length)) : undefined
    if (version === undefined) skipped += 1
    else if (!versions.has(version) || name.startsWith('v', prefix.length)) {
      versions.set(version, { version, ref: name, commit })
    }
  }
  return { versions: [...versions.values()], skipped }
}

/** Finds a version in the list of its source, and lists again if an older list does not have it. */
export async function resolveFromList(
  source: Pick<ModuleUpstream, 'identity' | 'list'>,
  version: string,
  options: UpstreamOptions,
): Promise<ResolvedVersion> {
  const wanted = versionFrom(version)
  const { maxAgeMs = freshMs, maxIncompleteAgeMs = 0 } = options
  const find = async (ageMs: number) => {
    const { versions } = await source.list({ ...options, maxAgeMs: ageMs })
    return versions.find((one) => one.version === wanted)
  }
  const found =
    (await find(maxAgeMs)) ??
    (maxAgeMs > maxIncompleteAgeMs ? await find(maxIncompleteAgeMs) : undefined)
  if (found !== undefined) return { version: wanted, ref: found.ref, revision: revisionOf(found) }
  throw new FillError(
    'UpstreamNotFound',
    `${source.identity} has no version ${wanted}: push its tag, or remove the version`,
  )
}

function revisionOf({ ref, commit }: UpstreamVersion): string {
  if (commit === undefined) return ref
  return `${ref}@${commit.length === 64 ? 'sha256' : 'sha1'}:${commit}`
}

/** The commit that a revision names. */
export function commitOf({ revision }: ResolvedVersion): string | undefined {
  return /@sha\d+:([0-9a-f]+)$/.exec(revision)?.[1]
}

const maxFileBytes = 32 * 1024 * 1024
/** Lists that nobody asked for in this time are removed at the start. */
const keepMs = 30 * 24 * 3_600_000
/**
 * A list is sent again after so long. It may have been damaged on its way, together with an ETag that the upstream confirms
 * for ever.
 */
const confirmedMs = 4 * 3_600_000
/** The same if a person waits. The versions of a repository share a list. */
const confirmedUrgentlyMs = 60_000

const File = z.object({ sentMs: z.number(), value: z.unknown() })

/** A fetched list, with everything that a conditional request needs. */
interface Kept {
  readonly value: unknown
  /** Size as JSON, which is close to its size in memory. */
  readonly bytes: number
  readonly atMs: number
  /** When the upstream sent it, and not only said that it is unchanged. */
  readonly sentMs: number
}

interface Loaded<T> {
  readonly value: T
  /** Whether the upstream said that the former list is still valid. */
  readonly unchanged: boolean
}

/**
 * Lists of versions, in memory and on disk, so that a restart can send conditional requests. Callers who ask for a list at
 * the same time share one request.
 */
export class ListingCache {
  readonly #dir: string
  readonly #log: Logger
  readonly #clock: Clock
  readonly #memory = new Bounded<Kept>({
    maxEntries: 5000,
    maxBytes: 64 * 1024 * 1024,
    sizeOf: ({ bytes }) => bytes,
  })
  readonly #flights = new SingleFlight<Loaded<unknown>>({
    max: 10_000,
    overload: () => new Error('too many lists of versions are requested at once'),
  })
  #ready: Promise<void> | undefined

  constructor(dir: string, log: Logger, clock: Clock) {
    this.#dir = dir
    this.#log = log
    this.#clock = clock
  }

  /** @param key names the upstream and the credential: callers with different credentials share no list */
  async get<T>(
    key: string,
    schema: z.ZodType<T>,
    { signal, maxAgeMs = 0, urgent }: UpstreamOptions,
    load: (former: T | undefined) => Promise<Loaded<T>>,
  ): Promise<Loaded<T>> {
    const attempt = async (): Promise<Loaded<T>> => {
      const kept = this.#memory.get(key) ?? (await this.#read(key))
      const former = kept === undefined ? undefined : schema.safeParse(kept.value).data
      if (kept !== undefined && former !== undefined && this.#clock() - kept.atMs < maxAgeMs) {
        this.#memory.set(key, kept)
        return { value: former, unchanged: true }
      }
      const { value, unchanged } = await this.#flights.run(key, async () => {
        const atMs = this.#clock()
        const mayConfirmMs = urgent === true ? confirmedUrgentlyMs : confirmedMs
        const mayConfirm = kept !== undefined && atMs - kept.sentMs < mayConfirmMs
        const loaded = await load(mayConfirm ? former : undefined)
        const sentMs = loaded.unchanged && kept !== undefined ? kept.sentMs : atMs
        const text = JSON.stringify({ sentMs, value: loaded.value })
        this.#memory.set(key, { value: loaded.value, bytes: text.length, atMs, sentMs })
        await this.#keep(key, text, loaded.unchanged)
        return loaded
      })
      return { value: schema.parse(value), unchanged }
    }
    try {
      return await attempt()
    } catch (error) {
      // The request may have belonged to another caller, who aborted it.
      if (error instanceof FillError || signal.aborted) throw error
      return attempt()
    }
  }

  #path(key: string): string {
    return join(this.#dir, `${hash('sha256', key).slice(0, 40)}.json`)
  }

  /** Reads a list that an earlier process kept. */
  async #read(key: string): Promise<Kept | undefined> {
    try {
      const path = this.#path(key)
      const { mtimeMs } = await stat(path)
      const text = await readFile(path, 'utf8')
      const { value, sentMs } = File.parse(JSON.parse(text))
      return { value, bytes: text.length, atMs: mtimeMs, sentMs }
    } catch {
      return undefined
    }
  }

  /** Writes a list to disk. A failure only makes the next answer longer. */
  async #keep(key: string, text: string, unchanged: boolean): Promise<void> {
    const path = this.#path(key)
    try {
      await (this.#ready ??= this.#prepare())
      const now = new Date(this.#clock())
      if (unchanged) {
        await utimes(path, now, now)
        return
      }
      if (text.length > maxFileBytes) return
      await writeFile(`${path}.new`, text, { mode: 0o600 })
      await utimes(`${path}.new`, now, now)
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
      if (this.#clock() - mtimeMs > keepMs) await rm(path, { force: true })
    }
  }
}
