import type { ParentKind } from '../../api/v1alpha1/v1alpha1.ts'
import type { ResourceRow } from './resource-row.ts'
import type { VersionChunk } from './version-chunk.ts'
import { VersionList } from './version-list.ts'
import type { VersionRow } from './version-row.ts'

/** A Module or Provider with its Versions. Its object may be gone while this is still in use. */
export class Parent {
  readonly kind: ParentKind
  readonly namespace: string
  /** `metadata.name` */
  readonly name: string
  readonly #versions = new VersionList()
  #resource: ResourceRow | undefined
  #displacedBy: string | undefined
  #hasAddress = true
  #memo: Map<string, unknown> | undefined

  constructor(kind: ParentKind, namespace: string, name: string) {
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

  /** Name of the older one that has the same address; then the Versions of this one cannot be had. */
  get displacedBy(): string | undefined {
    return this.#displacedBy
  }

  set displacedBy(name: string | undefined) {
    this.#displacedBy = name
    this.#memo = undefined
  }

  /** True if its address has the name in its config, and not only its `metadata.name`. */
  get hasAddress(): boolean {
    return this.#hasAddress
  }

  set hasAddress(hasAddress: boolean) {
    this.#hasAddress = hasAddress
    this.#memo = undefined
  }

  /** Newest first, then by platform. Versions that are not semver come last. */
  get versions(): readonly VersionRow[] {
    return this.#versions.rows
  }

  /** The same in pieces, each of which holds all rows of its versions. */
  get chunks(): readonly VersionChunk[] {
    return this.#versions.chunks
  }

  insert(row: VersionRow): void {
    row.parent = this
    this.#versions.insert(row)
    this.#memo = undefined
  }

  remove(row: VersionRow): void {
    this.#versions.remove(row)
    row.parent = undefined
    this.#memo = undefined
  }

  /** Takes Versions over. @param chunks in order */
  absorb(chunks: readonly VersionChunk[]): void {
    for (const { rows } of chunks) for (const row of rows) row.parent = this
    this.#versions.absorb(chunks)
    this.#memo = undefined
  }

  /** Gives up all Versions that belong elsewhere now. @returns them, by where that is */
  release<H>(homeOf: (row: VersionRow) => H | Parent): Map<H | Parent, VersionChunk[]> {
    const gone = this.#versions.release<H | Parent>(homeOf, this)
    if (gone.size === 0) return gone
    this.#memo = undefined
    for (const chunks of gone.values()) {
      for (const { rows } of chunks) for (const row of rows) row.parent = undefined
    }
    return gone
  }

  /** The rows of one version, platform by platform. */
  rowsOf(version: string): readonly VersionRow[] {
    return this.#versions.rowsOf(version)
  }

  /** The one that a duplicate is a duplicate of. */
  originalOf(row: VersionRow): VersionRow | undefined {
    return this.#versions.originalOf(row)
  }

  /** Remembers what was computed from this parent until it, or one of its Versions, changes. */
  memo<T>(key: string, compute: () => T): T {
    this.#memo ??= new Map()
    if (!this.#memo.has(key)) this.#memo.set(key, compute())
    return this.#memo.get(key) as T
  }
}
