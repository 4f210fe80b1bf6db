import type { Backend } from '../../api/v1alpha1/v1alpha1.ts'
import { archivePaths, archivePattern } from './archives.ts'
import { detailRoutes, latestDownloadRoute, providerDetailRoutes } from './detail.ts'
import { discoveryPaths, modulePrefix, providerPrefix } from './discovery.ts'
import { downloadSummaryRoute } from './download-summary.ts'
import {
  listNumbers,
  listQuery,
  listRoutes,
  providerListQuery,
  providerListRoutes,
  searchRoute,
} from './lists.ts'
import { moduleRoutes } from './modules.ts'
import { providerRoutes } from './providers.ts'

/** A route of the protocols, for the OpenAPI document. */
export interface DescribedRoute {
  /** With `:parameters`. */
  readonly route: string
  readonly operationId: string
  readonly summary: string
  readonly query?: Readonly<Record<string, string>>
  /** The parameter of the query that a request must have. */
  readonly requiredQuery?: string
  /** Parameters of the query that are whole numbers, with their bounds. */
  readonly numbers?: Readonly<
    Record<string, { readonly minimum: number; readonly maximum: number }>
  >
  readonly status: 200 | 204 | 302
  /** Media types of the body; absent: none. */
  readonly contentTypes?: readonly string[]
  /** Names of fields of a JSON body. */
  readonly required?: readonly string[]
  /** Headers of the answer, with their meaning. */
  readonly headers?: Readonly<Record<string, string>>
  /** Statuses of errors, in addition to those of every route. */
  readonly errors: readonly (400 | 404 | 416 | 501 | 502 | 504)[]
  /** Whether storage may answer: in parts, or at a URL of its own. */
  readonly isArchive?: boolean
}

const json = { status: 200, contentTypes: ['application/json'] } as const
const archive = {
  status: 200,
  contentTypes: ['application/zip', 'application/gzip'],
  headers: { ETag: 'The digest of the archive.', 'Accept-Ranges': '`bytes`.' },
  isArchive: true,
} as const
const ofStorage = [416, 502, 504] as const
const packageFields = [
  'protocols',
  'os',
  'arch',
  'filename',
  'download_url',
  'shasum',
  'shasums_url',
  'shasums_signature_url',
  'signing_keys',
]
const digest = 'Digest of the archive, as the metadata of the package gives it.'

