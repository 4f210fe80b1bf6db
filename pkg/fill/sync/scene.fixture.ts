import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Condition, Depot, Module, Provider, Version } from '../../api/v1alpha1/v1alpha1.ts'
import { defaultLimits } from '../../archives/archive/archive.ts'
import { openSpool, type Spool } from '../../archives/spool/spool.ts'
import { openArchiveStore } from '../../archives/storage/storage.ts'
import { createLogger, createMetrics } from '../../base/telemetry/telemetry.ts'
import type { ObjectPlace } from '../../records/store/conformance.fixture.ts'
import type { ObjectKind, Objects, StoredObject } from '../../records/store/store.ts'
import { type Sync, type SyncOptions, startSync } from './sync.ts'
import { TestUpstream } from './upstream.fixture.ts'

const isDocs = (path: string): boolean => path.endsWith('.docs.json.gz')

type AnyStatus = NonNullable<Version['status']> &
  NonNullable<Module['status']> &
  NonNullable<Provider['status']> &
  NonNullable<Depot['status']>

/** Objects in a namespace of their own, an upstream, storage in a folder, and reconcilers that can be restarted. */
export class Scene {
  readonly namespace: string
  readonly upstream: TestUpstream
  /** Root of the archives. */
  readonly storage: string
  readonly #place: ObjectPlace
  readonly #directory: string
  readonly spool: Spool
  #running: { readonly objects: Objects; readonly sync: Sync } | undefined
  /** Shared by all runs, as in a process that becomes leader again. */
  readonly metrics = createMetrics({ version: 'test' })
  /** Milliseconds that the clock of the reconcilers is ahead. */
  aheadMs = 0
  /** Wraps the objects of the reconcilers. */
  through: ((objects: Objects) => Objects) | undefined

  private constructor(place: ObjectPlace, namespace: string, directory: string, spool: Spool) {
    this.#place = place
    this.namespace = namespace
    this.#directory = directory
    this.spool = spool
    this.storage = join(directory, 'archives')
    this.upstream = new TestUpstream(spool)
  }

  /** @param spoolBytes default: 1 GiB */
  static async open(
    place: ObjectPlace,
    namespace: string,
    spoolBytes: number = 2 ** 30,
  ): Promise<Scene> {
    const directory = await mkdtemp(join(tmpdir(), 'depot-sync-'))
    const spool = await openSpool({ dir: join(directory, 'spool'), sizeBytes: spoolBytes })
    await mkdir(join(directory, 'archives'))
    return new Scene(place, namespace, directory, spool)
  }

  get objects(): Objects {
    if (this.#running === undefined) throw new Error('start the reconcilers first')
    return this.#running.objects
  }

  async write(kind: ObjectKind, name: string, spec: object, metadata: object = {}): Promise<void> {
    await this.#place.write({
      apiVersion: 'depot.internal/v1alpha1',
      kind,
      metadata: { name, namespace: this.namespace, ...metadata },
      spec,
    })
  }

  remove(kind: ObjectKind, name: string): Promise<void> {
    return this.#place.remove({ kind, namespace: this.namespace, name })
  }

  configMap(name: string): Promise<unknown> {
    return this.#place.configMap(this.namespace, name)
  }

  /** Starts the reconcilers, as a process does, and waits until they have nothing to do. */
  async run(options: Partial<SyncOptions> = {}): Promise<void> {
    await (await this.begin(options)).idle()
  }

  /** Starts the reconcilers, and waits for nothing. */
  async begin(options: Partial<SyncOptions> = {}): Promise<Sync> {
    await this.stop()
    const opened = await this.#place.open()
    const objects = this.through?.(opened) ?? opened
    const sync = await startSync({
      limits: defaultLimits,
      objects,
      sources: this.upstream,
      archives: openArchiveStore(
        { filesystemMountPath: this.storage },
        // The namespace represents a whole cluster.
        { text: `${this.namespace}=*` },
      ),
      spool: this.spool,
      apiGroup: 'depot.internal',
      log: createLogger('silent'),
      metrics: this.metrics,
      clock: () => Date.now() + this.aheadMs,
      ...options,
    })
    this.#running = { objects, sync }
    return sync
  }

  /** Waits until running reconcilers have nothing to do. */
  async idle(): Promise<void> {
    await this.#running?.sync.idle()
  }

  failing(): string[] {
    return [...(this.#running?.sync.failing().keys() ?? [])]
  }

  async stop(): Promise<void> {
    await this.#running?.sync.stop()
    await this.#running?.objects.close()
    this.#running = undefined
  }

  async close(): Promise<void> {
    await this.stop()
    await this.spool.close()
    await rm(this.#directory, { recursive: true })
  }

  object(kind: ObjectKind, name: string): StoredObject {
    const found = this.objects.get(kind, this.namespace, name)
    if (found === undefined) throw new Error(`there is no ${kind} ${name}`)
    return found
  }

  status(kind: ObjectKind, name: string): AnyStatus {
    return this.object(kind, name).status ?? {}
  }

  condition(kind: ObjectKind, name: string, type: string): Condition | undefined {
    return this.status(kind, name).conditions?.find((condition) => condition.type === type)
  }

  /** The versions in the spec of a Module. */
  listed(module = 'vpc'): string[] {
    const { versions } = this.object('Module', module).spec as { versions: { version: string }[] }
    return versions.map(({ version }) => version)
  }

  names(kind: ObjectKind): string[] {
    return this.objects
      .list(kind, { namespace: this.namespace })
      .map(({ metadata }) => metadata.name)
      .toSorted()
  }

  /** Paths of everything in storage, without the documentation of archives that are there. */
  async stored(): Promise<string[]> {
    const all = await this.#files()
    const isOf = (docs: string) => (path: string) => {
      const stem = path.replace(/\.(zip|tar\.gz)$/, '')
      return stem !== path && docs.startsWith(stem)
    }
    return all.filter((path) => !isDocs(path) || !all.some(isOf(path)))
  }

  /** Paths of the documentation in storage. */
  async documentation(): Promise<string[]> {
    return (await this.#files()).filter(isDocs)
  }

  async #files(): Promise<string[]> {
    const entries = await readdir(this.storage, { recursive: true, withFileTypes: true }).catch(
      () => [],
    )
    return entries
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name).slice(this.storage.length + 1))
      .toSorted()
  }
}
