import type { ParentKind } from '../../api/v1alpha1/v1alpha1.ts'
import type { ResourceRow } from './resource-row.ts'
import { VersionList } from './version-list.ts'

/** A Module or Provider with its Versions. Its object may be gone while this is still in use. */
export class Parent extends VersionList {
  readonly kind: ParentKind
  readonly namespace: string
  /** `metadata.name` */
  readonly name: string
  resource: ResourceRow | undefined
  /** Name of the older one that has the same address; then the Versions of this one cannot be had. */
  displacedBy: string | undefined
  /** True if its address has the name in its config, and not only its `metadata.name`. */
  hasAddress = true
  #memo: Map<string, unknown> | undefined

  constructor(kind: ParentKind, namespace: string, name: string) {
    super()
    this.kind = kind
    this.namespace = namespace
    this.name = name
  }

  /** Remembers what was computed from this parent until it, or one of its Versions, changes. */
  memo<T>(key: string, compute: () => T): T {
    this.#memo ??= new Map()
    if (!this.#memo.has(key)) this.#memo.set(key, compute())
    return this.#memo.get(key) as T
  }

  /** To be called after each change. */
  forgetMemo(): void {
    this.#memo = undefined
  }

  protected override get parent(): Parent {
    return this
  }
}
