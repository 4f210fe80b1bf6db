import type { Resource, ResourceSink } from '../../api/v1alpha1/v1alpha1.ts'
import { Turns } from '../../base/pacing/pacing.ts'
import type { Logger, Metrics } from '../../base/telemetry/telemetry.ts'
import type { ArchiveProbe } from './archive-state.ts'
import type { Definitions, Resolution } from './definitions.ts'
import { Digests } from './digests.ts'
import { createManifestMetrics } from './metrics.ts'
import { Publisher } from './publisher.ts'

/** Objects of one file that change in one step; more than that would keep requests waiting. */
const maxTogether = 1_000

interface CatalogFeedOptions {
  readonly sink: ResourceSink
  readonly probe: ArchiveProbe
  readonly definitions: Pick<Definitions<Resource>, 'get'>
  readonly log: Logger
  readonly metrics: Metrics
}

/** Hands what a folder holds to the catalog, with the digests of archives that the manifests do not say. */
export class CatalogFeed {
  readonly #definitions: Pick<Definitions<Resource>, 'get'>
  readonly #publisher: Publisher
  readonly #digests: Digests
  readonly #metrics: ReturnType<typeof createManifestMetrics>
  #loaded = false

  constructor({ sink, probe, definitions, log, metrics }: CatalogFeedOptions) {
    this.#definitions = definitions
    this.#publisher = new Publisher(sink)
    this.#digests = new Digests({ probe, log, onChange: (ids) => this.#republish(ids) })
    this.#metrics = createManifestMetrics(metrics, () => this.#loaded)
  }

  /** Hands on a first list. Resolves when archives were hashed, or after `firstDigestsMs`. */
  async load(all: readonly Resolution<Resource>[], firstDigestsMs: number): Promise<void> {
    for (const { key, object } of all) this.#digests.set(key, object)
    const resources = all.flatMap(({ id, object }) =>
      object === undefined ? [] : [[id, object] as const],
    )
    await this.#publisher.replace(resources, new Turns())
    await this.#digests.start(firstDigestsMs)
    this.#loaded = true
  }

  /** Hands on changes, those of one file in one step, so that no reader sees half of a change. */
  async take(changes: readonly Resolution<Resource>[], readMs: number): Promise<void> {
    const turns = new Turns()
    for (const ofFile of Map.groupBy(changes, ({ file }) => file).values()) {
      for (let at = 0; at < ofFile.length; at += maxTogether) {
        const step = ofFile.slice(at, at + maxTogether)
        for (const { key, object } of step) this.#digests.set(key, object)
        for (const { id, key, object } of step) {
          this.#publisher.publish(id, key, object && this.#digests.complete(object))
          this.#metrics.published(key.kind, readMs)
        }
        await turns.yieldIfDue()
      }
    }
  }

  close(): Promise<void> {
    return this.#digests.close()
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