/** All routes of service discovery and of the module and provider protocols. */
export const describedRoutes: readonly DescribedRoute[] = [
  ...discoveryPaths.map(
    (route): DescribedRoute => ({
      route,
      operationId: route.includes('terraform') ? 'discoverForTerraform' : 'discover',
      summary: 'Service discovery',
      ...json,
      required: ['modules.v1', 'providers.v1'],
      errors: [],
    }),
  ),
  {
    route: modulePrefix + moduleRoutes.versions,
    operationId: 'listModuleVersions',
    summary: 'Versions of a module',
    ...json,
    required: ['modules'],
    errors: [404],
  },
  {
    route: modulePrefix + moduleRoutes.download,
    operationId: 'downloadModule',
    summary: 'The URL of the archive of a module',
    status: 204,
    headers: {
      'X-Registry-Get': 'URL of the archive.',
      'X-Terraform-Get': 'The same.',
    },
    errors: [404],
  },
  {
    route: modulePrefix + latestDownloadRoute,
    operationId: 'downloadLatestModule',
    summary: 'Redirect to the latest version of a module',
    status: 302,
    headers: { Location: 'The download of that version, relative to this URL.' },
    errors: [404],
  },
  {
    route: modulePrefix + downloadSummaryRoute,
    operationId: 'sumModuleDownloads',
    summary: 'Downloads of a module in the last 7 and 30 days, in a year, and in total',
    ...json,
    required: ['data'],
    errors: [404],
  },
  ...Object.entries(listRoutes).map(
    ([what, route]): DescribedRoute => ({
      route: modulePrefix + route,
      operationId: `listModules_${what}`,
      summary: 'Modules with their latest versions: all, of a namespace, or of a name',
      query: listQuery,
      numbers: listNumbers,
      ...json,
      required: ['meta', 'modules'],
      errors: [400, 404],
    }),
  ),
  {
    route: modulePrefix + searchRoute,
    operationId: 'searchModules',
    summary: 'Modules whose names or documentation have every word, best first',
    query: {
      q: 'At most 8 words in at most 256 bytes.',
      namespace: 'The namespace of the modules.',
      ...listQuery,
    },
    requiredQuery: 'q',
    numbers: listNumbers,
    ...json,
    required: ['meta', 'modules'],
    errors: [400],
  },
  ...Object.entries(detailRoutes).map(
    ([what, route]): DescribedRoute => ({
      route: modulePrefix + route,
      operationId: what === 'latest' ? 'getModule' : 'getModuleVersion',
      summary: `A module in detail, ${what === 'latest' ? 'in its latest version' : 'in one version'}`,
      ...json,
      required: ['id', 'namespace', 'name', 'version', 'provider', 'root', 'versions'],
      errors: [404, 502, 504],
    }),
  ),
  ...(Object.keys(archivePaths) as Backend[]).map(
    (backend): DescribedRoute => ({
      route: modulePrefix + archivePattern(backend),
      operationId: `readModuleArchive_${archivePaths[backend].name}`,
      summary: `An archive of a module on ${archivePaths[backend].name}`,
      query: {
        fileChecksum: 'SHA-256 of the archive, in base64 or hexadecimal.',
        version: '`namespace/name` of the Version.',
      },
      ...archive,
      errors: [404, ...ofStorage],
    }),
  ),
  {
    route: providerPrefix + providerRoutes.versions,
    operationId: 'listProviderVersions',
    summary: 'Versions and platforms of a provider',
    ...json,
    required: ['versions'],
    errors: [404],
  },
  {
    route: providerPrefix + providerRoutes.package,
    operationId: 'getProviderPackage',
    summary: 'The package of a provider for a platform',
    ...json,
    required: packageFields,
    errors: [404, 501],
  },
  ...Object.entries(providerDetailRoutes).map(
    ([what, route]): DescribedRoute => ({
      route: providerPrefix + route,
      operationId: what === 'latest' ? 'getProvider' : 'getProviderVersion',
      summary: `A provider, ${what === 'latest' ? 'in its latest version' : 'in one version'}`,
      ...json,
      required: ['id', 'namespace', 'name', 'version', 'versions', 'docs'],
      errors: [404, 502, 504],
    }),
  ),
  ...Object.entries(providerListRoutes).map(
    ([what, route]): DescribedRoute => ({
      route: providerPrefix + route,
      operationId: `listProviders_${what}`,
      summary: 'Providers with their latest versions: all, or of a namespace',
      query: providerListQuery,
      numbers: listNumbers,
      ...json,
      required: ['meta', 'providers'],
      errors: [400, 404],
    }),
  ),
  {
    route: providerPrefix + providerRoutes.archive,
    operationId: 'readProviderArchive',
    summary: 'The archive of a provider for a platform',
    query: { os: 'Operating system.', arch: 'Architecture.', sha256: digest },
    ...archive,
    errors: [400, 404, ...ofStorage],
  },
  {
    route: providerPrefix + providerRoutes.shasums,
    operationId: 'readShasums',
    summary: 'SHA256SUMS of a version of a provider',
    query: { sha256: digest },
    status: 200,
    contentTypes: ['text/plain; charset=utf-8'],
    errors: [404],
  },
  {
    route: providerPrefix + providerRoutes.signature,
    operationId: 'readShasumsSignature',
    summary: 'Detached signature of SHA256SUMS',
    query: { sha256: digest },
    status: 200,
    contentTypes: ['application/octet-stream'],
    errors: [404, 501],
  },
]
