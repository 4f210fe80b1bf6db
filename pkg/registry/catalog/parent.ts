import type { ParentKind } from '../../api/v1alpha1/v1alpha1.ts'
import { comparePrecedence, isPrerelease } from './compare.ts'
import type { ResourceRow } from './resource-row.ts'
import { VersionList } from './version-list.ts'

/** A Module or Provider with its Versions. Its object may be gone while this is still in use. */
export class Parent extends VersionList {
  readonly kind: ParentKind
  readonly namespace: string
  /** `metadata.name` */
  readonly name: string
  resource: ResourceRow | undefined
  /** Name of the older parent with the same address; then the Versions of this one are not served. */
  displacedBy: string | undefined
  /** True if it answers to the name in its config, and not only to its `metadata.name`. */
  hasAddress = true
  #memo: Map<string, unknown> | undefined
  #refusals: Map<string, number> | undefined

  readonly #onRefuse: (() => void) | undefined

  constructor(kind: ParentKind, namespace: string, name: string, onRefuse?: () => void) {
    super()
    this.#onRefuse = onRefuse
    this.kind = kind
    this.namespace = namespace
    this.name = name
  }

  /** Remembers a computed value until the parent or one of its Versions changes. */
  memo<T>(key: string, compute: () => T): T {
    this.#memo ??= new Map()
    if (!this.#memo.has(key)) this.#memo.set(key, compute())
    return this.#memo.get(key) as T
  }

  /** Counts a request for a version that is held back. */
  refuse(version: string): void {
    this.#refusals ??= new Map()
    this.#refusals.set(version, this.refusalsOf(version) + 1)
    this.#onRefuse?.()
  }

  /** How many requests for a version were refused since the start. */
  refusalsOf(version: string): number {
    return this.#refusals?.get(version) ?? 0
  }

  /** Call it after each change. */
  forgetMemo(): void {
    this.#memo = undefined
  }

  /** Whether a newer release of the same minor version is served and active. */
  hasNewerActive(version: string): boolean {
    const newest = this.memo('activeReleases', () => this.#newestActive()).get(minorOf(version))
    return newest !== undefined && comparePrecedence(newest, version) > 0
  }

  /** The newest active release of each minor version. */
  #newestActive(): ReadonlyMap<string, string> {
    const newest = new Map<string, string>()
    for (const row of this.versions) {
      const { version } = row
      if (newest.has(minorOf(version)) || isPrerelease(version)) continue
      if (row.downloadable && row.lifecycle === undefined) newest.set(minorOf(version), version)
    }
    return newest
  }

  protected override get parent(): Parent {
    return this
  }
}

/** `1.2` of `1.2.3`. */
const minorOf = (version: string): string => version.split('.', 2).join('.')
