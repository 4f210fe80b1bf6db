import { backendOf, backends, type ParentKind } from '../../api/v1alpha1/v1alpha1.ts'
import { allows, type Binding } from '../access/access.ts'
import { Bits, isSemver } from './collections.ts'
import { bestDownloadsOf, type DownloadTable } from './downloads.ts'
import { type FindingTable, severities } from './findings.ts'
import type { Parent } from './parent.ts'
import type { ReadmeRef } from './rare.ts'
import type { ResourceRow } from './resource-row.ts'
import type { VersionRow } from './version-row.ts'
import {
  accumulate,
  type ScanCounts,
  scanCounts,
  type VersionStates,
  type VersionSum,
} from './version-sums.ts'

/** A snapshot of one module or provider and all its Versions. */
export interface Summary {
  readonly kind: ParentKind
  readonly namespace: string
  readonly name: string
  readonly resource: ResourceRow
  /** Its name in configurations after the namespace: `network/aws`, or the type of a provider. */
  readonly address: string
  readonly latestVersion: string | undefined
  /** Counts of the latest version; undefined if that was not scanned. */
  readonly scanCounts: ScanCounts | undefined
  /** The value of the resource's own status; otherwise, whether it has Versions and all are in sync. */
  readonly synced: boolean
  readonly states: VersionStates
  /** True if any Version is not in sync. */
  readonly hasUnsynced: boolean
  /** `linux/amd64`, each once; empty for modules. */
  readonly platforms: readonly string[]
  readonly downloads: number
  /** In milliseconds since 1970; undefined if there was none. */
  readonly lastDownloadedAt: number | undefined
  /** Downloads of the most downloaded version that still exists. */
  readonly bestDownloads: number
  /** End of the latest scan of any version, in milliseconds since 1970. */
  readonly lastScannedAt: number | undefined
  /** Time of the last news about any version, or later, in seconds since 1970. */
  readonly newsAt: number
  readonly totals: Totals
  /** The place of the latest version's README; modules only. */
  readonly readme: ReadmeRef | undefined
}

export interface SummarySources {
  readonly findings: FindingTable
  readonly downloads: DownloadTable
}

/**
 * Sums up an existing parent.
 *
 * @param sum the sum of its Versions
 */
export function summaryOf(
  parent: Parent,
  resource: ResourceRow,
  sum: VersionSum,
  sources: SummarySources,
): Summary {
  const { kind, namespace, name } = parent
  const counts = countsOf(parent, sources.downloads)
  const latestVersion = latestVersionOf(parent, resource, sum)
  const latest = latestVersion === undefined ? [] : parent.rowsOf(latestVersion)
  const hasUnsynced = sum.health.unsynced > 0 || sum.health.failed > 0
  return {
    kind,
    namespace,
    name,
    resource,
    address: addressOf(parent, resource),
    latestVersion,
    scanCounts: scanCounts(sources.findings, latest),
    synced: resource.synced ?? (sum.count > 0 && !hasUnsynced),
    states: sum.states,
    hasUnsynced,
    platforms: kind === 'Module' ? [] : [...sum.platforms],
    ...counts,
    lastScannedAt: sum.lastScannedAt,
    newsAt: sum.newsAt,
    totals: totalsOf({ kind, resource, sum, downloads: counts.downloads }),
    readme: latest.find((row) => row.readme !== undefined)?.readme,
  }
}

/** Updates the summary of an entry whose download counts alone changed. */
export function recounted({ parent, summary }: Listed, table: DownloadTable): Summary {
  const counts = countsOf(parent, table)
  const totals = summary.totals.with(columns.indexOf('downloads'), counts.downloads)
  return { ...summary, ...counts, totals }
}

function countsOf(
  parent: Parent,
  table: DownloadTable,
): Pick<Summary, 'downloads' | 'lastDownloadedAt' | 'bestDownloads'> {
  const known = table.of(parent.kind, parent.namespace, parent.name)
  return {
    downloads: known?.count ?? 0,
    lastDownloadedAt: known?.count ? known.lastAt : undefined,
    bestDownloads: bestDownloadsOf(parent, known),
  }
}

