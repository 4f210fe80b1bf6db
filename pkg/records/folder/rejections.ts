import { type Kind, kindNames, type ObjectKey } from '../../api/v1alpha1/v1alpha1.ts'
import {
  type Logger,
  type Metrics,
  type RejectReason,
  rejectedObjectsGauge,
} from '../../base/telemetry/telemetry.ts'

/** A part of a manifest that is left out. */
export interface Rejection {
  readonly file: string
  readonly line?: number | undefined
  readonly reason: RejectReason
  readonly kind: Kind | 'unknown'
  /** The object, if it is known. */
  readonly object?: ObjectKey | undefined
  readonly field?: string | undefined
  readonly message: string
  /** Its other mistakes. */
  readonly others?: readonly string[]
}

/** Maximum number of log lines per change. Beyond that, only their number is logged. */
const maxLines = 100

/** The current rejections: logged when they appear and disappear, and counted for the metric. */
export class Rejections {
  readonly #log: Logger
  readonly #groups = new Map<string, readonly Rejection[]>()

  constructor(log: Logger, metrics: Metrics | undefined) {
    this.#log = log
    if (metrics === undefined) return
    rejectedObjectsGauge(
      metrics,
      () => [...kindNames, 'unknown'],
      () => [...this.all()].map(({ kind, reason }) => [kind, reason, 1] as const),
    )
  }

  get count(): number {
    return [...this.all()].length
  }

  /** The first file that cannot be read completely. */
  unreadable(): string | undefined {
    return [...this.all()].find(({ reason }) => reason !== 'Duplicate')?.file
  }

  /**
   * Replaces what is known about one file, or one object.
   *
   * @param isFixed whether something that is no longer rejected is valid now, not removed
   */
  set(
    group: string,
    rejections: readonly Rejection[],
    isFixed: (rejection: Rejection) => boolean = () => false,
  ): void {
    const before = this.#groups.get(group) ?? []
    if (before.length === 0 && rejections.length === 0) return
    if (rejections.length === 0) this.#groups.delete(group)
    else this.#groups.set(group, rejections)

    const known = new Set(before.map(identityOf))
    const fresh = rejections.filter((rejection) => !known.has(identityOf(rejection)))
    for (const rejection of fresh.slice(0, maxLines)) {
      this.#log.warn(fieldsOf(rejection), 'object rejected')
    }
    if (fresh.length > maxLines) {
      this.#log.warn(
        { file: fresh[0]?.file, count: fresh.length - maxLines },
        'more objects rejected',
      )
    }
    const still = new Set(rejections.map(subjectOf))
    for (const rejection of before.slice(0, maxLines)) {
      if (still.has(subjectOf(rejection)) || !isFixed(rejection)) continue
      const { file, kind, namespace, name } = fieldsOf(rejection)
      this.#log.info({ file, kind, namespace, name }, 'object accepted again')
    }
  }

  *all(): Generator<Rejection> {
    for (const rejections of this.#groups.values()) yield* rejections
  }
}

function fieldsOf({ object, ...rest }: Rejection) {
  return { ...rest, namespace: object?.namespace || undefined, name: object?.name }
}

/** Lines move with every edit above them, so a moved line is the same rejection. */
function identityOf(rejection: Rejection): string {
  const { line: _, ...rest } = fieldsOf(rejection)
  return JSON.stringify(rest)
}

function subjectOf({ file, kind, object }: Rejection): string {
  return JSON.stringify([file, kind, object?.namespace, object?.name])
}

/** Formats `b.yaml:2: Module team/vpc is already defined in a.yaml:1; remove one of the two`. */
export function rejectionLine({ file, line, object, field, message }: Rejection): string {
  const place = line === undefined ? file : `${file}:${line}`
  const subject = object && `${object.kind} ${object.namespace}/${object.name}`
  return `${place}: ${[subject, field, message].filter(Boolean).join(' ')}`
}
