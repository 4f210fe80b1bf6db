import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { stringify } from 'yaml'
import { defaultLimits } from '../../pkg/archives/archive/archive.ts'
import { type ArchiveStore, openArchiveStore } from '../../pkg/archives/storage/storage.ts'
import { createLogger, createMetrics } from '../../pkg/base/telemetry/telemetry.ts'
import { type LocalSources, localSources } from '../../pkg/fill/sources/sources.fixture.ts'
import { type Sync, startSync } from '../../pkg/fill/sync/sync.ts'
import { folderObjects, type ObjectKind, type Objects } from '../../pkg/records/store/store.ts'
import type { HealingUpstreams } from './healing-upstreams.fixture.ts'

// Nothing here is about disks, so files are in memory.
if (existsSync('/dev/shm')) process.env['TMPDIR'] = '/dev/shm'

const namespace = 'team'
const storageConfig = { fileSystem: { directoryPath: 'depot' } }
const minute = 60_000
const kinds = ['Depot', 'Module', 'Provider', 'Version'] as const satisfies ObjectKind[]

export type SourceKind = 'github' | 'git' | 'registry' | 'archive' | 'provider'

/** A folder that is filled from one source, on a clock that only the test moves. */
export class World implements AsyncDisposable {
  readonly name: string
  /** The network's result for hosts: an address, or an error. */
  readonly addresses = new Map<string, string | Error>()
  /** How often a fault affected a request or step. */
  hits = 0
  /** Breaks a step of storage or records: throws an error, or returns a result unless that is undefined. */
  breaking: ((step: string) => unknown) | undefined
  readonly #upstreams: HealingUpstreams
  readonly #source: SourceKind
  readonly #dir: string
  readonly #startMs = Date.now()
  readonly #metrics = createMetrics({ version: 'test' })
  readonly #due = new Set<{ readonly atMs: number; readonly call: () => void }>()
  readonly #expected: string[] = []
  #aheadMs = 0
  #local: LocalSources | undefined
  #running: { readonly objects: Objects; readonly sync: Sync } | undefined

  private constructor(upstreams: HealingUpstreams, source: SourceKind, dir: string) {
    this.#upstreams = upstreams
    this.#source = source
    this.#dir = dir
    this.name = upstreams.freshName()
  }

  static async open(upstreams: HealingUpstreams, source: SourceKind): Promise<World> {
    const dir = await mkdtemp(join(tmpdir(), 'depot-healing-'))
    const world = new World(upstreams, source, dir)
    await world.publish('1.0.0')
    const manifest = source === 'archive' ? world.#module() : world.#depot()
    const metadata = { name: world.name, namespace }
    await mkdir(join(dir, 'manifests'))
    await writeFile(
      join(dir, 'manifests/main.yaml'),
      stringify({ apiVersion: 'depot.internal/v1alpha1', metadata, ...manifest }),
    )
    return world
  }

  get isRunning(): boolean {
    return this.#running !== undefined
  }

  /** Milliseconds since the world began. */
  get aheadMs(): number {
    return this.#aheadMs
  }

