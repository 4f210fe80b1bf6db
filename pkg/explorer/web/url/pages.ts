import { reasons } from '../parts/reasons.ts'
import { count, oneOf, print, rows, type Shape, text, texts, type Values } from './search-params.ts'

/* The parameters of every page, in the order of the URL. Names are those of the API, if it has them. */

export const severities = ['CRITICAL', 'HIGH', 'MEDIUM', 'LOW'] as const
const anySeverity = ['', ...severities] as const

const sortNames = [
  'name',
  'namespace',
  'latestVersion',
  'synced',
  'severity',
  'totalDownloads',
  'lastDownloadedAt',
] as const

const resourceFilters = {
  q: text,
  namespace: texts,
  kind: oneOf(['', 'module', 'provider'], ''),
  synced: oneOf(['', 'true', 'false'], ''),
  severity: oneOf(anySeverity, ''),
  os: text,
  arch: text,
  public_only: oneOf(['', 'true'], ''),
  /** Empty for relevance with a text, otherwise for the name. */
  sort_by: oneOf(['', ...sortNames], ''),
  sort_dir: oneOf(['asc', 'desc'], 'asc'),
  page: count(1),
  page_size: rows(20),
}
export const resourcesParams = {
  view: oneOf(['table', 'cards'], 'table'),
  ...resourceFilters,
}
export type ResourcesValues = Values<typeof resourcesParams>

export const tools = ['terraform', 'tofu', 'terragrunt'] as const

/** Lists of the folders of a module that have their own pages. */
export const folderTabs = ['submodules', 'examples'] as const
export type FolderTab = (typeof folderTabs)[number]
/** Lists of one folder. */
export const rootTabs = ['inputs', 'outputs', 'resources', 'dependencies'] as const
const docsTabs = [...rootTabs, ...folderTabs] as const
export type DocsTab = (typeof docsTabs)[number]
/** Parts of a module that exist without documentation. */
export const factTabs = ['versions', 'findings', 'used-by'] as const
export const moduleTabs = [...docsTabs, ...factTabs] as const
export type ModuleTab = (typeof moduleTabs)[number]

export const resourceParams = {
  /** The version that the page shows; empty for the latest. */
  version: text,
  /** The part of a module to show; empty for the README. */
  tab: oneOf(['', ...moduleTabs], ''),
  /* Filters of the inputs. */
  i_q: text,
  i_group: oneOf(['', 'required', 'optional', 'deprecated'], ''),
  /** Filter of the outputs. */
  o_q: text,
  /** Filter of the resources. */
  r_q: text,
  /* Filters of the consumers. */
  u_q: text,
  u_version: text,
  u_state: oneOf(['', 'behind', 'deprecated', 'critical'], ''),
  u_page: count(1),
  u_page_size: rows(20),
  tool: oneOf(['', ...tools], ''),
  v_q: text,
  v_synced: oneOf(['', 'true', 'false'], ''),
  v_os: text,
  v_arch: text,
  v_page: count(1),
  v_page_size: rows(20),
  f_platform: text,
  f_severity: oneOf(anySeverity, ''),
  f_q: text,
  f_fix: oneOf(['', 'true'], ''),
}
export type ResourceValues = Values<typeof resourceParams>
export type InputGroup = ResourceValues['i_group']

export const depotsParams = {
  namespace: text,
  view: oneOf(['', 'graph', 'list'], ''),
  node: text,
  q: text,
  health: oneOf(['', 'healthy', 'trouble', 'unsynced', 'failing', 'held'], ''),
}
export type DepotsValues = Values<typeof depotsParams>

export const conflictsParams = {
  q: text,
  reason: oneOf(['', ...reasons], ''),
  namespace: text,
  page: count(1),
  page_size: rows(20),
}
export type ConflictsValues = Values<typeof conflictsParams>

export const heldBackParams = {
  q: text,
  why: oneOf(['', 'TooYoung', 'Denied', 'Unsigned', 'Breaking', 'NotAllowed', 'Refused'], ''),
  depot: text,
  order: oneOf(['asked', 'free', 'newest'], 'asked'),
  page: count(1),
  page_size: rows(20),
}
export type HeldBackValues = Values<typeof heldBackParams>

export const docsParams = {
  /** The version whose documentation to show; empty for the latest. */
  version: text,
  /** Filter of the pages. */
  q: text,
}
export type DocsValues = Values<typeof docsParams>

export const publishParams = {
  kind: oneOf(['module', 'provider'], 'module'),
  namespace: text,
  name: text,
  /** The target system of a module. */
  system: text,
  version: text,
}
export type PublishValues = Values<typeof publishParams>

export const statsParams = { namespace: text }
export const accessParams = { resource: text }

/** A submodule or example of a module. */
export interface Folder {
  readonly tab: FolderTab
  readonly name: string
}

export interface PageAddress {
  readonly namespace: string
  readonly kind: string
  readonly name: string
  /** Part of a module, for the page of that part. */
  readonly folder?: Folder | undefined
}

/** Path of the browse API on the explorer's server. */
const api = '/-/api'

/** Whether a text is long enough to search documentation for it. */
export const isSearched = (q: string): boolean => q.trim().length >= 2

export const resourcesUrl = (values: ResourcesValues): string =>
  `${api}/resources${print({ ...resourceFilters, match: text }, { ...values, match: isSearched(values.q) ? 'any' : '' })}`

