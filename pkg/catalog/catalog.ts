import {
  type Change,
  type Depot,
  type GroupBinding,
  type Kind,
  kindNames,
  type Namespace,
  type ObjectKey,
  type Resource,
  type ResourceSink,
} from '../apis/v1alpha1/v1alpha1.ts'
import { type DownloadCount, DownloadTable } from './downloads.ts'
import { FindingTable } from './findings.ts'
import { NamedRows } from './named-rows.ts'
import { Parent } from './parent.ts'
import { ReadModel } from './read-model.ts'
import type { ReadmeListener } from './readme-ref.ts'
import { ResourceRow } from './resource-row.ts'
import { revisionOf } from './revision.ts'
import { compareText, isSemver } from './semver-order.ts'
import { RowContext, VersionRow } from './version-row.ts'

export type { ShownDepot } from './depots.ts'
export type { DownloadCount, ResourceDownloads } from './downloads.ts'
export type { Entry } from './entry.ts'
export type { SortBy } from './orders.ts'
export type { Parent } from './parent.ts'
export type { PageRequest, ReadModel } from './read-model.ts'
export type { ReadmeRef } from './readme-ref.ts'
export type { ResourceRow } from './resource-row.ts'
export { distinctFindings, type ScanCounts, scanCounts } from './scans.ts'
export type { Selection } from './selection.ts'
export { compareText } from './semver-order.ts'
export { backends } from './totals.ts'
export type { VersionRow } from './version-row.ts'
export type { View } from './views.ts'

type PlainResource = Depot | GroupBinding | Namespace

/** The others are kept as they are: there are few of them. */
class PlainRow {
  readonly resource: PlainResource
  readonly revision: number
  generation = 0

  constructor(resource: PlainResource) {
    this.resource = resource
    this.revision = revisionOf(resource.metadata.resourceVersion)
  }
}

type Row = VersionRow | ResourceRow | PlainRow

export interface CatalogOptions {
  /** Told of each Version that is left out because its version is not semver. */
  readonly onLeftOut?: (row: VersionRow) => void
  /** Told where the READMEs of modules are, so that somebody can have them ready. */
  readonly onReadme?: ReadmeListener
  /** API group of the resources and of the public label, default `depot.internal`. */
  readonly apiGroup?: string
}

/**
 * Every resource, in memory, indexed for the questions that requests ask. Writing costs what the change costs, not what
 * the catalog holds; reading never waits. Nothing in it is ever older than what a caller saw before, as far as the source
 * numbers its revisions.
 */
export class Catalog implements ResourceSink {
  readonly findings = new FindingTable()
  readonly downloads = new DownloadTable()
  /** What browsing needs beside the rows. */
  readonly model: ReadModel
  readonly #context = new RowContext(this.findings)
  readonly #rows = new Map<Kind, NamedRows<Row>>(kindNames.map((kind) => [kind, new NamedRows()]))
  readonly #parents = { Module: new NamedRows<Parent>(), Provider: new NamedRows<Parent>() }
  /** Config name of a module or provider, where it differs from its own name, to its own names. */
  readonly #aliases = { Module: new NamedRows<string[]>(), Provider: new NamedRows<string[]>() }
  readonly #bySha256 = new Map<string, VersionRow | Set<VersionRow>>()
  readonly #onLeftOut: (row: VersionRow) => void
  readonly #apiGroup: string
  #generation = 0

  constructor(options: CatalogOptions = {}) {
    this.#onLeftOut = options.onLeftOut ?? (() => {})
    this.#apiGroup = options.apiGroup ?? 'depot.internal'
    this.model = new ReadModel({
      findings: this.findings,
      downloads: this.downloads,
      onReadme: options.onReadme ?? (() => {}),
      publicLabel: `${this.#apiGroup}/public`,
    })
  }

