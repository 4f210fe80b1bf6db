import {
  formatPath,
  type Kind,
  type Parsed,
  parseResource,
  type Resource,
  type ResourceSink,
} from '../apis/v1alpha1/v1alpha1.ts'
import { messageOf } from '../errors/errors.ts'
import type { Logger } from '../telemetry/telemetry.ts'
import type { ObservedObject } from './object.ts'

/** Where a reflector puts what it reads; none of these throws. */
export interface Intake {
  /** Begins to replace everything by a fresh list; an abandoned one needs no clean-up. */
  begin(): Replacement
  put(object: ObservedObject): void
  remove(object: ObservedObject): void
}

export interface Replacement {
  add(object: ObservedObject): void
  commit(): void
}

/** Objects that were left out, by namespace and name: the change that was logged, and why. */
type Rejected = Map<string, { resourceVersion: string; reason: RejectReason }>
/** `schema`: the object is not valid. `internal`: it is, and taking it in failed. */
type RejectReason = 'schema' | 'internal'

/** Checks objects of one kind and hands the good ones on; a bad one is left out, counted and logged once per change. */
export class ResourceIntake implements Intake {
  readonly #kind: Kind
  readonly #sink: ResourceSink
  readonly #log: Logger
  #rejected: Rejected = new Map()

  constructor({ kind, sink, log }: { kind: Kind; sink: ResourceSink; log: Logger }) {
    this.#kind = kind
    this.#sink = sink
    this.#log = log
  }

  rejections(): ReadonlyMap<RejectReason, number> {
    const counts = new Map<RejectReason, number>([
      ['schema', 0],
      ['internal', 0],
    ])
    for (const { reason } of this.#rejected.values()) {
      counts.set(reason, (counts.get(reason) ?? 0) + 1)
    }
    return counts
  }

  begin(): Replacement {
    const replacement = this.#sink.beginReplace(this.#kind)
    const rejected: Rejected = new Map()
    return {
      add: (object) => this.#take(object, rejected, (resource) => replacement.add(resource)),
      commit: () => {
        replacement.commit()
        this.#rejected = rejected
      },
    }
  }

  put(object: ObservedObject): void {
    const known = this.#take(object, this.#rejected, (resource) =>
      this.#sink.apply({ type: 'upsert', resource }),
    )
    if (!known) this.#delete(object)
  }

  remove(object: ObservedObject): void {
    this.#rejected.delete(keyOf(object))
    this.#delete(object)
  }

  /** An object that is bad now is no longer what it was before: that must not be served. */
  #delete({ metadata: { namespace = '', name } }: ObservedObject): void {
    try {
      this.#sink.apply({ type: 'delete', kind: this.#kind, namespace, name })
    } catch (err) {
      this.#log.error({ kind: this.#kind, namespace, name, err }, 'object could not be removed')
    }
  }

  #take(object: ObservedObject, rejected: Rejected, use: (resource: Resource) => void): boolean {
    try {
      const parsed: Parsed<Resource> = parseResource(this.#kind, object)
      if (parsed.ok) {
        use(parsed.resource)
        if (rejected.size > 0) rejected.delete(keyOf(object))
        return true
      }
      const [issue] = parsed.issues
      this.#reject(object, rejected, 'schema', {
        field: formatPath(issue?.path ?? []),
        message: issue?.message,
      })
    } catch (err) {
      this.#reject(object, rejected, 'internal', { message: messageOf(err), err })
    }
    return false
  }

  #reject(
    object: ObservedObject,
    rejected: Rejected,
    reason: RejectReason,
    why: Record<string, unknown>,
  ): void {
    const { namespace = '', name, resourceVersion } = object.metadata
    const key = keyOf(object)
    const logged = this.#rejected.get(key) ?? rejected.get(key)
    rejected.set(key, { resourceVersion, reason })
    if (logged?.resourceVersion === resourceVersion) return
    this.#log.warn(
      { kind: this.#kind, namespace, name, ...why, resourceVersion, reason },
      'object rejected',
    )
  }
}

function keyOf({ metadata: { namespace = '', name } }: ObservedObject): string {
  return `${namespace}/${name}`
}
