import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type {
  Depot,
  Module,
  Provider,
  UpstreamPolicy,
  Version,
} from '../../api/v1alpha1/v1alpha1.ts'
import { defaultLimits } from '../../archives/archive/archive.ts'
import { openSpool, type Spool } from '../../archives/spool/spool.ts'
import { openArchiveStore } from '../../archives/storage/storage.ts'
import { createLogger, createMetrics } from '../../base/telemetry/telemetry.ts'
import { type Objects, plannedObjects, type StoredObject } from '../../records/store/store.ts'
import type { Timers } from '../queue/queue.ts'
import {
  FillError,
  type ModuleOrigin,
  type ProviderOrigin,
  type Sources,
} from '../sources/sources.ts'
import { type Sync, startSync } from './sync.ts'
import { TestUpstream } from './upstream.fixture.ts'

type AnyStatus = NonNullable<Version['status']> &
  NonNullable<Module['status']> &
  NonNullable<Provider['status']> &
  NonNullable<Depot['status']>

export const names = ['1.0.0', '1.0.1', '1.1.0', '1.2.0', '2.0.0'] as const
export const contents = ['a', 'b', 'c'] as const
export const sources = ['provider', 'git', 'git that follows', 'registry'] as const
export type Name = (typeof names)[number]
export type Content = (typeof contents)[number]
type Source = (typeof sources)[number]

export const hour = 3_600_000
const namespace = 'team'
const url = { git: 'https://git.test/vpc.git', registry: 'registry.test/acme/vpc/aws' }
const kinds = ['Depot', 'Module', 'Provider', 'Version'] as const
const kindOf = (source: Source) => (source === 'provider' ? 'Provider' : 'Module')
const addresses = {
  provider: 'registry.test/acme/dns',
  git: 'git.test/vpc',
  'git that follows': 'git.test/vpc',
  registry: 'registry.test/acme/vpc/aws',
} as const satisfies Record<Source, string>

/** An alarm about a version that waits, or about one that is stored. */
interface Alarm {
  readonly kind: string
  readonly note: string
}

/** One Depot, whose upstream, clock, policy and process a history changes. All time is made up. */
export class History {
  readonly source: Source
  readonly #upstream: TestUpstream
  readonly #spool: Spool
  readonly #folder: string
  readonly #storage: string
  readonly #offered = new Map<Name, Content>()
  /** Contents that the next question for a version brings, before it is answered. */
  readonly #races = new Map<Name, Content>()
  readonly #revisions = new Map<string, readonly [Name, Content]>()
  readonly #waiting = new Set<{ readonly atMs: number; readonly call: () => void }>()
  /** When somebody first read a content, by version and content. */
  readonly firstMs = new Map<string, number>()
  alarms: Alarm[] = []
  nowMs = Date.parse('2026-01-01T00:00:00Z')
  #objects = empty
  #syncs: Sync[] = []

  private constructor(source: Source, folder: string, spool: Spool) {
    this.source = source
    this.#folder = folder
    this.#storage = join(folder, 'archives')
    this.#spool = spool
    this.#upstream = new TestUpstream(spool)
  }