  /** Takes one change over. An upsert that is older than what is known is ignored. */
  apply(change: Change): void {
    if (change.type === 'delete') this.#delete(change)
    else if (!this.#isStale(change.resource)) this.#upsert(change.resource)
  }

  beginReplace(kind: Kind): { add(resource: Resource): void; commit(): void } {
    this.#generation += 1
    const generation = this.#generation
    return {
      add: (resource) => this.#upsert(resource),
      commit: () => {
        const gone: [namespace: string, name: string][] = []
        for (const [namespace, name, row] of this.#rowsOf(kind).entries()) {
          if (row.generation < generation) gone.push([namespace, name])
        }
        for (const [namespace, name] of gone) this.#delete({ kind, namespace, name })
      },
    }
  }

  /** Replaces every object of a kind at once. */
  replace(kind: Kind, resources: Iterable<Resource>): void {
    const replacement = this.beginReplace(kind)
    for (const resource of resources) replacement.add(resource)
    replacement.commit()
  }

  /** Adds downloads to what is known. */
  recordDownloads(more: Iterable<DownloadCount>): void {
    for (const one of more) {
      this.downloads.record(one)
      this.#touch(one)
    }
  }

  /** Replaces what is known of the archives that are named. */
  setDownloads(counts: Iterable<DownloadCount>): void {
    for (const one of counts) {
      this.downloads.set(one)
      this.#touch(one)
    }
  }

  /** A module that exists, with its versions. */
  module(namespace: string, name: string): Parent | undefined {
    return this.#existing('Module', namespace, name)
  }

  /** A provider that exists, with its versions. */
  provider(namespace: string, type: string): Parent | undefined {
    return this.#existing('Provider', namespace, type)
  }

  /** The Versions whose archive has this digest (hexadecimal). */
  versionsBySha256(sha256: string): readonly VersionRow[] {
    const found = this.#bySha256.get(sha256)
    if (found === undefined) return []
    return found instanceof Set ? [...found] : [found]
  }

  /** The places of storage that an administrator granted to a namespace, as its annotation says them. */
  storageGrants(namespace: string): string | undefined {
    const row = this.#rowsOf('Namespace').get('', namespace)
    if (!(row instanceof PlainRow) || row.resource.kind !== 'Namespace') return undefined
    return row.resource.metadata.annotations[`${this.#apiGroup}/storage`]
  }

  /** Number of objects of a kind. */
  count(kind: Kind): number {
    return this.#rowsOf(kind).size
  }

  /** Number of Versions by the kind of their parent and by state. Looks at every one of them. */
  versionStates(): Record<VersionRow['kind'], Record<VersionRow['state'], number>> {
    const none = { synced: 0, unsynced: 0, failed: 0, unservable: 0 }
    const counts = { Module: { ...none }, Provider: { ...none } }
    for (const [, , row] of this.#rowsOf('Version').entries()) {
      if (row instanceof VersionRow) counts[row.kind][row.state] += 1
    }
    return counts
  }

  #existing(kind: 'Module' | 'Provider', namespace: string, name: string): Parent | undefined {
    const parent = this.#parents[kind].get(namespace, name)
    return parent?.resource === undefined ? undefined : parent
  }