export function resourceUrl({ namespace, kind, name }: PageAddress): string {
  return `${api}/resources/${encodeURIComponent(namespace)}/${kind}/${encodeURIComponent(name)}`
}

/** Without lists of findings, which the page requests separately. */
export const detailUrl = (address: PageAddress, version: string): string =>
  `${resourceUrl(address)}${print({ version: text, findings: text }, { version, findings: 'false' })}`

/** The documentation of a module version. */
export const docsUrl = (address: PageAddress, version: string): string =>
  `${resourceUrl(address)}/docs${print({ version: text }, { version })}`

/** A page of a provider's documentation; empty if the page should choose. */
export interface DocsPlace {
  readonly category: string
  readonly slug: string
}

const pathOf = ({ category, slug }: DocsPlace): string =>
  slug === '' ? '' : `/${encodeURIComponent(category)}/${encodeURIComponent(slug)}`

/** The pages of a provider version, or one of them. */
export const pagesUrl = (address: PageAddress, version: string, place?: DocsPlace): string =>
  `${resourceUrl(address)}/pages${place ? pathOf(place) : ''}${print({ version: text }, { version })}`

/** The changes between two versions of a module. */
export const comparisonUrl = (address: PageAddress, range: VersionRange): string =>
  `${resourceUrl(address)}/compare${print({ from: text, to: text }, range)}`

const paged = { page: count(1), page_size: rows(20) }
const versionFilters = { by: text, ...paged, q: text, synced: text, os: text, arch: text }
export function versionsUrl(address: PageAddress, values: ResourceValues): string {
  const { v_page: page, v_page_size: page_size, v_q: q, v_synced: synced, v_os, v_arch } = values
  const filters = { by: 'version', page, page_size, q, synced, os: v_os, arch: v_arch }
  return `${resourceUrl(address)}/versions${print(versionFilters, filters)}`
}

const consumerFilters = { q: text, version: text, state: text, ...paged }
export function consumersUrl(address: PageAddress, values: Partial<ResourceValues>): string {
  const { u_q: q, u_version: version, u_state: state, u_page: page, u_page_size } = values
  const filters = { q, version, state, page, page_size: u_page_size }
  return `${resourceUrl(address)}/consumers${print(consumerFilters, filters)}`
}

/** @param version undefined for a resource without one */
export const findingsUrl = (address: PageAddress, version = ''): string =>
  `${resourceUrl(address)}/scan-findings${print({ version: text, binaryVersion: text, shared: text }, { version, binaryVersion: version, shared: 'true' })}`

/** URLs of a path, with parameters of this shape. */
const urlsOf =
  <S extends Shape>(path: string, shape: S) =>
  (values: Partial<Values<S>> = {}): string =>
    path + print(shape, values)

export const graphUrl = urlsOf(`${api}/depots/graph`, statsParams)
export const statsUrl = urlsOf(`${api}/stats`, statsParams)
export const conflictsUrl = urlsOf(`${api}/conflicts`, conflictsParams)
export const heldBackUrl = urlsOf(`${api}/held-back`, heldBackParams)
export const searchUrl = (q: string): string => `${api}/search?q=${encodeURIComponent(q)}&limit=8`
/** The feed of news, at the address that feed readers need. */
export const feedHref = urlsOf('/depot/ui/v1/feed.atom', {
  namespace: text,
  kind: text,
  name: text,
})
export const namespacesUrl = `${api}/namespaces`
export const whoAmIUrl = `${api}/whoami`
export const publishRightsUrl = `${api}/publish-rights`
/** Claims of an address, and its versions with a number. */
export const explainUrl = (address: string, version: string): string =>
  `${api}/explain${print({ address: text, version: text }, { address, version })}`

/** First path elements of the server. Namespaces with such a name have their pages below `/-/r`. */
const taken = new Set(['depot', 'broker'])

function resourcePath({ namespace, kind, name }: PageAddress): string {
  const prefix = taken.has(namespace) ? '/-/r' : ''
  return `${prefix}/${encodeURIComponent(namespace)}/${kind}/${encodeURIComponent(name)}`
}

/** URL of the page of a module or provider, or of a folder of a module. */
export function resourceHref(address: PageAddress, values: Partial<ResourceValues> = {}): string {
  const { folder } = address
  const part = folder === undefined ? '' : `/${folder.tab}/${encodeURIComponent(folder.name)}`
  return resourcePath(address) + part + print(resourceParams, values)
}

/** Two versions of a module. The page chooses empty ones. */
export interface VersionRange {
  readonly from: string
  readonly to: string
}

/** URL of the page that compares two versions. */
export const compareHref = (address: PageAddress, { from, to }: VersionRange): string =>
  `${resourcePath(address)}/compare/${encodeURIComponent(from)}...${encodeURIComponent(to)}`

/** URL of a page of a provider's documentation. */
export const docsHref = (
  address: PageAddress,
  place: DocsPlace,
  values: Partial<DocsValues> = {},
): string => `${resourcePath(address)}/docs${pathOf(place)}${print(docsParams, values)}`

export const resourcesHref = urlsOf('/', resourcesParams)
export const depotsHref = urlsOf('/depots', depotsParams)
export const heldBackHref = urlsOf('/held-back', heldBackParams)
export const publishHref = urlsOf('/publish', publishParams)
export const conflictsHref = urlsOf('/conflicts', conflictsParams)
export const statsHref = urlsOf('/stats', statsParams)
export const accessHref = urlsOf('/access', accessParams)
