import { isDeepStrictEqual } from 'node:util'
import {
  type ArchiveLocation,
  checksumOf,
  configOfParent,
  locationOf,
  type Module,
  type ObjectKey,
  type ParentKind,
  type ParentRef,
  type Provider,
  parentOf,
  parentRefOf,
  type Resource,
  type Version,
} from '../../api/v1alpha1/v1alpha1.ts'
import { backoffMs, eachLimited, endsWithin, Loop, Turns } from '../../base/pacing/pacing.ts'
import type { Logger } from '../../base/telemetry/telemetry.ts'
import {
  type ArchiveProbe,
  type ArchiveState,
  missing,
  pathOf,
  unreadable,
  withArchive,
} from './archive-state.ts'
import { idOf } from './definitions.ts'

/** A poll takes at most this share of the time. */
const pollShare = 1 / 20
const pollMs = 500
/** Delay until a changed archive is looked at again. */
const settleMs = 150
const maxPollMs = 30_000
const retries = { firstMs: 2 * pollMs, capMs: 60_000, jitter: 'equal' } as const

/** Enough concurrent reads to keep a disk busy. */
const maxHashing = 2

interface Archive {
  readonly location: ArchiveLocation
  /** Ids of the Versions with this archive. */
  versions: ReadonlySet<string>
  state?: ArchiveState
  /** Fingerprint at the last look; `null` if the archive was missing. */
  seen?: string | null | undefined
  /** Queued or being hashed. */
  busy: boolean
  failures: number
  retryAtMs: number
}

interface DigestsOptions {
  readonly probe: ArchiveProbe
  readonly log: Logger
  /** Called with the ids of Versions for which {@link Digests.complete} returns something new. */
  readonly onChange: (ids: Iterable<string>) => void
}

/**
 * Does for Versions on the filesystem backend what a controller does for others: takes checksum and size from the archive,
 * again whenever the archive changes.
 */
export class Digests {
  readonly #probe: ArchiveProbe
  readonly #log: Logger
  readonly #onChange: (ids: Iterable<string>) => void
  readonly #index = new ArchiveIndex()
  readonly #archives = new Map<string, Archive>()
  /** Archive of each Version at the last look. */
  #locations = new Map<string, string>()
  readonly #queue: Archive[] = []
  readonly #hashing = new Set<Promise<void>>()
  readonly #abort = new AbortController()
  readonly #idle = Promise.withResolvers<void>()
  readonly #loop = new Loop(() => this.#poll())
  #started = false

  constructor({ probe, log, onChange }: DigestsOptions) {
    this.#probe = probe
    this.#log = log
    this.#onChange = onChange
  }

  /** Registers an object, as in its manifest. */
  set(key: ObjectKey, resource: Resource | undefined): void {
    if (this.#index.set(key, resource) && this.#started) this.#loop.schedule(0)
  }

  /** Adds to an object what is known of its archive. */
  complete(resource: Resource): Resource {
    if (resource.kind !== 'Version' || checksumOf(resource) !== undefined) return resource
    const location = this.#index.locate(resource)
    const state = location && this.#archives.get(keyOf(location))?.state
    return state === undefined ? resource : withArchive(resource, state)
  }

  /** Starts. Resolves when every archive was looked at once, or after `timeoutMs`; then the rest continues. */
  async start(timeoutMs: number): Promise<void> {
    this.#started = true
    this.#loop.schedule(0)
    await endsWithin(this.#idle.promise, timeoutMs)
  }

  async close(): Promise<void> {
    this.#abort.abort()
    this.#queue.length = 0
    this.#idle.resolve()
    await this.#loop.close()
    await Promise.all(this.#hashing)
  }

  async #poll(): Promise<number> {
    const startMs = performance.now()
    const moved = await this.#regroup()
    let isChanging = false
    await eachLimited(this.#archives.values(), 16, async (archive) => {
      if (await this.#look(archive)) isChanging = true
    })
    this.#onChange(moved)
    this.#hashNext()
    if (this.#index.versions.size === 0) return maxPollMs
    const leastMs = isChanging ? settleMs : pollMs
    return Math.min(maxPollMs, Math.max(leastMs, (performance.now() - startMs) / pollShare))
  }

  /** Looks for every archive again. @returns the Versions whose archive has changed */
  async #regroup(): Promise<string[]> {
    const turns = new Turns()
    const locations = new Map<string, string>()
    const groups = new Map<string, { location: ArchiveLocation; versions: Set<string> }>()
    for (const [id, version] of this.#index.versions) {
      const location = this.#index.locate(version)
      if (location !== undefined) {
        const key = keyOf(location)
        locations.set(id, key)
        const group = groups.get(key)
        if (group === undefined) groups.set(key, { location, versions: new Set([id]) })
        else group.versions.add(id)
      }
      await turns.yieldIfDue()
    }
    for (const key of this.#archives.keys()) if (!groups.has(key)) this.#archives.delete(key)
    for (const [key, { location, versions }] of groups) {
      const archive = this.#archives.get(key)
      if (archive === undefined) {
        this.#archives.set(key, { location, versions, busy: false, failures: 0, retryAtMs: 0 })
      } else archive.versions = versions
    }
    const before = this.#locations
    this.#locations = locations
    return [...new Set([...before.keys(), ...locations.keys()])].filter(
      (id) => before.get(id) !== locations.get(id),
    )
  }

  /** @returns whether it has changed since the last look, so that it may still be being written */
  async #look(archive: Archive): Promise<boolean> {
    if (archive.busy || this.#abort.signal.aborted) return false
    const { location, seen, state } = archive
    try {
      const fingerprint = (await this.#probe.stat(location))?.fingerprint ?? null
      archive.seen = fingerprint
      if (fingerprint === null) this.#learn(archive, missing(location))
      else if (state?.type === 'hashed' && state.fingerprint === fingerprint) return false
      else if (seen !== undefined && seen !== fingerprint) return true
      else if (performance.now() >= archive.retryAtMs) {
        archive.busy = true
        this.#queue.push(archive)
      }
    } catch (error) {
      archive.seen = undefined
      this.#learn(archive, unreadable(location, error), error)
    }
    return false
  }

  #hashNext(): void {
    while (this.#hashing.size < maxHashing && !this.#abort.signal.aborted) {
      const archive = this.#queue.shift()
      if (archive === undefined) break
      const hashing = this.#hash(archive).finally(() => {
        archive.busy = false
        this.#hashing.delete(hashing)
        this.#hashNext()
      })
      this.#hashing.add(hashing)
    }
    if (this.#hashing.size === 0) this.#idle.resolve()
  }

  async #hash(archive: Archive): Promise<void> {
    const { location } = archive
    try {
      const digest = await this.#probe.digest(location, this.#abort.signal)
      const now = await this.#probe.stat(location)
      archive.seen = now?.fingerprint ?? null
      if (now?.fingerprint !== digest.fingerprint) return
      archive.failures = 0
      this.#learn(archive, { type: 'hashed', ...digest })
    } catch (error) {
      if (this.#abort.signal.aborted) return
      archive.failures++
      archive.retryAtMs = performance.now() + backoffMs(retries, archive.failures)
      this.#learn(archive, unreadable(location, error), error)
    }
  }

  #learn(archive: Archive, state: ArchiveState, err?: unknown): void {
    const { state: before, location, versions } = archive
    if (isDeepStrictEqual(before, state)) return
    archive.state = state
    const fields = { archive: pathOf(location), versions: versions.size }
    if (state.type === 'failed') {
      this.#log.warn({ ...fields, reason: state.message, err }, 'archive unavailable')
    } else {
      const { sizeBytes } = state
      this.#log[before ? 'info' : 'debug']({ ...fields, sizeBytes }, 'archive hashed')
    }
    this.#onChange(versions)
  }
}

/** One string for each archive, independent of other options of the backend. */
function keyOf({ storage, configName, fileName }: ArchiveLocation): string {
  return JSON.stringify([storage.fileSystem?.directoryPath, configName, fileName])
}

/** Versions without their own checksum, and the locations of their archives. */
export class ArchiveIndex {
  readonly #parents = new Map<string, Module | Provider>()
  /** Names of parents by the name in their config, if the two differ. */
  readonly #aliases = new Map<string, Set<string>>()
  readonly #versions = new Map<string, Version>()

