/**
 * The indexed store behind every answer: rows of all resources in memory, their orders, and the read model of the browse API.
 * It reads no source and contains no archive.
 */

import type { Lifecycle } from '../../api/lifecycle/lifecycle.ts'
import {
  type Change,
  type ComparableSink,
  type Depot,
  type Kind,
  kindNames,
  type Namespace,
  type ObjectKey,
  type ParentKind,
  type Replacement,
  type Resource,
} from '../../api/v1alpha1/v1alpha1.ts'
import type { ReasonOf } from '../../base/errors/errors.ts'
import { Turns } from '../../base/pacing/pacing.ts'
import type { CountedDownload } from '../downloads/downloads.ts'
import { isSemver, NamedRows } from './collections.ts'
import { type Conflict, duplicatesConflict, waitingConflict } from './conflict.ts'
import { DownloadTable } from './downloads.ts'
import { FindingTable } from './findings.ts'
import type { Parent } from './parent.ts'
import { Parents } from './parents.ts'
import { ReadModel, type ReadmeListener } from './read-model.ts'
import { ResourceRow, RowContext, revisionOf } from './resource-row.ts'
import { isRowOf, isSamePublication, OtherRow, type PlainResource, type Row } from './row.ts'
import type { Unserved } from './unserved.ts'
import { VersionRow } from './version-row.ts'
import { VersionsByDigest } from './versions-by-digest.ts'

export { Bits, compareText, lowerBound } from './collections.ts'
export type { Conflict } from './conflict.ts'
export type { ShownDepot } from './depots.ts'
export type { ResourceDownloads } from './downloads.ts'
export type { Selection } from './filters.ts'
export { wordsOf as searchedWords } from './filters.ts'
export { distinctFindings } from './findings.ts'
export type { SortBy } from './orders.ts'
export type { Parent } from './parent.ts'
export type { PageRequest, ReadModel } from './read-model.ts'
export { type HeldBackVersion, heldBackText, isNews } from './resource-row.ts'
export type { Listed, View } from './summary.ts'
export type { Unserved } from './unserved.ts'
export type { VersionRow } from './version-row.ts'
export { scanCounts } from './version-sums.ts'

type ParentsByName = ReadonlyMap<string, ReadonlyMap<string, Parent>>

export interface CatalogOptions {
  /** Called with each Version that is left out because its version is not semver. */
  readonly onLeftOut?: (row: VersionRow) => void
  /** Called with the locations of module READMEs, so that they can be fetched in advance. */
  readonly onReadme?: ReadmeListener
  /** Called with each object that lost a conflict, and the reason. The conflict may end a moment later. */
  readonly onConflict?: (conflict: Conflict) => void
  /** API group of the resources and of the public label, default `depot.internal`. */
  readonly apiGroup?: string
  /**
   * The order of age: by creation, as a cluster records it, or by arrival, because anyone may write any time into a file.
   * Default: by creation.
   */
  readonly firstBy?: 'creation' | 'arrival'
}

/**
 * Every resource in memory, indexed for the questions of requests. The cost of a write depends on the change, not on the size
 * of the catalog; a read never waits. If the source numbers its revisions, a caller never sees an older state than before.
 */
export class Catalog implements ComparableSink {
  readonly findings = new FindingTable()
  readonly downloads = new DownloadTable()
  /** Indexes for browsing, in addition to the rows. */
  readonly model: ReadModel
  /** Modules that exist, with their versions, by namespace and `metadata.name`. */
  readonly modules: ParentsByName
  /** Providers, likewise. */
  readonly providers: ParentsByName
  readonly #context: RowContext
  readonly #rows = new Map<Kind, NamedRows<Row>>(kindNames.map((kind) => [kind, new NamedRows()]))
  readonly #parents: Readonly<Record<ParentKind, Parents>>
  readonly #byDigest = new VersionsByDigest()
  readonly #onLeftOut: (row: VersionRow) => void
  readonly #apiGroup: string
  readonly #firstBy: 'creation' | 'arrival'
  readonly #onConflict: (conflict: Conflict) => void
  #arrivals = 0
  #generation = 0

  constructor(options: CatalogOptions = {}) {
    this.#onLeftOut = options.onLeftOut ?? (() => {})
    this.#apiGroup = options.apiGroup ?? 'depot.internal'
    this.#firstBy = options.firstBy ?? 'creation'
    this.#onConflict = options.onConflict ?? (() => {})
    this.#context = new RowContext(this.findings)
    this.#parents = { Module: this.#parentsOf('Module'), Provider: this.#parentsOf('Provider') }
    this.modules = this.#parents.Module.byNamespace
    this.providers = this.#parents.Provider.byNamespace
    this.model = new ReadModel({
      onDuplicates: (parent) => this.#onConflict(duplicatesConflict(parent)),
      findings: this.findings,
      downloads: this.downloads,
      onReadme: options.onReadme ?? (() => {}),
      publicLabel: `${this.#apiGroup}/public`,
    })
  }

