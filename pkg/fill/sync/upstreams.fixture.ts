import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { stringify } from 'yaml'
import { startUpstreams, type Upstreams } from '../../../hack/testbed/upstream/upstreams.ts'
import { createLogger } from '../../base/telemetry/telemetry.ts'
import type { ObjectPlace } from '../../records/store/conformance.fixture.ts'
import { configMapIn } from '../../records/store/folder/config-map.fixture.ts'
import { folderObjects } from '../../records/store/store.ts'
import { type LocalSources, localSources } from '../sources/sources.fixture.ts'
import { Scene } from './scene.fixture.ts'
import type { Sync, SyncOptions } from './sync.ts'

/** Reconcilers over a folder, whose sources ask servers of this machine. */
export class ServedScene implements AsyncDisposable {
  readonly upstreams: Upstreams
  readonly scene: Scene
  readonly dir: string
  #local: LocalSources | undefined

  private constructor(upstreams: Upstreams, scene: Scene, dir: string) {
    this.upstreams = upstreams
    this.scene = scene
    this.dir = dir
  }

  static async open(): Promise<ServedScene> {
    const dir = await mkdtemp(join(tmpdir(), 'depot-sync-objects-'))
    const scene = await Scene.open(folderPlace(dir), 'team')
    return new ServedScene(await startUpstreams(), scene, dir)
  }

  /** Starts the reconcilers as a new process does: it remembers only what is on the disk. */
  async begin(options: Partial<SyncOptions> = {}): Promise<Sync> {
    await this.scene.stop()
    this.#local = await (this.#local?.restart() ?? this.#sources())
    return this.scene.begin({ sources: this.#local.sources, ...options })
  }

  async run(options: Partial<SyncOptions> = {}): Promise<void> {
    await (await this.begin(options)).idle()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.scene.close()
    await this.#local?.close()
    await this.upstreams[Symbol.asyncDispose]()
    await rm(this.dir, { recursive: true })
  }

  async #sources(): Promise<LocalSources> {
    const { github, registry, caFile } = this.upstreams
    const hosts = [...github.hosts, registry.host, registry.downloadHost]
    return localSources({ ca: await readFile(caFile, 'utf8') }, hosts, {
      upstreamHosts: [registry.host],
      githubApiUrl: github.apiUrl,
      clock: () => Date.now() + this.scene.aheadMs,
    })
  }
}

/**
 * Objects in files of one folder.
 *
 * @param restMs each removal waits for it, so tests of many removals take less than a process does
 */
export function folderPlace(dir: string, { restMs = 100 } = {}): ObjectPlace {
  const fileOf = (kind: string, name: string) => join(dir, `${kind.toLowerCase()}-${name}.yaml`)
  const log = createLogger('silent')
  return {
    open: () => folderObjects({ dir, apiGroup: 'depot.internal', watch: true, restMs, log }),
    async write(manifest) {
      await writeFile(fileOf(manifest.kind, manifest.metadata.name), stringify(manifest))
    },
    remove: ({ kind, name }) => rm(fileOf(kind, name)),
    configMap: (namespace, name) => configMapIn(dir, namespace, name),
    writeSecret: async () => undefined,
    close: () => rm(dir, { recursive: true }),
  }
}

/** Reconcilers over a folder of their own, which is removed after the test. */
export async function sceneInFolder(): Promise<{ readonly scene: Scene; readonly dir: string }> {
  const dir = await mkdtemp(join(tmpdir(), 'depot-sync-objects-'))
  const scene = await Scene.open(folderPlace(dir), 'team')
  onTestFinished(async () => {
    await scene.close()
    await rm(dir, { recursive: true })
  })
  return { scene, dir }
}