/** A module without a system has every system. */
function addressOf(
  { kind, name, hasAddress }: Parent,
  { configName, system }: ResourceRow,
): string {
  const own = hasAddress ? configName : name
  return kind === 'Provider' ? own : `${own}/${system ?? 'generic'}`
}

/**
 * Returns the version of the resource's own status if it exists and no part of it was withdrawn. Otherwise, the highest
 * version that a CLI would choose, that it can install, or that it could request. Withdrawn versions cannot be installed.
 */
function latestVersionOf(
  parent: Parent,
  { latestVersion }: ResourceRow,
  sum: VersionSum,
): string | undefined {
  const rows = latestVersion === undefined ? [] : parent.rowsOf(latestVersion)
  const claimed = rows.filter((row) => !row.isDuplicate)
  const isWhole = claimed.every(isOffered)
  if (claimed.some((row) => isOffered(row) && (isWhole || row.downloadable))) return latestVersion
  return sum.newestRelease ?? sum.newest ?? parent.versions.find(isOffered)?.version
}

/** Whether people may be directed to it. It may not be stored yet. */
const isOffered = ({ version, lifecycle, isDuplicate }: VersionRow): boolean =>
  isSemver(version) && !isDuplicate && (lifecycle === undefined || lifecycle.state === 'Deprecated')

/** An existing module or provider, with its number in sets. */
export class Listed {
  readonly number: number
  readonly parent: Parent
  summary: Summary
  /** Whether guests may see it: it and its namespace have the public label. */
  isPublic = false
  #revision = 0
  #memo: Map<string, string> | undefined

  constructor(number: number, parent: Parent, summary: Summary) {
    this.number = number
    this.parent = parent
    this.summary = summary
  }

  /** Revision of the read model at which it changed last. */
  get revision(): number {
    return this.#revision
  }

  set revision(revision: number) {
    this.#revision = revision
    this.#memo = undefined
  }

  /** Remembers a text until the entry changes, so that it is formatted once per change. */
  memo(key: string, compose: (entry: Listed) => string): string {
    this.#memo ??= new Map()
    const known = this.#memo.get(key)
    if (known !== undefined) return known
    const text = compose(this)
    this.#memo.set(key, text)
    return text
  }
}

const columns = [
  'modules',
  'providers',
  'versions',
  'storageBytes',
  'downloads',
  'synced',
  'unsynced',
  'failed',
  ...severities,
  'affectedResources',
  ...backends,
] as const

type Column = (typeof columns)[number]

/** Numbers in the order of `columns`, of one resource or summed over many. */
export type Totals = number[]

function noTotals(): Totals {
  return columns.map(() => 0)
}

export function namedTotals(totals: Readonly<Totals>): Record<Column, number> {
  return Object.fromEntries(columns.map((column, index) => [column, totals[index] ?? 0])) as Record<
    Column,
    number
  >
}

/** The numbers of one resource, for the statistics of callers who may see it. */
function totalsOf({
  kind,
  resource,
  sum,
  downloads,
}: {
  readonly kind: ParentKind
  readonly resource: ResourceRow
  readonly sum: VersionSum
  readonly downloads: number
}): Totals {
  const totals = noTotals()
  const add = (column: Column, count: number): void => {
    const index = columns.indexOf(column)
    totals[index] = (totals[index] ?? 0) + count
  }
  add(kind === 'Module' ? 'modules' : 'providers', 1)
  add('downloads', downloads)
  add('versions', sum.count)
  add('storageBytes', sum.storageBytes)
  add('synced', sum.health.synced)
  add('unsynced', sum.health.unsynced)
  add('failed', sum.health.failed)
  for (const [rank, severity] of severities.entries()) add(severity, sum.findings[rank] ?? 0)
  add('affectedResources', sum.findings.some((count) => count > 0) ? 1 : 0)
  const storage = resource.storage ?? sum.storage
  if (storage !== undefined) add(backendOf(storage), 1)
  return totals
}

