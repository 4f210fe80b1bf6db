import type { ResourceRow } from './resource-row.ts'
import { newestFirst } from './semver-order.ts'
import { type VersionRow, versionOrder } from './version-row.ts'

/**
 * A Module or Provider with its Versions. It may stand here before its own object has arrived, and after that was
 * deleted, for as long as Versions name it.
 */
export class Parent {
  readonly kind: 'Module' | 'Provider'
  readonly namespace: string
  readonly name: string
  /** Newest first, then by platform; only what is semver. */
  readonly versions: VersionRow[] = []
  #resource: ResourceRow | undefined
  #memo: Map<string, unknown> | undefined

  constructor(kind: 'Module' | 'Provider', namespace: string, name: string) {
    this.kind = kind
    this.namespace = namespace
    this.name = name
  }

  get resource(): ResourceRow | undefined {
    return this.#resource
  }

  set resource(row: ResourceRow | undefined) {
    this.#resource = row
    this.#memo = undefined
  }

  get empty(): boolean {
    return this.#resource === undefined && this.versions.length === 0
  }

  insert(row: VersionRow): void {
    this.versions.splice(this.#indexOf(row), 0, row)
    this.#memo = undefined
  }

  remove(row: VersionRow): void {
    const index = this.#indexOf(row)
    if (this.versions[index] === row) this.versions.splice(index, 1)
    this.#memo = undefined
  }

  /** The rows of one version, platform by platform. */
  rowsOf(version: string): readonly VersionRow[] {
    const start = lowerBound(this.versions, (row) => newestFirst(row.version, version) < 0)
    let end = start
    while (this.versions[end]?.version === version) end += 1
    return this.versions.slice(start, end)
  }

  /** Remembers what was computed from this parent until it, or one of its Versions, changes. */
  memo<T>(key: string, compute: () => T): T {
    this.#memo ??= new Map()
    if (!this.#memo.has(key)) this.#memo.set(key, compute())
    return this.#memo.get(key) as T
  }

  #indexOf(row: VersionRow): number {
    return lowerBound(this.versions, (other) => versionOrder(other, row) < 0)
  }
}

/** Index of the first element that is not before the place looked for. */
function lowerBound<T>(sorted: readonly T[], isBefore: (element: T) => boolean): number {
  let [low, high] = [0, sorted.length]
  while (low < high) {
    const middle = (low + high) >>> 1
    if (isBefore(sorted[middle] as T)) low = middle + 1
    else high = middle
  }
  return low
}
