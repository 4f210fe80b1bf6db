import { parseConstraints, selectVersions } from '../../../pkg/api/constraint/constraint.ts'
import { FillError } from '../../../pkg/fill/sources/sources.ts'
import type { Scene } from '../../../pkg/fill/sync/scene.fixture.ts'
import type { ObjectKind } from '../../../pkg/records/store/store.ts'
import type { Random } from './random.fixture.ts'
import type { Installable } from './served.fixture.ts'

/** A module of the Depot, as people configure it. */
interface WantedModule {
  readonly name: string
  url: string
  constraint: string
  limit: number | undefined
  immutable: boolean | undefined
  isListed: boolean
}

export const urls = ['vpc', 'dns', 'vm'].map((name) => `https://git.test/acme/${name}`)
export const platforms = ['linux/amd64', 'darwin/arm64', 'windows/amd64']
const signer = 'A'.repeat(40)
const hour = 60 * 60_000

/** Everything that people and upstreams change, and how it is written. */
export class World {
  readonly scene: Scene
  readonly random: Random
  /** Contents by tag, by URL. */
  readonly tags = new Map<string, Map<string, string>>()
  /** Platforms by version of the provider. */
  readonly releases = new Map<string, string[]>()
  readonly modules: WantedModule[]
  provider = { constraint: '', limit: undefined as number | undefined, isListed: true }
  storage = 'one'
  deletionPolicy: string | undefined
  isSuspended = false
  isDepotThere = true
  annotations: Record<string, string> = {}
  /** The Module that a person writes. */
  lone = { versions: [] as string[], storage: 'one', limit: undefined as number | undefined }
  /** Number of tagged contents. */
  #count = 0

  constructor(scene: Scene, random: Random) {
    this.scene = scene
    this.random = random
    this.modules = urls.map((url) => ({
      name: url.slice(url.lastIndexOf('/') + 1),
      url,
      constraint: '',
      limit: undefined,
      immutable: undefined,
      isListed: true,
    }))
    for (const url of urls) {
      this.tags.set(url, new Map())
      for (let minor = 0; minor < 8; minor += 1) this.tag(url, `1.${minor}.0`)
    }
    for (let minor = 0; minor < 4; minor += 1) this.releases.set(`1.${minor}.0`, [...platforms])
    this.lone.versions = ['1.0.0', '1.1.0', '1.2.0']
  }

  /** Tags a version with new content. */
  tag(url: string, version: string): void {
    this.#count += 1
    this.tagsOf(url).set(version, `${url} ${version} ${this.#count}`)
  }

  tagsOf(url: string): Map<string, string> {
    const tags = this.tags.get(url) ?? new Map<string, string>()
    this.tags.set(url, tags)
    return tags
  }

  /** Modules and Providers of the Depot. */
  get managed(): string[] {
    return [...this.modules.map(({ name }) => `Module ${name}`), 'Provider cloud']
  }

  async writeAll(): Promise<void> {
    this.publish()
    await this.writeDepot()
    await this.writeLone()
  }

  /** Gives upstream what people tagged and released. */
  publish(): void {
    const { upstream } = this.scene
    for (const [url, tags] of this.tags) {
      upstream.repository(
        url,
        Object.fromEntries([...tags].map(([tag, text]) => [`v${tag}`, text])),
      )
    }
    const releases = [...this.releases].map(([version, all]) => [
      version,
      { platforms: all, signer },
    ])
    upstream.provider('acme/cloud', Object.fromEntries(releases))
  }

  writeDepot(): Promise<void> {
    this.isDepotThere = true
    const moduleConfigs = this.modules
      .filter(({ isListed }) => isListed)
      .map(({ name, url, constraint, limit, immutable }) => ({
        name,
        provider: 'aws',
        source: { type: 'git', url },
        ...(constraint !== '' && { versionConstraints: constraint }),
        ...(limit !== undefined && { versionHistoryLimit: limit }),
        ...(immutable !== undefined && { immutable }),
      }))
    const { constraint, limit, isListed } = this.provider
    const provider = {
      name: 'cloud',
      namespace: 'acme',
      ...(constraint !== '' && { versionConstraints: constraint }),
      ...(limit !== undefined && { versionHistoryLimit: limit }),
    }
    return this.scene.write(
      'Depot',
      'main',
      {
        global: { storageConfig: { fileSystem: { directoryPath: this.storage } } },
        moduleConfigs,
        providerConfigs: isListed ? [provider] : [],
        pollingIntervalMinutes: 5,
        suspend: this.isSuspended,
        ...(this.deletionPolicy !== undefined && { deletionPolicy: this.deletionPolicy }),
      },
      { annotations: this.annotations },
    )
  }

  writeLone(): Promise<void> {
    const { versions, storage, limit } = this.lone
    return this.scene.write('Module', 'lone', {
      moduleConfig: {
        provider: 'aws',
        source: { type: 'git', url: urls[0] },
        storageConfig: { fileSystem: { directoryPath: storage } },
        ...(limit !== undefined && { versionHistoryLimit: limit }),
      },
      versions: versions.map((version) => ({ version })),
    })
  }

  breakHost(url: string): void {
    this.scene.upstream.faults.set(url, new FillError('FetchFailed', `${url} is unreachable`))
  }

  mendHost(url: string): void {
    this.scene.upstream.faults.delete(url)
  }

  later(hours: number): void {
    this.scene.aheadMs += hours * hour
  }

  /** Annotates an object, as a person does with kubectl. In a folder, the program writes it into the file. */
  async annotate(kind: ObjectKind, name: string, annotations: object): Promise<void> {
    const { namespace } = this.scene
    const ref = { kind, namespace, name }
    if (this.scene.objects.get(kind, namespace, name) === undefined) return
    await this.scene.objects.patch(ref, { metadata: { annotations } })
  }

  /** Whether the specs that people wrote exclude a version. */
  excludes(one: Installable, before: Iterable<Installable>): boolean {
    const name = one.parent.split(' ')[1] ?? ''
    const siblings = [...before].filter(({ parent }) => parent === one.parent)
    const known = siblings.map(({ version }) => version)
    if (name === 'lone') return excludedBy(one.version, [], this.lone.versions, '', this.lone.limit)
    const { constraint, limit } =
      name === 'cloud'
        ? this.provider
        : (this.modules.find((module) => module.name === name) ?? {
            constraint: '',
            limit: undefined,
          })
    const listed =
      name === 'cloud'
        ? [...this.releases.keys()]
        : [...this.tagsOf(this.modules.find((module) => module.name === name)?.url ?? '').keys()]
    return excludedBy(one.version, known, listed, constraint, limit)
  }
}

/** A constraint with a mistake excludes nothing. */
function excludedBy(
  version: string,
  known: readonly string[],
  listed: readonly string[],
  constraint: string,
  limit: number | undefined,
): boolean {
  try {
    const { versions } = selectVersions([...known, ...listed], parseConstraints(constraint), {
      historyLimit: limit,
    })
    return !versions.includes(version)
  } catch {
    return false
  }
}