/** Entries that are visible in addition to the public ones. */
type Allows = (kind: ParentKind, name: string) => boolean

/** Entries by number. Numbers of deleted entries are empty. */
type Numbered = readonly (Listed | undefined)[]

/**
 * The visible entries of one kind of caller, as a set of numbers: `all`, `public`, or the view of a GroupBinding (public
 * entries and those that the binding allows).
 */
export class View {
  /** Unique key of the view. */
  readonly key: string
  /** Whether Depots without the public label are visible. */
  readonly showsEveryDepot: boolean
  readonly #allows: Allows
  readonly #allowed = new Bits()
  #seen = new Bits()
  #totals: { readonly revision: number; readonly sum: Totals } | undefined

  constructor(key: string, isAllowed: Allows) {
    this.key = key
    this.showsEveryDepot = key !== 'public'
    this.#allows = isAllowed
  }

  /** The visible entries. Callers must not change the set. */
  get seen(): Bits {
    return this.#seen
  }

  /** The sum over the visible entries, kept for one revision. */
  totals(entries: Numbered, revision: number): Readonly<Totals> {
    if (this.#totals?.revision !== revision) {
      this.#totals = { revision, sum: sumOf(this.#seen, entries) }
    }
    return this.#totals.sum
  }

  /** Whether the view shows a name, even if no entry has it. */
  allows(kind: ParentKind, name: string): boolean {
    return this.#allows(kind, name)
  }

  /** Adds a new entry if the view shows it. */
  admit(entry: Listed): void {
    const { kind, name } = entry.summary
    if (this.#allows(kind, name)) this.#allowed.add(entry.number)
    this.review(entry)
  }

  /** Removes an entry that no longer exists. */
  dismiss({ number }: Listed): void {
    this.#allowed.delete(number)
    this.#seen.delete(number)
  }

  /** Applies a change of `isPublic` of one entry. */
  review({ number, isPublic }: Listed): void {
    if (isPublic || this.#allowed.has(number)) this.#seen.add(number)
    else this.#seen.delete(number)
  }

  /** Applies a change of `isPublic` of many entries. */
  reviewAll(isPublic: Bits): void {
    this.#seen = this.#allowed.copy().merge(isPublic)
  }
}

export function sumOf(set: Bits, entries: Numbered): Totals {
  const sum = noTotals()
  for (const number of set) {
    const entry = entries[number]
    if (entry !== undefined) accumulate(sum, entry.summary.totals)
  }
  return sum
}

/** All views. The view of a binding costs nothing until it is first used. */
export class Views {
  /** Number of the next view, which makes keys unique. */
  #opened = 0
  readonly all = new View('all', () => true)
  readonly public = new View('public', () => false)
  readonly #bindings = new Map<string, { readonly binding: Binding; readonly view: View }>()

  of(binding: Binding, entries: Numbered): View {
    const known = this.#bindings.get(binding.name)
    if (known?.binding === binding) return known.view
    this.#opened += 1
    const key = `${binding.name} ${this.#opened}`
    const view = new View(key, (kind, name) => allows(binding, kind, name))
    for (const entry of entries) if (entry !== undefined) view.admit(entry)
    this.#bindings.set(binding.name, { binding, view })
    return view
  }

  /** Applies a change of `isPublic` of some entries. */
  republish(changed: Bits, entries: Numbered): void {
    const isPublic = this.public.seen.copy()
    for (const number of changed) {
      if (entries[number]?.isPublic) isPublic.add(number)
      else isPublic.delete(number)
    }
    for (const view of this.each()) view.reviewAll(isPublic)
  }

  /** Removes the view of a deleted binding. */
  forget(bindingName: string): void {
    this.#bindings.delete(bindingName)
  }

  /** All views that a caller may hold. */
  *each(): Generator<View> {
    yield this.all
    yield this.public
    for (const { view } of this.#bindings.values()) yield view
  }
}
