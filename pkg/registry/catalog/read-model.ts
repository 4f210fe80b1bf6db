import type { Depot, Namespace } from '../../api/v1alpha1/v1alpha1.ts'
import type { Binding } from '../access/access.ts'
import { Backlog, type Worked } from './backlog.ts'
import { Bits, compareText, NamedRows } from './collections.ts'
import { Depots, type ShownDepot } from './depots.ts'
import { chosen, NameSearch, type Selection, sortByRelevance, TagSets, tag } from './filters.ts'
import {
  bestDownloads,
  type MostDownloaded,
  mostDownloaded,
  popularity,
  type SortBy,
  SortOrder,
  sortKeys,
} from './orders.ts'
import type { Parent } from './parent.ts'
import type { ReadmeRef } from './rare.ts'
import {
  Listed,
  namedTotals,
  recounted,
  type Summary,
  type SummarySources,
  summaryOf,
  sumOf,
  type View,
  Views,
} from './summary.ts'
import { addStates, noStates, type VersionStates, VersionSums } from './version-sums.ts'

/** Number of Versions that are read in one go, which takes a few milliseconds. */
const sliceVersions = 500
/** Cost of applying the sum of a parent, in Versions. */
const versionsPerParent = 10
/** Amount of pending work after a few changes. */
const fewParents = 10
const mostDownloadedLimit = 10

interface SortedRequest {
  readonly sortBy: SortBy
  readonly descending: boolean
  readonly offset: number
  readonly limit: number
}

export interface PageRequest extends Omit<SortedRequest, 'sortBy'> {
  /** By relevance to the text of the selection. Then `descending` does not apply. */
  readonly sortBy: SortBy | 'relevance'
}

export interface Page {
  readonly entries: readonly Listed[]
  /** The entries of all pages. */
  readonly totalCount: number
}

export interface Stats {
  readonly totals: ReturnType<typeof namedTotals>
  readonly mostDownloaded: readonly MostDownloaded[]
}

/**
 * Called for each updated module that has or had a README, with the current and the previous location of the README of its
 * latest version. Both may be equal.
 */
export type ReadmeListener = (
  namespace: string,
  now: ReadmeRef | undefined,
  before: ReadmeRef | undefined,
) => void

export interface ReadModelOptions extends SummarySources {
  /** Label that makes a namespace, a resource or a Depot public if its value is `true`. */
  readonly publicLabel: string
  readonly onReadme: ReadmeListener
  /** Called with a parent that has more duplicates than before. */
  readonly onDuplicates: (parent: Parent) => void
}

/**
 * Indexes for browsing, in addition to the rows. Every module and provider has a number. Each view and each filter is a set of
 * numbers, and each sort key is an order. A page is an intersection of sets and a short walk along an order. Changes are
 * queued and applied before the next question is answered, large bursts in slices.
 */
export class ReadModel {
  readonly views = new Views()
  readonly #options: ReadModelOptions
  readonly #entries: (Listed | undefined)[] = []
  readonly #free: number[] = []
  readonly #byParent = new Map<Parent, Listed>()
  readonly #byName = { Module: new NamedRows<Listed>(), Provider: new NamedRows<Listed>() }
  readonly #tags = new TagSets()
  readonly #names = new NameSearch()
  readonly #orders = Object.fromEntries(
    Object.entries(sortKeys).map(([name, key]) => [name, new SortOrder(key, this.#entries)]),
  ) as Record<SortBy, SortOrder>
  readonly #best = new SortOrder(bestDownloads, this.#entries)
  readonly #popular = new SortOrder(popularity, this.#entries)
  readonly #depots = new Depots((kind, namespace, name) => this.#byName[kind].get(namespace, name))
  readonly #publicNamespaces = new Set<string>()
  readonly #sums: VersionSums
  readonly #backlog = new Backlog<Parent>({
    work: (parent, maxVersions) => this.#refresh(parent, maxVersions),
    sliceUnits: sliceVersions,
  })
  /** Queued parents whose download counts alone changed. */
  readonly #recounts = new Set<Parent>()
  readonly #states = { Module: noStates(), Provider: noStates() }
  #revision = 0
  #graphRevision = 0

  constructor(options: ReadModelOptions) {
    this.#options = options
    this.#sums = new VersionSums(options.findings)
  }

  /** Every module and provider, by number. */
  get entries(): readonly (Listed | undefined)[] {
    return this.#entries
  }

  /** The numbers of all entries: most downloads first, then by name. */
  get popular(): Uint32Array {
    return this.#popular.numbers
  }