  /** Applies a change. An upsert that is older than the known state is ignored. */
  apply(change: Change): void {
    if (change.type === 'delete') this.#delete(change)
    else if (this.#isNews(change.resource)) this.#upsert(change.resource)
  }

  beginReplace(kind: Kind): Replacement {
    this.#generation += 1
    const generation = this.#generation
    const rows = this.#rowsOf(kind)
    return {
      add: (resource) => this.#upsert(resource),
      keep: ({ namespace, name }) => {
        const row = rows.get(namespace, name)
        if (row !== undefined) row.generation = this.#generation
      },
      commit: async () => {
        const turns = new Turns()
        for (const [namespace, name, row] of rows.entries()) {
          if (row.generation < generation) this.#delete({ kind, namespace, name })
          if (turns.due) await turns.yield()
        }
      },
    }
  }

  /** Replaces the download counts of the named archives. */
  setDownloads(counts: Iterable<CountedDownload>): void {
    for (const one of counts) {
      this.downloads.set(one)
      const parent = this.#parents[one.kind].get(one.namespace, one.name)
      if (parent !== undefined) this.model.recount(parent)
    }
  }

  /**
   * The module or provider with an address.
   *
   * @param system of a module
   */
  parentAt(kind: ParentKind, namespace: string, name: string, system?: string): Parent | undefined {
    return this.#parents[kind].at(namespace, name, system)
  }

  /** A Version by its `metadata.name`. */
  version(namespace: string, name: string): VersionRow | undefined {
    const row = this.#rowsOf('Version').get(namespace, name)
    return row instanceof VersionRow ? row : undefined
  }

  /** Number of conflicts: parents without their address, duplicates, Versions without a parent. */
  get conflicts(): Readonly<
    Record<ReasonOf<'AddressTaken' | 'Duplicate' | 'ParentMissing'>, number>
  > {
    const { Module: modules, Provider: providers } = this.#parents
    const { Module: ofModules, Provider: ofProviders } = this.model.states
    return {
      AddressTaken: modules.conflictCount + providers.conflictCount,
      Duplicate: ofModules.duplicate + ofProviders.duplicate,
      ParentMissing: modules.waitingCount + providers.waitingCount,
    }
  }

  /** Number of refused requests for versions that policies hold back now. */
  heldBackRequests(): number {
    let count = 0
    for (const { parent, summary } of this.model.shown(this.model.views.all)) {
      for (const { version } of summary.resource.heldBack) count += parent.refusalsOf(version)
    }
    return count
  }

  /** Changes when the list of held versions changes. */
  get heldBackRevision(): number {
    const { Module: modules, Provider: providers } = this.#parents
    return this.model.revision + modules.refusals + providers.refusals
  }

  /** The reason why a Module or Provider lacks its address; undefined if it has it. */
  conflictOf(parent: Parent): Unserved | undefined {
    return this.#parents[parent.kind].conflictOf(parent)
  }

  /** Modules or Providers that claim an address, including its owner. */
  claiming(kind: ParentKind, namespace: string, name: string, system?: string): Iterable<Parent> {
    return this.#parents[kind].claiming(namespace, name, system)
  }

  /** Versions without a parent. */
  *orphans(): Generator<VersionRow> {
    for (const kind of ['Module', 'Provider'] as const) yield* this.#parents[kind].waiting()
  }

  /** Changes whenever `conflictOf`, `orphans` or any Version changes. */
  get conflictRevision(): number {
    const { Module: modules, Provider: providers } = this.#parents
    return this.model.revision + modules.waitingRevision + providers.waitingRevision
  }

  /** The Versions with an archive of this digest (hexadecimal), the oldest first, one for each storage. */
  oldestBySha256(
    sha256: string,
    isMeant: (row: VersionRow) => boolean,
    limit: number,
  ): readonly VersionRow[] {
    return this.#byDigest.oldest(sha256, isMeant, limit)
  }

  /** The storage locations that an administrator granted to a namespace, as written in its annotation. */
  storageGrants(namespace: string): string | undefined {
    const row = this.#rowsOf('Namespace').get('', namespace)
    if (!(row instanceof OtherRow) || row.resource.kind !== 'Namespace') return undefined
    return row.resource.metadata.annotations[`${this.#apiGroup}/storage`]
  }

  holds(
    { kind, namespace, name }: ObjectKey,
    state: { readonly resourceVersion: string; readonly uid: string },
  ): boolean | undefined {
    const row = this.#rowsOf(kind).get(namespace, name)
    return row && isRowOf(row, state)
  }

  /** Number of objects of a kind. */
  count(kind: Kind): number {
    return this.#rowsOf(kind).size
  }

  /** Number of Versions by kind of parent and by state; duplicates count as unservable. */
  versionStates(): Record<VersionRow['kind'], Record<VersionRow['state'], number>> {
    // The call applies pending changes, so it is made once.
    const all = this.model.states
    const statesOf = (kind: VersionRow['kind']) => {
      const { synced, unsynced, failed, unservable } = all[kind]
      const unservableInAll = unservable + this.#parents[kind].waitingCount
      return { synced, unsynced, failed, unservable: unservableInAll }
    }
    return { Module: statesOf('Module'), Provider: statesOf('Provider') }
  }

  /** Number of Versions by kind of parent and by state of their lifecycle, except the active ones. */
  lifecycles(): Record<VersionRow['kind'], Record<Lifecycle['state'], number>> {
    const { Module: ofModules, Provider: ofProviders } = this.model.states
    const statesOf = ({ Deprecated, Yanked, Quarantined }: typeof ofModules) => ({
      Deprecated,
      Yanked,
      Quarantined,
    })
    return { Module: statesOf(ofModules), Provider: statesOf(ofProviders) }
  }

  #parentsOf(kind: ParentKind): Parents {
    return new Parents({
      kind,
      onChange: (parent) => this.model.touch(parent),
      onConflict: (parent) => {
        const { namespace, name } = parent
        const unserved = () => this.#parents[kind].conflictOf(parent)
        this.#onConflict({ kind, namespace, name, unserved })
      },
    })
  }

