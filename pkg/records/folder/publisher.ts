import { isDeepStrictEqual } from 'node:util'
import {
  kindNames,
  type ObjectKey,
  type Resource,
  type ResourceSink,
} from '../../api/v1alpha1/v1alpha1.ts'
import type { Turns } from '../../base/pacing/pacing.ts'

/** Hands on what differs from what was handed on before. */
export class Publisher {
  readonly #sink: ResourceSink
  readonly #handed = new Map<string, Resource>()

  constructor(sink: ResourceSink) {
    this.#sink = sink
  }

  /** Hands on a first list of every kind. */
  async replace(
    resources: Iterable<readonly [id: string, resource: Resource]>,
    turns: Turns,
  ): Promise<void> {
    const replacements = new Map(kindNames.map((kind) => [kind, this.#sink.beginReplace(kind)]))
    for (const [id, resource] of resources) {
      this.#handed.set(id, resource)
      replacements.get(resource.kind)?.add(resource)
      await turns.yieldIfDue()
    }
    for (const replacement of replacements.values()) await replacement.commit()
  }

  publish(id: string, { kind, namespace, name }: ObjectKey, resource: Resource | undefined): void {
    const handed = this.#handed.get(id)
    if (handed === resource || isDeepStrictEqual(handed, resource)) return
    if (resource === undefined) {
      this.#sink.apply({ type: 'delete', kind, namespace, name })
      this.#handed.delete(id)
    } else {
      this.#sink.apply({ type: 'upsert', resource })
      this.#handed.set(id, resource)
    }
  }
}