  /** Versions with a parent, by state. Counting does not wait for pending work. */
  get states(): Readonly<Record<Parent['kind'], Readonly<VersionStates>>> {
    if (this.#backlog.size <= fewParents) this.#backlog.work()
    return this.#states
  }

  /** Changes with everything that an answer may contain. */
  get revision(): number {
    this.#backlog.advance()
    return this.#revision
  }

  /** Like {@link revision}, for answers without downloads and without older versions. */
  get graphRevision(): number {
    this.#backlog.advance()
    return this.#graphRevision
  }

  /** Whether all pending changes are applied. Tests and benchmarks count the slices until then. */
  get settled(): boolean {
    return this.#backlog.size === 0
  }

  /** Resolves once all queued changes are applied. If changes never stop, it may never resolve. */
  get whenSettled(): Promise<void> {
    return this.#backlog.empty
  }

  /** Queues a change of a module or provider, or of one of its Versions. */
  touch(parent: Parent): void {
    this.#recounts.delete(parent)
    this.#backlog.add(parent)
  }

  /** Queues a change of the download counts of a module or provider. */
  recount(parent: Parent): void {
    if (this.#backlog.has(parent)) return
    this.#recounts.add(parent)
    this.#backlog.add(parent)
  }

  namespaceChanged(namespace: Namespace | undefined, name: string): void {
    const isPublic = namespace !== undefined && this.#isLabelled(namespace.metadata.labels)
    if (isPublic === this.#publicNamespaces.has(name)) return
    if (isPublic) this.#publicNamespaces.add(name)
    else this.#publicNamespaces.delete(name)
    this.#graphRevision = ++this.#revision
    for (const number of this.#tags.get(tag.namespace(name))) {
      const entry = this.#entries[number] as Listed
      entry.isPublic = this.#mayBePublic(entry.summary)
      entry.revision = this.#revision
    }
    this.views.republish(this.#tags.get(tag.namespace(name)), this.#entries)
  }

  depotChanged(depot: Depot | undefined, namespace: string, name: string): void {
    this.#depots.put(depot, namespace, name)
    this.#graphRevision = ++this.#revision
  }

  /** The entries that members of a GroupBinding may see. */
  viewOf(binding: Binding): View {
    this.#backlog.advance()
    return this.views.of(binding, this.#entries)
  }

  /** Namespaces with the public label, sorted. */
  get publicNamespaces(): string[] {
    return [...this.#publicNamespaces].toSorted(compareText)
  }

  /** Namespaces of all modules and providers, sorted. */
  get namespaces(): string[] {
    this.#backlog.advance()
    const { Module, Provider } = this.#byName
    return [...new Set([...Module.byNamespace.keys(), ...Provider.byNamespace.keys()])].toSorted(
      compareText,
    )
  }

  /** A module or provider, if the view shows it. */
  find(view: View, kind: Listed['summary']['kind'], namespace: string, name: string) {
    this.#backlog.advance()
    const entry = this.#byName[kind].get(namespace, name)
    if (entry !== undefined) this.#backlog.advanceOn(entry.parent)
    return entry !== undefined && view.seen.has(entry.number) ? entry : undefined
  }

  /** The entries of a view, in any order. */
  *shown(view: View): Generator<Listed> {
    this.#backlog.advance()
    for (const number of view.seen) yield this.#entries[number] as Listed
  }

  /** The numbers of the entries of a view that pass the filters, as a set that must not be changed. */
  chosen(view: View, selection: Selection): Bits {
    this.#backlog.advance()
    return chosen(selection, {
      seen: view.seen,
      isPublic: this.views.public.seen,
      tags: this.#tags,
      names: this.#names,
    })
  }

  page(view: View, selection: Selection, request: PageRequest): Page {
    const set = this.chosen(view, selection)
    const { sortBy, descending, offset, limit } = request
    const totalCount = set.count
    if (offset >= totalCount) return { entries: [], totalCount }
    if (sortBy === 'relevance') {
      const found = Array.from(set, (number) => this.#entries[number] as Listed)
      const sorted = sortByRelevance(found, selection.text ?? '')
      return { entries: sorted.slice(offset, offset + limit), totalCount }
    }
    return { entries: this.#orders[sortBy].page(set, descending, offset, limit), totalCount }
  }

  /** A page of the entries with these numbers. */
  sorted(numbers: Iterable<number>, request: SortedRequest): Listed[] {
    const { sortBy, descending, offset, limit } = request
    const set = new Bits()
    for (const number of numbers) set.add(number)
    return this.#orders[sortBy].page(set, descending, offset, limit)
  }

  /** The entries of a view that pass the filters, newest news first. Read it without a pause. */
  newest(view: View, selection: Selection): Generator<Listed> {
    return this.#orders.news.largest(this.chosen(view, selection))
  }

  /** @param namespace of the Depots, default: all; their resources may be in others */
  depots(view: View, namespace?: string): ShownDepot[] {
    this.#backlog.advance()
    return this.#depots.shown({
      view,
      revision: this.#graphRevision,
      namespace,
      isPublic: ({ metadata }) =>
        this.#isLabelled(metadata.labels) && this.#publicNamespaces.has(metadata.namespace),
    })
  }

  /** @param namespace default: all */
  stats(view: View, namespace?: string): Stats {
    this.#backlog.advance()
    const set =
      namespace === undefined
        ? view.seen
        : view.seen.copy().keep(this.#tags.get(tag.namespace(namespace)))
    const totals =
      namespace === undefined
        ? view.totals(this.#entries, this.#revision)
        : sumOf(set, this.#entries)
    const best = [...this.#best.largest(set).take(mostDownloadedLimit)]
    return {
      totals: namedTotals(totals),
      mostDownloaded: mostDownloaded(best, mostDownloadedLimit, this.#options.downloads),
    }
  }

  #isLabelled(labels: Readonly<Record<string, string>>): boolean {
    return labels[this.#options.publicLabel] === 'true'
  }

  /** Updates one entry, unless it has more new Versions than may be read. */
  #refresh(parent: Parent, maxVersions: number): Worked {
    const { resource } = parent
    const known = this.#byParent.get(parent)
    if (this.#recounts.delete(parent) && known !== undefined) {
      this.#revision += 1
      this.#replace(known, recounted(known, this.#options.downloads))
      return { units: versionsPerParent, isDone: true }
    }
    if (resource === undefined) {
      this.#revision += 1
      if (known === undefined) return { units: 1, isDone: true }
      this.#remove(known)
      addStates(this.#states[parent.kind], known.summary.states, -1)
      this.#options.onReadme(parent.namespace, undefined, known.summary.readme)
      return { units: 1, isDone: true }
    }
    const { sum, cost } = this.#sums.of(parent, maxVersions)
    if (sum === undefined) return { units: cost, isDone: false }
    this.#revision += 1
    const summary = summaryOf(parent, resource, sum, this.#options)
    const before = known?.summary.states ?? noStates()
    addStates(this.#states[parent.kind], before, -1)
    addStates(this.#states[parent.kind], summary.states, 1)
    if (summary.states.duplicate > before.duplicate) this.#options.onDuplicates(parent)
    const [readme, oldReadme] = [summary.readme, known?.summary.readme]
    if (readme ?? oldReadme) this.#options.onReadme(parent.namespace, readme, oldReadme)
    if (known === undefined) this.#add(parent, summary)
    else this.#change(known, summary)
    return { units: versionsPerParent + cost, isDone: true }
  }

  #add(parent: Parent, summary: Summary): void {
    const entry = new Listed(this.#free.pop() ?? this.#entries.length, parent, summary)
    entry.revision = this.#revision
    entry.isPublic = this.#mayBePublic(summary)
    this.#entries[entry.number] = entry
    this.#byParent.set(parent, entry)
    this.#byName[summary.kind].set(summary.namespace, summary.name, entry)
    this.#tags.update(entry.number, undefined, summary)
    this.#names.put(entry)
    for (const order of this.#everyOrder()) order.insert(entry)
    for (const view of this.views.each()) view.admit(entry)
    this.#graphRevision = this.#revision
  }

  #remove(entry: Listed): void {
    const { number, summary } = entry
    for (const view of this.views.each()) view.dismiss(entry)
    for (const order of this.#everyOrder()) order.remove(entry)
    this.#names.delete(entry)
    this.#tags.update(number, summary, undefined)
    this.#byParent.delete(entry.parent)
    if (this.#byName[summary.kind].get(summary.namespace, summary.name) === entry) {
      this.#byName[summary.kind].delete(summary.namespace, summary.name)
    }
    this.#entries[number] = undefined
    this.#free.push(number)
    this.#graphRevision = this.#revision
  }

  #change(entry: Listed, summary: Summary): void {
    const old = entry.summary
    this.#replace(entry, summary)
    this.#tags.update(entry.number, old, summary)
    this.#names.put(entry)
    this.#publish(entry)
    if (!isSameNode(old, summary)) this.#graphRevision = this.#revision
  }

  /** Replaces the summary of an entry, and moves it in the orders. */
  #replace(entry: Listed, summary: Summary): void {
    const old = entry.summary
    const moved = this.#everyOrder().filter((order) => !order.isSamePlace(old, summary))
    for (const order of moved) order.remove(entry)
    entry.summary = summary
    entry.revision = this.#revision
    for (const order of moved) order.insert(entry)
  }

  /** Applies a change of the labels that make an entry public. */
  #publish(entry: Listed): void {
    const isPublic = this.#mayBePublic(entry.summary)
    if (isPublic === entry.isPublic) return
    entry.isPublic = isPublic
    entry.revision = this.#revision
    for (const view of this.views.each()) view.review(entry)
    this.#graphRevision = this.#revision
  }

  #mayBePublic({ namespace, resource }: Summary): boolean {
    return this.#publicNamespaces.has(namespace) && this.#isLabelled(resource.labels)
  }

  #everyOrder(): SortOrder[] {
    return [...Object.values(this.#orders), this.#best, this.#popular]
  }
}

/** Whether two states of an entry look the same in a graph. */
function isSameNode(a: Summary, b: Summary): boolean {
  return (
    a.latestVersion === b.latestVersion &&
    a.synced === b.synced &&
    a.resource.removalHeld === b.resource.removalHeld &&
    a.resource.system === b.resource.system &&
    JSON.stringify(a.scanCounts) === JSON.stringify(b.scanCounts)
  )
}