  /** Adds a version to upstream. If a source has no list, the Module names the version. */
  async publish(version: string): Promise<void> {
    this.#expected.push(version)
    await this.#upstreams.publish(this.#source, this.name, version)
    if (this.#running === undefined || this.#source !== 'archive') return
    const ref = { kind: 'Module', namespace, name: this.name } as const
    await this.objects.patch(ref, { spec: { versions: this.#versions() } })
    await this.#running.sync.idle()
  }

  /** Starts the reconcilers like a new process. */
  async begin({
    pollAtStart = false,
    deadlineMs = minute,
  }: {
    readonly pollAtStart?: boolean
    readonly deadlineMs?: number
  } = {}): Promise<void> {
    await this.#stop()
    const clock = () => this.#startMs + this.#aheadMs
    const { ca, hosts, settings } = this.#upstreams
    this.#local = await (this.#local?.restart() ??
      localSources({ ca }, hosts, {
        ...settings,
        clock,
        resolve: async (hostname) => {
          const address = this.addresses.get(hostname)
          if (address !== undefined) this.hits += 1
          if (address instanceof Error) throw address
          return [address ?? '127.0.0.1']
        },
      }))
    const log = createLogger('silent')
    const dir = join(this.#dir, 'manifests')
    const apiGroup = 'depot.internal'
    const objects = this.#withObjects(
      await folderObjects({ dir, apiGroup, watch: false, restMs: 1, log, clock }),
    )
    const archives = openArchiveStore({ filesystemMountPath: this.#dir })
    const sync = await startSync({
      objects,
      sources: this.#local.sources,
      archives: this.#withArchives(archives),
      spool: this.#local.spool,
      limits: defaultLimits,
      apiGroup,
      log,
      metrics: this.#metrics,
      clock,
      timers: { now: () => this.#aheadMs, after: (delayMs, call) => this.#after(delayMs, call) },
      timings: { listMs: deadlineMs, fetchMs: deadlineMs },
      pollAtStart,
    })
    this.#running = { objects, sync }
    await sync.idle()
  }

  /** Runs due work for some time, or until a condition holds. */
  async advance(byMs: number, until = () => false): Promise<void> {
    const endMs = this.#aheadMs + byMs
    for (;;) {
      await this.#running?.sync.idle()
      if (until()) return
      const [next] = [...this.#due].toSorted((one, other) => one.atMs - other.atMs)
      if (next === undefined || next.atMs > endMs) break
      this.#aheadMs = Math.max(this.#aheadMs, next.atMs)
      this.#due.delete(next)
      next.call()
    }
    this.#aheadMs = endMs
  }

  /** Requests a sync, as a person does with an annotation. */
  async ask(): Promise<void> {
    const kind = this.#source === 'archive' ? 'Module' : 'Depot'
    const annotations = { 'depot.internal/sync-requested-at': String(this.#aheadMs) }
    await this.objects.patch({ kind, namespace, name: this.name }, { metadata: { annotations } })
    await this.#running?.sync.idle()
  }

  /** Explains what differs from the goal: every object ready, and every version stored. */
  problems(): string[] {
    const unready = kinds.flatMap((kind) =>
      this.objects.list(kind).flatMap(({ metadata, status }) => {
        const { conditions = [] } = (status ?? {}) as { conditions?: readonly Told[] }
        const ready = conditions.find(({ type }) => type === 'Ready')
        if (ready?.status === 'True') return []
        return [`${kind} ${metadata.name}: ${ready?.reason} ${ready?.message}`]
      }),
    )
    const stored = this.stored()
    const missing = this.#expected.filter((version) => !stored.includes(version))
    return [...unready, ...missing.map((version) => `${version} is not stored`)]
  }

  /** The versions whose archive a server would serve. */
  stored(): string[] {
    return this.objects.list('Version').flatMap(({ spec, status }) => {
      const { artifact } = (status ?? {}) as { artifact?: object }
      const { version } = spec as { version: string }
      return artifact !== undefined ? [version.replace(/^v/, '')] : []
    })
  }

  get objects(): Objects {
    if (this.#running === undefined) throw new Error('begin first')
    return this.#running.objects
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#stop()
    await this.#local?.close()
    await rm(this.#dir, { recursive: true })
  }

  async #stop(): Promise<void> {
    await this.#running?.sync.stop()
    await this.#running?.objects.close()
    this.#running = undefined
    this.#due.clear()
  }

  #step<A extends unknown[], R>(
    name: string,
    work: (...args: A) => Promise<R>,
  ): (...args: A) => Promise<R> {
    return async (...args) => {
      const other = this.breaking?.(name)
      if (other !== undefined) this.hits += 1
      if (other instanceof Error) throw other
      return other === undefined ? work(...args) : (other as R)
    }
  }

  #withObjects(objects: Objects): Objects {
    return {
      ...objects,
      apply: this.#step('apply', objects.apply.bind(objects)),
      patch: this.#step('patch', objects.patch.bind(objects)),
      writeStatus: this.#step('writeStatus', objects.writeStatus.bind(objects)),
    }
  }

  #withArchives(archives: ArchiveStore): ArchiveStore {
    return {
      for: (storage, configName) => {
        const place = archives.for(storage, configName)
        const { driver } = place
        const put = this.#step('put', driver.put.bind(driver))
        const verify = this.#step('verify', driver.verify.bind(driver))
        const check = this.#step('check', driver.check.bind(driver))
        return { ...place, driver: { ...driver, put, verify, check } }
      },
    }
  }

  #after(delayMs: number, call: () => void): () => void {
    const due = { atMs: this.#aheadMs + delayMs, call }
    this.#due.add(due)
    return () => this.#due.delete(due)
  }

  #depot() {
    const { name } = this
    const source = this.#upstreams.sourceOf(this.#source, name)
    const configs =
      this.#source === 'provider'
        ? { providerConfigs: [{ name: 'tls', namespace: name }] }
        : { moduleConfigs: [{ name, provider: 'aws', ...source }] }
    return {
      kind: 'Depot',
      spec: { global: { storageConfig }, pollingIntervalMinutes: 60, ...configs },
    }
  }

  #module() {
    const source = this.#upstreams.sourceOf('archive', this.name)
    const moduleConfig = { provider: 'aws', storageConfig, ...source }
    return { kind: 'Module', spec: { moduleConfig, versions: this.#versions() } }
  }

  #versions() {
    return this.#expected.map((version) => ({ version }))
  }
}

interface Told {
  readonly type: string
  readonly status: string
  readonly reason: string
  readonly message: string
}
