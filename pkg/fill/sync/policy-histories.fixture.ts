import { hash } from 'node:crypto'
import { mkdir, mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
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
import { contentOfRelease, markOfModule } from './depot/marks.ts'
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
/** How many platforms a release of a provider has. */
export type Platforms = 1 | 2
const platforms = ['linux/amd64', 'darwin/arm64'] as const

/** An archive: the version of a module, or a version and a platform of a provider. */
export type Key = Name | `${Name} ${(typeof platforms)[number]}`
export const nameOf = (key: Key): Name => key.split(' ')[0] as Name

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

interface Offered {
  readonly content: Content
  readonly count: Platforms
}

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
  readonly #offered = new Map<Name, Offered>()
  /** Contents that the next question for a version brings, before it is answered. */
  readonly #races = new Map<Name, Content>()
  readonly #revisions = new Map<string, readonly [Key, Content]>()
  readonly #marks = new Map<string, Content>()
  /** Digests of stored files, by key and content. */
  readonly #files = new Map<string, string>()
  readonly #waiting = new Set<{ readonly atMs: number; readonly call: () => void }>()
  /** When somebody first read a content, by version and content. */
  readonly firstMs = new Map<string, number>()
  alarms: Alarm[] = []
  nowMs = Date.parse('2026-01-01T00:00:00Z')
  #objects = empty
  #syncs: Sync[] = []
  /** How many writes the process makes before it dies. */
  #writesLeft = Number.POSITIVE_INFINITY

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

  /** The archives that upstream offers. */
  get offered(): Key[] {
    return [...this.#offered].flatMap(([name, { count }]) => this.#keysOf(name, count))
  }

  #keysOf(name: Name, count: Platforms): Key[] {
    if (this.source !== 'provider') return [name]
    return platforms.slice(0, count).map((platform) => `${name} ${platform}` as const)
  }

  offer(name: Name, content: Content | undefined, count: Platforms = 1): void {
    if (content === undefined) this.#offered.delete(name)
    else this.#offered.set(name, { content, count })
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

  /** Lets the process die after so many writes. */
  die(writes: number): void {
    this.#writesLeft = writes
  }

  get isDead(): boolean {
    return this.#writesLeft < 0
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
      objects: this.#mortal(),
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
    if (this.isDead) this.#writesLeft = Number.POSITIVE_INFINITY
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
  named(): Name[] {
    const { versions = [] } = (this.parent?.spec ?? {}) as { versions?: { version: Name }[] }
    return versions.map(({ version }) => version)
  }

  /** The content that a status says is stored of each version. */
  stored(): Map<Key, Content> {
    const stored = new Map<Key, Content>()
    for (const version of this.#objects.list('Version')) {
      const { artifact } = this.status(version)
      const [key, content] = this.#revisions.get(artifact?.revision ?? '') ?? []
      if (key !== undefined && content !== undefined) stored.set(key, content)
    }
    return stored
  }

  /** The files whose bytes are not what their status says. */
  async wrongFiles(): Promise<string[]> {
    const files = await readdir(this.#storage, { recursive: true, withFileTypes: true })
    const wrong = this.#objects.list('Version').map(async (version) => {
      const { artifact } = this.status(version)
      if (artifact === undefined) return []
      const { fileName = '', sha256 = '', revision = '' } = artifact
      const file = files.find(({ name }) => name === fileName)
      if (file === undefined) return [`${fileName} is missing`]
      const digest = hash('sha256', await readFile(join(file.parentPath, fileName)))
      const what = (this.#revisions.get(revision) ?? []).join(' ')
      const expected = this.source === 'provider' ? revision.replace('sha256:', '') : sha256
      const known = this.#files.get(what) ?? digest
      this.#files.set(what, known)
      const isOther = [...this.#files].some(
        ([other, one]) => one === digest && other.at(-1) !== what.at(-1),
      )
      const isRight = digest === expected && digest === sha256 && digest === known && !isOther
      return isRight ? [] : [`${fileName} of ${what} has other bytes`]
    })
    return (await Promise.all(wrong)).flat()
  }

  /** The objects as text, without the times of polls and of checks of the storage. */
  state(): string {
    const all = this.save().map(({ metadata, ...one }) => ({ ...one, name: metadata.name }))
    return JSON.stringify(all, (key, value: unknown) =>
      timesOfChecks.has(key) ? undefined : value,
    )
  }

  /** The versions that lists had: since when each counts, and its content if they said it. */
  seen(): Map<Name, { readonly since: string; readonly content: Content | '' | undefined }> {
    const { seen = [] } = this.status(this.parent).listing ?? {}
    const all = seen.flatMap(({ since, versions }) =>
      versions.map((text) => {
        const [name, mark] = text.split('@')
        const content = mark && this.#marks.get(`${name} ${mark}`)
        return [name as Name, { since, content }] as const
      }),
    )
    return new Map(all)
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
      ([name, { content, count }]) =>
        [name, { platforms: platforms.slice(0, count), text: content }] as const,
    )
    this.#upstream.provider('acme/dns', Object.fromEntries(releases))
    const tags = all.map(([name, { content }]) => [name, content] as const)
    this.#upstream.repository(this.#url, Object.fromEntries(tags))
  }

  /** The objects as the process has them, which can die between two writes. */
  #mortal(): Objects {
    const objects = this.#objects
    const mortal =
      <A extends unknown[], R>(write: (...args: A) => Promise<R>) =>
      async (...args: A): Promise<R> => {
        this.#writesLeft -= 1
        this.#live()
        return write(...args)
      }
    return {
      ...objects,
      apply: mortal((...args: Parameters<Objects['apply']>) => objects.apply(...args)),
      create: mortal((...args: Parameters<Objects['create']>) => objects.create(...args)),
      patch: mortal((...args: Parameters<Objects['patch']>) => objects.patch(...args)),
      writeStatus: mortal((...args: Parameters<Objects['writeStatus']>) =>
        objects.writeStatus(...args),
      ),
      delete: mortal((...args: Parameters<Objects['delete']>) => objects.delete(...args)),
      event: (event) => {
        if (!this.isDead) objects.event(event)
      },
    }
  }

  #live(): void {
    if (this.isDead) throw new Error('the process is dead')
  }

  /** An upstream that notes when each content was read first, and changes what a race asks for. */
  #watched(): Sources {
    const note = (only?: string) => {
      for (const [name, { content, count }] of this.#offered) {
        if (only !== undefined && only !== name) continue
        for (const one of this.#keysOf(name, count)) {
          const key = `${one} ${content}`
          this.firstMs.set(key, Math.min(this.firstMs.get(key) ?? this.nowMs, this.nowMs))
        }
      }
    }
    const race = (version: string) => {
      const name = version as Name
      const content = this.#races.get(name)
      this.#races.delete(name)
      const offered = this.#offered.get(name)
      if (content !== undefined && offered) this.offer(name, content, offered.count)
    }
    return {
      provider: (origin: ProviderOrigin) => {
        const real = this.#upstream.provider(origin)
        return {
          ...real,
          list: async (options) => {
            this.#live()
            return real.list(options)
          },
          sums: async (version, ...rest) => {
            this.#live()
            const found = await real.sums(version, ...rest)
            note(version)
            return found
          },
          release: (version, ...rest) => {
            this.#live()
            race(version)
            return real.release(version, ...rest)
          },
          fetch: async (...rest) => {
            this.#live()
            return real.fetch(...rest)
          },
        }
      },
      module: (origin: ModuleOrigin) => {
        const real = this.#upstream.module(origin)
        return {
          ...real,
          list: async (options) => {
            this.#live()
            const found = await real.list(options)
            if (real.type === 'git' && (options.maxAgeMs ?? 0) < Number.POSITIVE_INFINITY) note()
            return found
          },
          fetch: async (...rest) => {
            this.#live()
            return real.fetch(...rest)
          },
          resolve: async (version, ...rest) => {
            this.#live()
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
    const provider = this.#upstream.provider({
      namespace: 'acme',
      name: 'dns',
      signature: 'IfPresent',
    })
    const type = this.source === 'registry' ? 'registry' : 'git'
    const module = this.#upstream.module({ source: { type, url: this.#url } })
    for (const name of names) {
      for (const content of contents) {
        for (const count of [1, 2] as const) {
          this.offer(name, content, count)
          if (this.source !== 'provider') {
            const { revision } = await module.resolve(name, options)
            this.#revisions.set(revision, [name, content])
            this.#marks.set(`${name} ${markOfModule(revision)}`, content)
            continue
          }
          for (const text of platforms.slice(0, count)) {
            const [os = '', arch = ''] = text.split('/')
            const { revision } = await provider.release(name, { os, arch }, options)
            this.#revisions.set(revision, [`${name} ${text}`, content])
          }
          const { versions } = await provider.list(options)
          const listed = versions.find(({ version }) => version === name)
          if (listed === undefined) throw new Error('it is not listed')
          const { mark } = await contentOfRelease(provider, listed, options)
          this.#marks.set(`${name} ${mark}`, content)
        }
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

const timesOfChecks: ReadonlySet<string> = new Set(['lastPoll', 'verifiedAt', 'rehashedAt'])
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