  static async open(source: Source): Promise<History> {
    const folder = await mkdtemp(join(tmpdir(), 'depot-history-'))
    await mkdir(join(folder, 'archives'))
    const spool = await openSpool({ dir: join(folder, 'spool'), sizeBytes: 2 ** 26 })
    const history = new History(source, folder, spool)
    await history.#learnRevisions()
    history.#objects = history.#copy([])
    const storageConfig = { fileSystem: { directoryPath: 'depot' } }
    const { git, registry } = url
    const module = {
      provider: { moduleConfigs: [] },
      git: { moduleConfigs: [{ source: { type: 'git', url: git }, immutable: true }] },
      'git that follows': {
        moduleConfigs: [{ source: { type: 'git', url: git }, immutable: false }],
      },
      registry: {
        moduleConfigs: [{ source: { type: 'registry', url: registry }, immutable: true }],
      },
    }[source].moduleConfigs.map((config) => ({ name: 'vpc', provider: 'aws', ...config }))
    const provider = { name: 'dns', namespace: 'acme', signature: 'IfPresent' }
    await history.#objects.apply({
      kind: 'Depot',
      metadata: { name: 'main', namespace, labels: {}, annotations: {} },
      spec: {
        global: { storageConfig },
        moduleConfigs: module,
        providerConfigs: source === 'provider' ? [provider] : [],
        pollingIntervalMinutes: 12 * 60,
      },
    })
    return history
  }

  async close(): Promise<void> {
    await this.stop()
    await this.#spool.close()
    await rm(this.#folder, { recursive: true })
  }

  get address(): string {
    return addresses[this.source]
  }

  get offered(): ReadonlyMap<Name, Content> {
    return this.#offered
  }

  offer(name: Name, content: Content | undefined): void {
    if (content === undefined) this.#offered.delete(name)
    else this.#offered.set(name, content)
    this.#publish()
  }

  race(name: Name, content: Content): void {
    this.#races.set(name, content)
  }

  fail(what: 'list' | 'sums' | 'release' | 'resolve' | 'fetch', name: Name): void {
    const of = this.source === 'provider' ? 'acme/dns' : this.#url
    const request = what === 'list' ? `list ${of}` : `${what} ${of} ${name}`
    this.#upstream.faults.set(request, new FillError('UpstreamNotFound', 'nothing is there yet'))
  }

  heal(): void {
    this.#upstream.faults.clear()
  }

  async setPolicy(policy: UpstreamPolicy | undefined): Promise<void> {
    const path = '/spec/policy'
    const patch = policy
      ? { op: 'add' as const, path, value: policy }
      : { op: 'remove' as const, path }
    const { policy: before } = (this.object('Depot', 'main')?.spec ?? {}) as Depot['spec']
    if (policy !== undefined || before !== undefined) {
      await this.#objects.patch({ kind: 'Depot', namespace, name: 'main' }, [patch])
    }
  }

  /** @param processes more than one where another one has not ended yet */
  async start(processes = 1): Promise<void> {
    if (this.#syncs.length > 0) return
    this.#syncs = await Promise.all(Array.from({ length: processes }, () => this.#process()))
    await this.#idle()
  }

  async #idle(): Promise<void> {
    for (const sync of this.#syncs) await sync.idle()
  }

  #process(): Promise<Sync> {
    const timers: Timers = {
      now: () => this.nowMs,
      after: (delayMs, call) => {
        const one = { atMs: this.nowMs + delayMs, call }
        this.#waiting.add(one)
        return () => this.#waiting.delete(one)
      },
    }
    return startSync({
      limits: defaultLimits,
      objects: this.#objects,
      sources: this.#watched(),
      archives: openArchiveStore(
        { filesystemMountPath: this.#storage },
        { text: `${namespace}=*` },
      ),
      spool: this.#spool,
      apiGroup: 'depot.internal',
      log: createLogger('silent'),
      metrics: createMetrics({ version: 'test' }),
      clock: () => this.nowMs,
      timers,
    })
  }

  async stop(): Promise<void> {
    await Promise.all(this.#syncs.map((sync) => sync.stop()))
    this.#syncs = []
    this.#waiting.clear()
  }

  async pass(ms: number): Promise<void> {
    this.nowMs += ms
    // Work that is done makes other work due.
    for (let round = 0; round < 5; round += 1) {
      const due = [...this.#waiting].filter(({ atMs }) => atMs <= this.nowMs)
      for (const one of due) {
        this.#waiting.delete(one)
        one.call()
      }
      await this.#idle()
      if (due.length === 0) return
    }
  }

  /** The objects, as a backup has them. */
  save(): StoredObject[] {
    return kinds.flatMap((kind) => structuredClone(this.#objects.list(kind)))
  }

  /** Makes the objects those of a backup. */
  async restore(saved: readonly StoredObject[]): Promise<void> {
    await this.stop()
    this.#objects = this.#copy(saved)
  }

  object(kind: (typeof kinds)[number], name: string): StoredObject | undefined {
    return this.#objects.get(kind, namespace, name)
  }

  get parent(): StoredObject | undefined {
    return this.#objects.list(kindOf(this.source))[0]
  }

  status(object: StoredObject | undefined): Partial<AnyStatus> {
    return object?.status ?? {}
  }

  /** The versions that the spec of the Module or Provider names. */
  named(): string[] {
    const { versions = [] } = (this.parent?.spec ?? {}) as { versions?: { version: string }[] }
    return versions.map(({ version }) => version)
  }

  /** The content that is stored of each version. */
  stored(): Map<Name, Content> {
    const stored = new Map<Name, Content>()
    for (const version of this.#objects.list('Version')) {
      const { artifact } = this.status(version)
      const [name, content] = this.#revisions.get(artifact?.revision ?? '') ?? []
      if (name !== undefined && content !== undefined) stored.set(name, content)
    }
    return stored
  }

  async archives(): Promise<string[]> {
    const entries = await readdir(this.#storage, { recursive: true, withFileTypes: true })
    return entries.filter((entry) => entry.isFile()).map(({ name }) => name)
  }

  get #url(): string {
    return this.source === 'registry' ? url.registry : url.git
  }

  #publish(): void {
    const all = [...this.#offered]
    const releases = all.map(
      ([name, text]) => [name, { platforms: ['linux/amd64'], text }] as const,
    )
    this.#upstream.provider('acme/dns', Object.fromEntries(releases))
    this.#upstream.repository(this.#url, Object.fromEntries(all))
  }

  /** An upstream that notes when each content was read first, and changes what a race asks for. */
  #watched(): Sources {
    const note = (only?: string) => {
      for (const [name, content] of this.#offered) {
        const key = `${name} ${content}`
        if (only === undefined || only === name) {
          this.firstMs.set(key, Math.min(this.firstMs.get(key) ?? this.nowMs, this.nowMs))
        }
      }
    }
    const race = (version: string) => {
      const name = version as Name
      const content = this.#races.get(name)
      this.#races.delete(name)
      if (content !== undefined && this.#offered.has(name)) this.offer(name, content)
    }
    return {
      provider: (origin: ProviderOrigin) => {
        const real = this.#upstream.provider(origin)
        return {
          ...real,
          sums: async (version, ...rest) => {
            const found = await real.sums(version, ...rest)
            note(version)
            return found
          },
          release: (version, ...rest) => {
            race(version)
            return real.release(version, ...rest)
          },
        }
      },
      module: (origin: ModuleOrigin) => {
        const real = this.#upstream.module(origin)
        return {
          ...real,
          list: async (options) => {
            const found = await real.list(options)
            if (real.type === 'git' && (options.maxAgeMs ?? 0) < Number.POSITIVE_INFINITY) note()
            return found
          },
          resolve: async (version, ...rest) => {
            if (rest[0].maxAgeMs === undefined) race(version)
            const found = await real.resolve(version, ...rest)
            note(version)
            return found
          },
        }
      },
    }
  }

  async #learnRevisions(): Promise<void> {
    const options = { signal: new AbortController().signal }
    for (const name of names) {
      for (const content of contents) {
        this.offer(name, content)
        const found =
          this.source === 'provider'
            ? await this.#upstream
                .provider({ namespace: 'acme', name: 'dns', signature: 'IfPresent' })
                .release(name, { os: 'linux', arch: 'amd64' }, options)
            : await this.#upstream
                .module({
                  source: { type: this.source === 'registry' ? 'registry' : 'git', url: this.#url },
                })
                .resolve(name, options)
        this.#revisions.set(found.revision, [name, content])
      }
      this.offer(name, undefined)
    }
  }

  #copy(saved: readonly StoredObject[]): Objects {
    const list: Objects['list'] = (kind) => saved.filter((one) => one.kind === kind)
    const copy = plannedObjects(
      { ...empty, list },
      { apiGroup: 'depot.internal', clock: () => this.nowMs },
    )
    return {
      ...copy,
      event: ({ object, reason, note }) => {
        if (reason === 'UpstreamSubstitution') this.alarms.push({ kind: object.kind, note })
      },
    }
  }
}

const nothing = () => undefined
const empty: Objects = {
  namespaces: undefined,
  isFolder: false,
  ready: Promise.resolve(),
  unreadable: nothing,
  waitsForFinalizers: () => false,
  get: nothing,
  list: () => [],
  onChange: () => nothing,
  fresh: () => Promise.resolve(undefined),
  apply: () => Promise.reject(new Error('nothing is written here')),
  create: () => Promise.reject(new Error('nothing is written here')),
  patch: () => Promise.reject(new Error('nothing is written here')),
  writeStatus: () => Promise.reject(new Error('nothing is written here')),
  delete: () => Promise.resolve(),
  writeReadme: () => Promise.resolve(undefined),
  hasReadme: () => Promise.resolve(true),
  event: nothing,
  secret: () => Promise.resolve(undefined),
  notes: {
    all: () => Promise.resolve(new Map()),
    put: () => Promise.resolve(),
    drop: () => Promise.resolve(),
  },
  close: () => Promise.resolve(),
}
