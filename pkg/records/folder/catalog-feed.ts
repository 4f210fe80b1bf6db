import { isDeepStrictEqual } from 'node:util'
import {
  kindNames,
  type ObjectKey,
  type Resource,
  type ResourceSink,
} from '../../api/v1alpha1/v1alpha1.ts'
import { Turns } from '../../base/pacing/pacing.ts'
import {
  changeLagHistogram,
  type Logger,
  type Metrics,
  syncedGauge,
} from '../../base/telemetry/telemetry.ts'
import type { ArchiveProbe } from './archive-state.ts'
import type { Definitions, Resolution } from './definitions.ts'
import { Digests } from './digests.ts'

/** Maximum number of objects that change in one step. More would delay requests. */
const maxTogether = 1_000
/** Maximum number of objects in a log line. */
const maxNamed = 5

type Effect = 'added' | 'changed' | 'removed'

interface CatalogFeedOptions {
  readonly sink: ResourceSink
  readonly probe: ArchiveProbe
  readonly definitions: Pick<Definitions<Resource>, 'get'>
  readonly log: Logger
  readonly metrics: Metrics
}

/** Passes the content of a folder to the catalog, with the digests of archives that the manifests lack. */
export class CatalogFeed {
  readonly #definitions: Pick<Definitions<Resource>, 'get'>
  readonly #sink: ResourceSink
  readonly #digests: Digests
  readonly #lag: ReturnType<typeof changeLagHistogram>
  readonly #log: Logger
  /** The objects in the sink. */
  readonly #handed = new Map<string, Resource>()
  #loaded = false

  constructor({ sink, probe, definitions, log, metrics }: CatalogFeedOptions) {
    this.#definitions = definitions
    this.#sink = sink
    this.#digests = new Digests({ probe, log, onChange: (ids) => this.#republish(ids) })
    syncedGauge(metrics, () => kindNames.map((kind) => [kind, this.#loaded] as const))
    this.#lag = changeLagHistogram(metrics)
    this.#log = log
  }

  /** Passes on the first list. Resolves when archives were hashed, or after `firstDigestsMs`. */
  async load(all: readonly Resolution<Resource>[], firstDigestsMs: number): Promise<void> {
    for (const { key, object } of all) this.#digests.set(key, object)
    const turns = new Turns()
    const replacements = new Map(kindNames.map((kind) => [kind, this.#sink.beginReplace(kind)]))
    for (const { id, object } of all) {
      if (object === undefined) continue
      const isTaken = this.#try(object, () => replacements.get(object.kind)?.add(object))
      if (isTaken) this.#handed.set(id, object)
      await turns.yieldIfDue()
    }
    for (const replacement of replacements.values()) await replacement.commit()
    await this.#digests.start(firstDigestsMs)
    this.#loaded = true
  }

  /** Passes on changes. No reader sees a part of those that belong together. */
  async take(changes: readonly Resolution<Resource>[], readMs: number): Promise<void> {
    const counts: Partial<Record<Effect, number>> = {}
    const objects: string[] = []
    const turns = new Turns()
    for (const group of groupsOf(changes)) {
      for (let at = 0; at < group.length; at += maxTogether) {
        const step = group.slice(at, at + maxTogether)
        for (const { key, object } of step) this.#digests.set(key, object)
        for (const { id, key, object } of step) {
          const effect = this.#hand(id, key, object)
          this.#lag.observe({ kind: key.kind }, (performance.now() - readMs) / 1000)
          if (effect === undefined) continue
          counts[effect] = (counts[effect] ?? 0) + 1
          if (objects.length < maxNamed) objects.push(`${key.kind} ${key.namespace}/${key.name}`)
        }
        await turns.yieldIfDue()
      }
    }
    if (objects.length > 0) this.#log.info({ ...counts, objects }, 'manifests changed')
  }

  close(): Promise<void> {
    return this.#digests.close()
  }

  /** Passes on Versions whose archive has changed. */
  #republish(ids: Iterable<string>): void {
    for (const id of ids) {
      const resource = this.#definitions.get(id)
      if (resource === undefined) continue
      const { kind, metadata } = resource
      this.#hand(id, { kind, namespace: metadata.namespace, name: metadata.name }, resource)
    }
  }

  /** @returns undefined if the catalog has the same already */
  #hand(id: string, key: ObjectKey, resource: Resource | undefined): Effect | undefined {
    const handed = this.#handed.get(id)
    const whole = resource && this.#digests.complete(resource)
    if (handed === whole || isDeepStrictEqual(handed, whole)) return undefined
    if (whole === undefined) {
      this.#sink.apply({ type: 'delete', ...key })
      this.#handed.delete(id)
      return 'removed'
    }
    if (!this.#try(whole, () => this.#sink.apply({ type: 'upsert', resource: whole })))
      return undefined
    this.#handed.set(id, whole)
    return handed === undefined ? 'added' : 'changed'
  }

  /** An object that the catalog refuses must not block others. @returns whether it was accepted */
  #try({ kind, metadata: { namespace, name } }: Resource, use: () => void): boolean {
    try {
      use()
      return true
    } catch (err) {
      this.#log.error({ kind, namespace, name, reason: 'Internal', err }, 'object rejected')
      return false
    }
  }
}

/** Groups the changes of one file, and the platforms of one version of a provider, each of which may have its own file. */
function groupsOf(changes: readonly Resolution<Resource>[]): Iterable<Resolution<Resource>[]> {
  const groups = new Set<Resolution<Resource>[]>()
  const ofReleases = new Map<string, Resolution<Resource>[]>()
  for (const ofFile of Map.groupBy(changes, ({ file }) => file).values()) {
    const releases = ofFile.flatMap(({ object }) => releaseOf(object) ?? [])
    const group = releases.map((release) => ofReleases.get(release)).find(Boolean) ?? []
    for (const release of releases) ofReleases.set(release, group)
    for (const change of ofFile) group.push(change)
    groups.add(group)
  }
  return groups
}

function releaseOf(object: Resource | undefined): string | undefined {
  if (object?.kind !== 'Version' || object.spec.type !== 'Provider') return undefined
  const { metadata, spec } = object
  return JSON.stringify([metadata.namespace, spec.providerConfigRef?.name, spec.version])
}