  #rowsOf(kind: Kind): NamedRows<Row> {
    return this.#rows.get(kind) as NamedRows<Row>
  }

  /** Whether a change is newer than the known state. */
  #isNews({ kind, metadata }: Resource): boolean {
    const known = this.#rowsOf(kind).get(metadata.namespace, metadata.name)
    if (known === undefined) return true
    const revision = revisionOf(metadata.resourceVersion)
    return !(revision < known.revision || (revision === known.revision && isRowOf(known, metadata)))
  }

  #upsert(resource: Resource): void {
    const { kind, metadata } = resource
    const rows = this.#rowsOf(kind)
    const old = rows.get(metadata.namespace, metadata.name)
    const row = this.#rowFor(resource, old)
    row.generation = this.#generation
    if (!(row instanceof OtherRow)) row.rank = this.#rankOf(resource, row, old)
    rows.set(metadata.namespace, metadata.name, row)
    this.#link(row, old)
  }

  #rankOf({ metadata }: Resource, row: Row, old: Row | undefined): number {
    const created =
      this.#firstBy === 'creation' ? Date.parse(metadata.creationTimestamp) : Number.NaN
    if (!Number.isNaN(created)) return Math.floor(created / 1000)
    if (old !== undefined && !(old instanceof OtherRow) && isSamePublication(row, old))
      return old.rank
    this.#arrivals += 1
    return this.#arrivals
  }

  #delete({ kind, namespace, name }: ObjectKey): void {
    const old = this.#rowsOf(kind).get(namespace, name)
    if (old === undefined) return
    this.#rowsOf(kind).delete(namespace, name)
    this.#link(undefined, old)
  }

  #rowFor(resource: Resource, old: Row | undefined): Row {
    if (resource.kind === 'Version') {
      const oldVersion = old instanceof VersionRow ? old : undefined
      return new VersionRow(resource, this.#context, oldVersion)
    }
    if (resource.kind === 'Module' || resource.kind === 'Provider') {
      return new ResourceRow(resource, this.#context)
    }
    return new OtherRow(resource)
  }

  #link(row: Row | undefined, old: Row | undefined): void {
    if (old instanceof VersionRow) this.#unlinkVersion(old)
    if (row instanceof VersionRow) this.#linkVersion(row)
    const resource = row instanceof ResourceRow ? row : undefined
    const oldResource = old instanceof ResourceRow ? old : undefined
    const changed = resource ?? oldResource
    if (changed !== undefined) this.#parents[changed.kind].change(resource, oldResource)
    if (row instanceof OtherRow) this.#linkOther(row.resource, row.resource)
    else if (old instanceof OtherRow) this.#linkOther(undefined, old.resource)
  }

  #linkOther(resource: PlainResource | undefined, { kind, metadata }: PlainResource): void {
    const { namespace, name } = metadata
    if (kind === 'Namespace') this.model.namespaceChanged(resource as Namespace | undefined, name)
    if (kind === 'Depot') this.model.depotChanged(resource as Depot | undefined, namespace, name)
    if (kind === 'GroupBinding' && resource === undefined) this.model.views.forget(name)
  }

  #linkVersion(row: VersionRow): void {
    this.#byDigest.add(row)
    this.#parents[row.kind].attach(row)
    if (!isSemver(row.version)) this.#onLeftOut(row)
    else if (row.parent === undefined) {
      const isKnown = () => this.version(row.namespace, row.name) === row
      this.#onConflict(waitingConflict(row, isKnown))
    }
  }

  #unlinkVersion(row: VersionRow): void {
    this.#byDigest.delete(row)
    this.#parents[row.kind].detach(row)
    this.findings.release(row.sourceFindings)
    this.findings.release(row.binaryFindings)
  }
}
