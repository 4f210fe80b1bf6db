import {
  type ComparableSink,
  formatPath,
  type Kind,
  mistakesIn,
  type ObjectKey,
  type ParsedResource,
  parseResource,
  publicLabelIssue,
  type Resource,
} from '../../api/v1alpha1/v1alpha1.ts'
import { messageOf } from '../../base/errors/errors.ts'
import type { Logger, RejectReason } from '../../base/telemetry/telemetry.ts'
import type { ObservedObject } from './list-watch.ts'

/** Receives the objects that a reflector reads. Only `commit` can throw. */
export interface Store {
  /**
   * Begins to replace everything by a new list. An abandoned one needs no clean-up.
   *
   * @param options.rewound whether the API server went back in time, so that a known resourceVersion may be another write
   */
  replace(options: { readonly rewound: boolean }): KindReplacement
  /**
   * Begins to compare the stored objects with a list.
   *
   * @param asOf resourceVersion of the list
   */
  compare(asOf: string): KindComparison
  upsert(object: ObservedObject): void
  delete(object: ObservedObject): void
}

export interface KindReplacement {
  add(object: ObservedObject): void
  /** The object was deleted while the list was read. */
  delete(object: ObservedObject): void
  /** @param resourceVersion the state of the cluster in the list */
  commit(resourceVersion: string): Promise<void>
}

export interface KindComparison {
  /** @returns whether the stored object equals the listed one */
  add(listed: ObservedObject): boolean
  /** Number of stored objects that were not added. */
  unlisted(): number
}

/** Maximum number of log lines about mistakes. The rest is logged at debug. */
const maxQuestionLines = 200

/** Rejected objects, by namespace and name: the logged change, and the reason. */
type Rejected = Map<string, { resourceVersion: string; reason: RejectReason }>

/**
 * Checks objects of one kind and passes on the valid ones. Invalid objects are counted and logged once for each change, and
 * their last valid state stays until they are fixed or deleted.
 */
export class ResourceStore implements Store {
  readonly #kind: Kind
  readonly #sink: ComparableSink
  readonly #log: Logger
  #rejected: Rejected = new Map()
  readonly #apiGroup: string
  /** The logged resourceVersion of objects that cannot work. */
  readonly #questioned = new Map<string, string>()

  constructor(options: { kind: Kind; apiGroup: string; sink: ComparableSink; log: Logger }) {
    const { kind, apiGroup, sink, log } = options
    this.#kind = kind
    this.#apiGroup = apiGroup
    this.#sink = sink
    this.#log = log
  }

  rejections(): ReadonlyMap<RejectReason, number> {
    const counts = new Map<RejectReason, number>()
    for (const { reason } of this.#rejected.values()) {
      counts.set(reason, (counts.get(reason) ?? 0) + 1)
    }
    return counts
  }

  replace(): KindReplacement {
    const replacement = this.#sink.beginReplace(this.#kind)
    const rejected: Rejected = new Map()
    return {
      add: (object) => {
        const isTaken = this.#take(object, rejected, (resource) => replacement.add(resource))
        if (!isTaken) replacement.keep(this.#keyOf(object))
      },
      delete: (object) => {
        rejected.delete(idOf(object))
        this.delete(object)
      },
      commit: async () => {
        await replacement.commit()
        this.#rejected = rejected
      },
    }
  }

  compare(): KindComparison {
    let found = 0
    return {
      add: (listed) => {
        const { resourceVersion, uid = '' } = listed.metadata
        const held = this.#sink.holds(this.#keyOf(listed), { resourceVersion, uid })
        if (held !== undefined) found += 1
        return (
          held === true || this.#rejected.get(idOf(listed))?.resourceVersion === resourceVersion
        )
      },
      unlisted: () => this.#sink.count(this.#kind) - found,
    }
  }

  upsert(object: ObservedObject): void {
    this.#take(object, this.#rejected, (resource) => this.#sink.apply({ type: 'upsert', resource }))
  }

  delete(object: ObservedObject): void {
    this.#rejected.delete(idOf(object))
    this.#questioned.delete(idOf(object))
    const key = this.#keyOf(object)
    try {
      this.#sink.apply({ type: 'delete', ...key })
    } catch (err) {
      this.#log.error({ ...key, err }, 'object could not be removed')
    }
  }

  #take(object: ObservedObject, rejected: Rejected, use: (resource: Resource) => void): boolean {
    try {
      const parsed: ParsedResource<Resource> = parseResource(this.#kind, object)
      if (parsed.ok) {
        use(parsed.resource)
        if (rejected.size > 0) rejected.delete(idOf(object))
        this.#question(object, parsed.resource)
        return true
      }
      const [issue] = parsed.issues
      this.#reject(object, rejected, 'Invalid', {
        field: formatPath(issue?.path ?? []),
        message: issue?.message,
      })
    } catch (err) {
      this.#reject(object, rejected, 'Internal', { message: messageOf(err), err })
    }
    return false
  }

  #reject(
    object: ObservedObject,
    rejected: Rejected,
    reason: RejectReason,
    why: Record<string, unknown>,
  ): void {
    const { resourceVersion } = object.metadata
    const id = idOf(object)
    const logged = this.#rejected.get(id) ?? rejected.get(id)
    rejected.set(id, { resourceVersion, reason })
    if (logged?.resourceVersion === resourceVersion) return
    this.#log.warn({ ...this.#keyOf(object), ...why, resourceVersion, reason }, 'object rejected')
  }

  /**
   * Reports once for each change which part of an object has no effect or, if the object is older than a rule, cannot work.
   */
  #question(object: ObservedObject, resource: Resource): void {
    const id = idOf(object)
    const mistake = mistakesIn(resource)[0] ?? publicLabelIssue(resource, this.#apiGroup)
    const { resourceVersion } = object.metadata
    if (mistake === undefined) {
      if (this.#questioned.size > 0) this.#questioned.delete(id)
    } else if (this.#questioned.get(id) !== resourceVersion) {
      this.#questioned.set(id, resourceVersion)
      const { path, message } = mistake
      const level = this.#questioned.size > maxQuestionLines ? 'debug' : 'warn'
      this.#log[level](
        { ...this.#keyOf(object), field: formatPath(path), message },
        'object cannot work as it is',
      )
    }
  }

  #keyOf({ metadata: { namespace = '', name } }: ObservedObject): ObjectKey {
    return { kind: this.#kind, namespace, name }
  }
}

/** Names an object among those of its kind. */
export function idOf({
  metadata: { namespace = '', name },
}: {
  readonly metadata: Pick<ObservedObject['metadata'], 'namespace' | 'name'>
}): string {
  return `${namespace}/${name}`
}