  #touch({ kind, namespace, name }: DownloadCount): void {
    const parent = this.#parents[kind].get(namespace, name)
    if (parent !== undefined) this.model.touch(parent)
  }

  #rowsOf(kind: Kind): NamedRows<Row> {
    return this.#rows.get(kind) as NamedRows<Row>
  }

  #isStale({ kind, metadata }: Resource): boolean {
    const known = this.#rowsOf(kind).get(metadata.namespace, metadata.name)
    return known !== undefined && revisionOf(metadata.resourceVersion) < known.revision
  }

  #upsert(resource: Resource): void {
    const { kind, metadata } = resource
    const rows = this.#rowsOf(kind)
    const old = rows.get(metadata.namespace, metadata.name)
    const revision = revisionOf(metadata.resourceVersion)
    if (old !== undefined && old.revision === revision && !Number.isNaN(revision)) {
      old.generation = this.#generation
      return
    }
    const row = this.#rowFor(resource)
    row.generation = this.#generation
    rows.set(metadata.namespace, metadata.name, row)
    this.#link(row, old)
  }

  #delete({ kind, namespace, name }: ObjectKey): void {
    const old = this.#rowsOf(kind).get(namespace, name)
    if (old === undefined) return
    this.#rowsOf(kind).delete(namespace, name)
    this.#link(undefined, old)
  }

  #rowFor(resource: Resource): Row {
    if (resource.kind === 'Version') return new VersionRow(resource, this.#context)
    if (resource.kind === 'Module' || resource.kind === 'Provider') return new ResourceRow(resource)
    return new PlainRow(resource)
  }

  #link(row: Row | undefined, old: Row | undefined): void {
    if (old instanceof VersionRow) this.#unlinkVersion(old)
    if (row instanceof VersionRow) this.#linkVersion(row)
    const resource = row instanceof ResourceRow ? row : undefined
    const oldResource = old instanceof ResourceRow ? old : undefined
    if (resource !== undefined || oldResource !== undefined)
      this.#linkResource(resource, oldResource)
    if (row instanceof PlainRow) this.#linkPlain(row.resource, row.resource)
    else if (old instanceof PlainRow) this.#linkPlain(undefined, old.resource)
  }

  #linkPlain(resource: PlainResource | undefined, { kind, metadata }: PlainResource): void {
    const { namespace, name } = metadata
    if (kind === 'Namespace') this.model.namespaceChanged(resource as Namespace | undefined, name)
    if (kind === 'Depot') this.model.depotChanged(resource as Depot | undefined, namespace, name)
    if (kind === 'GroupBinding' && resource === undefined) this.model.views.forget(name)
  }

  #linkVersion(row: VersionRow): void {
    if (row.sha256 !== undefined) {
      const other = this.#bySha256.get(row.sha256)
      if (other === undefined) this.#bySha256.set(row.sha256, row)
      else if (other instanceof Set) other.add(row)
      else this.#bySha256.set(row.sha256, new Set([other, row]))
    }
    this.#attach(row)
    if (!isSemver(row.version)) this.#onLeftOut(row)
  }

  #unlinkVersion(row: VersionRow): void {
    if (row.sha256 !== undefined) {
      const found = this.#bySha256.get(row.sha256)
      if (found instanceof Set && found.size > 1) found.delete(row)
      else this.#bySha256.delete(row.sha256)
    }
    this.#detach(row)
    this.findings.release(row.sourceFindings)
    this.findings.release(row.binaryFindings)
  }

  #attach(row: VersionRow): void {
    if (row.parentName === undefined || !isSemver(row.version)) return
    const name = row.owned
      ? row.parentName
      : this.#resolveAlias(row.kind, row.namespace, row.parentName)
    const parent = this.#parents[row.kind].getOrSet(
      row.namespace,
      name,
      () => new Parent(row.kind, row.namespace, name),
    )
    row.parent = parent
    parent.insert(row)
    this.model.touch(parent)
  }

  #detach(row: VersionRow): void {
    const { parent } = row
    if (parent === undefined) return
    parent.remove(row)
    this.model.touch(parent)
    row.parent = undefined
    if (parent.empty) this.#parents[parent.kind].delete(parent.namespace, parent.name)
  }

  /** A Version's copy of its parent's config holds the config's name: the parent is the one that is called so. */
  #resolveAlias(kind: 'Module' | 'Provider', namespace: string, name: string): string {
    if (this.#rowsOf(kind).get(namespace, name) !== undefined) return name
    return this.#aliases[kind].get(namespace, name)?.[0] ?? name
  }

  #linkResource(row: ResourceRow | undefined, old: ResourceRow | undefined): void {
    const { kind, namespace, name } = (row ?? old) as ResourceRow
    const parents = this.#parents[kind]
    const parent = parents.getOrSet(namespace, name, () => new Parent(kind, namespace, name))
    parent.resource = row
    this.model.touch(parent)
    if (row === undefined || old === undefined || row.configName !== old.configName) {
      if (old !== undefined) this.#unalias(old)
      if (row !== undefined) this.#alias(row)
      this.#reattach(kind, namespace, new Set([name, row?.configName, old?.configName]))
    }
    if (parent.empty) parents.delete(namespace, name)
  }

  #alias({ kind, namespace, name, configName }: ResourceRow): void {
    if (configName === name) return
    const names = this.#aliases[kind].get(namespace, configName) ?? []
    this.#aliases[kind].set(namespace, configName, [...names, name].toSorted(compareText))
  }

  #unalias({ kind, namespace, name, configName }: ResourceRow): void {
    const names = this.#aliases[kind].get(namespace, configName)?.filter((other) => other !== name)
    if (names === undefined) return
    if (names.length === 0) this.#aliases[kind].delete(namespace, configName)
    else this.#aliases[kind].set(namespace, configName, names)
  }

  /** Finds the parent anew for every Version that stands under one of these names by its config alone. */
  #reattach(kind: 'Module' | 'Provider', namespace: string, names: Set<string | undefined>): void {
    const holders = [...names].flatMap((name = '') => [
      name,
      ...(this.#aliases[kind].get(namespace, name) ?? []),
    ])
    const parents = [...new Set(holders)].map((name) => this.#parents[kind].get(namespace, name))
    const rows = parents.flatMap((parent) => parent?.versions.filter((row) => !row.owned) ?? [])
    for (const row of rows) {
      const name = this.#resolveAlias(kind, namespace, row.parentName ?? '')
      if (row.parent?.name === name) continue
      this.#detach(row)
      this.#attach(row)
    }
  }
}