  /** Versions without their own checksum, by {@link idOf}. */
  get versions(): ReadonlyMap<string, Version> {
    return this.#versions
  }

  /** @returns whether a location may have changed */
  set(key: ObjectKey, resource: Resource | undefined): boolean {
    const id = idOf(key)
    if (key.kind === 'Version') {
      const known = this.#versions.delete(id)
      if (resource?.kind !== 'Version' || checksumOf(resource) !== undefined) return known
      this.#versions.set(id, resource)
      return true
    }
    if (key.kind !== 'Module' && key.kind !== 'Provider') return false
    const before = this.#parents.get(id)
    if (before !== undefined) this.#rename(before, (names, name) => names.delete(name))
    this.#parents.delete(id)
    if (resource?.kind === 'Module' || resource?.kind === 'Provider') {
      this.#parents.set(id, resource)
      this.#rename(resource, (names, name) => names.add(name))
    }
    return true
  }

  /**
   * Finds the archive of a Version.
   *
   * @returns undefined if it is not on the filesystem backend, or unknown
   */
  locate(version: Version): ArchiveLocation | undefined {
    const ref = parentRefOf(version)
    const system = version.spec.moduleConfigRef?.provider
    const parent = ref && this.#parentOf(version.metadata.namespace, ref, system)
    const location = locationOf(version, parent)
    return location?.storage.fileSystem === undefined ? undefined : location
  }

  #parentOf(
    namespace: string,
    { kind, name, owned, uid }: ParentRef,
    system: string | undefined,
  ): Module | Provider | undefined {
    const id = idOf({ kind, namespace, name })
    const configured = () => this.#configured(kind, namespace, name)
    const wanted = { ownerUid: owned ? uid : undefined, system }
    return parentOf(wanted, this.#parents.get(id), configured, traits)
  }

  /** Parents with that name in their config and another metadata.name. */
  *#configured(kind: ParentKind, namespace: string, name: string): Generator<Module | Provider> {
    for (const alias of this.#aliases.get(idOf({ kind, namespace, name })) ?? []) {
      const parent = this.#parents.get(idOf({ kind, namespace, name: alias }))
      if (parent !== undefined) yield parent
    }
  }

  #rename(parent: Module | Provider, change: (names: Set<string>, name: string) => void): void {
    const { namespace, name } = parent.metadata
    const alias = configOfParent(parent).name
    if (alias === undefined || alias === name) return
    const id = idOf({ kind: parent.kind, namespace, name: alias })
    const names = this.#aliases.get(id) ?? new Set()
    change(names, name)
    if (names.size === 0) this.#aliases.delete(id)
    else this.#aliases.set(id, names)
  }
}

const traits = {
  system: (parent: Module | Provider) =>
    parent.kind === 'Module' ? parent.spec.moduleConfig.provider : undefined,
  uid: ({ metadata }: Module | Provider) => metadata.uid ?? '',
}
