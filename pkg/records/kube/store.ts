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
import { isOlder, type ObservedObject } from './object.ts'

/** Receives the objects that a reflector reads; only `commit` can throw. */
export interface Store {
  /**
   * Begins to replace everything by a fresh list; an abandoned one needs no clean-up.
   *
   * @param options.rewound the API server went back in time: a resourceVersion that is known may be another write
   */
  replace(options: { readonly rewound: boolean }): KindReplacement
  /**
   * Begins to compare what is held with a list.
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
  /** @param resourceVersion the state of the cluster that the list is of */
  commit(resourceVersion: string): Promise<void>
}

export interface KindComparison {
  /** @returns whether this object is held as it is listed */
  add(listed: ObservedObject): boolean
  /** Number of objects that are held and were not added. */
  unlisted(): number
}

type Metadata = ObservedObject['metadata']

/** Compares the metadata of held objects with a list. What was written after the list, by this process, is right. */
export function compareStates(
  asOf: string,
  held: {
    get(namespace: string, name: string): Metadata | undefined
    all(): Iterable<Metadata>
  },
): KindComparison {
  const named = new Set<string>()
  return {
    add: (listed) => {
      const { namespace = '', name, uid, resourceVersion } = listed.metadata
      named.add(idOf(listed))
      const known = held.get(namespace, name)
      if (known === undefined) return false
      const isSame = known.uid === uid && known.resourceVersion === resourceVersion
      return isSame || isOlder(asOf, known.resourceVersion)
    },
    unlisted: () => {
      let count = 0
      for (const metadata of held.all()) {
        if (!named.has(idOf({ metadata })) && !isOlder(asOf, metadata.resourceVersion)) count += 1
      }
      return count
    },
  }
}

/** Limit of log lines about mistakes; the rest is logged at debug. */
const maxQuestionLines = 200

/** Objects that are not taken in, by namespace and name: the change that was logged, and why. */
type Rejected = Map<string, { resourceVersion: string; reason: RejectReason }>

/**
 * Checks objects of one kind and hands the good ones on. What is not valid is counted and logged once a change, and what
 * was valid of it before stays until it is fixed or deleted.
 */
export class ResourceStore implements Store {
  readonly #kind: Kind
  readonly #sink: ComparableSink
  readonly #log: Logger
  #rejected: Rejected = new Map()
  readonly #apiGroup: string
  /** The logged resourceVersion of objects that cannot work as they are. */
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

  /** Says once a change what of an object has no effect, or, where it is older than a rule, cannot work. */
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

function idOf({ metadata: { namespace = '', name } }: ObservedObject): string {
  return `${namespace}/${name}`
}
