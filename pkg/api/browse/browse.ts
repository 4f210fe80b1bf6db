/**
 * The records of the browse API, as schemas: pkg/registry/browse creates the OpenAPI document from them, and the explorer
 * takes its types from them.
 */

import * as z from 'zod'
import { ModuleComparison, ModuleDocs, ProviderPage } from '../docs/docs.ts'
import { heldWhys } from '../held/held.ts'

export type { InterfaceChange, ModuleComparison, ProviderPage } from '../docs/docs.ts'

/** The records of the answers, under their names in the OpenAPI document. */
export const components = z.registry<{ id: string }>()

const name = z.string()
const moment = z.string().describe('RFC 3339.')
const tally = z.int().min(0)
const kind = z.enum(['module', 'provider'])

const ScanCounts = z
  .strictObject({ critical: tally, high: tally, medium: tally, low: tally, unknown: tally })
  .describe('Distinct findings by severity.')
  .register(components, { id: 'ScanCounts' })

const SecurityFinding = z
  .strictObject({
    vulnerabilityID: z.string().describe('CVE, GHSA or rule of the scanner.'),
    pkgName: z.string().describe('Package that is affected.'),
    installedVersion: z.string().describe('Version in use.'),
    fixedVersion: z.string().optional().describe('Lowest version that is not affected.'),
    severity: z.string().describe('CRITICAL, HIGH, MEDIUM, LOW or UNKNOWN.'),
    title: z.string().describe('Short description.'),
  })
  .register(components, { id: 'SecurityFinding' })

const sourceScanFindings = z.array(SecurityFinding)
const binaryScanFindings = z
  .record(z.string(), z.array(SecurityFinding))
  .describe('By `os/arch`; providers only.')

const page = {
  totalCount: tally.describe('Items on all pages.'),
  page: z.int().min(1),
  pageSize: z.int().min(1).max(100),
}

export const NamespaceList = z
  .strictObject({ items: z.array(z.strictObject({ name, public: z.literal(true) })) })
  .register(components, { id: 'NamespaceList' })

export const unservedReasons = [
  'Duplicate',
  'AddressTaken',
  'ParentMissing',
  'NotSemver',
  'NoPlatform',
  'NoFileName',
  'NoStorage',
  'NoDigest',
  'BreakingChange',
  'Quarantined',
] as const

const why = {
  reason: z
    .enum(unservedReasons)
    .describe('Why it is not served, or not under its address; docs/errors.md explains each.'),
  message: z.string().describe('What is so and what to do, as the end of a sentence.'),
  servedInstead: z
    .string()
    .optional()
    .describe('Name of the object that is served, in the same namespace.'),
}
/** Present where there is a reason. */
const whyNot = z.object(why).partial().shape

/** Reasons of a module or provider. With the last two, it is served, and something waits. */
const resourceReasons = [...unservedReasons, 'RemovalHeld', 'HeldBack'] as const

const card = {
  kind,
  namespace: name,
  name,
  address: z
    .string()
    .min(1)
    .describe(
      'What stands for it in configurations after the namespace: `{name}/{system}` of a module, the type of a provider.',
    ),
  latestVersion: z.string().optional().describe('Absent where there is no version.'),
  synced: z
    .boolean()
    .describe(
      'As its status says; without one, whether it has versions and all of them are in sync.',
    ),
  provider: z.string().optional().describe('Target system; modules only.'),
  repoUrl: z.string().optional().describe('Source repository.'),
  scanCounts: ScanCounts.optional().describe('Absent where the latest version was not scanned.'),
  public: z.boolean().describe('Whether it and its namespace carry the public label.'),
  hasUnsyncedVersions: z
    .literal(true)
    .optional()
    .describe('Present where a version is out of sync.'),
  totalDownloads: tally,
  lastDownloadedAt: moment.optional(),
  ...whyNot,
  reason: z
    .enum(resourceReasons)
    .optional()
    .describe(
      'Why it is not served under its address, or `RemovalHeld`: versions that are not wanted any more stay served until a person decides, or `HeldBack`: a policy holds back versions of its upstream. docs/errors.md explains each.',
    ),
}

export const searchFields = [
  'name',
  'namespace',
  'system',
  'resource',
  'provider',
  'input',
  'output',
  'submodule',
  'description',
  'heading',
] as const

const matched = z
  .array(z.strictObject({ field: z.enum(searchFields), text: z.string() }))
  .describe('Where the words are in the latest version; at most five texts of a field.')

export const BrowseResource = z
  .strictObject({ ...card, matched: matched.optional() })
  .register(components, { id: 'Resource' })
export type BrowseResource = z.infer<typeof BrowseResource>

export const ResourceList = z
  .strictObject({ items: z.array(BrowseResource), ...page })
  .register(components, { id: 'ResourceList' })

export const SearchResults = z
  .strictObject({
    items: z.array(z.strictObject({ ...card, matched })),
    totalCount: tally.describe('The modules and providers of all answers.'),
    next: z.string().optional().describe('The cursor of the next answer. Absent at the end.'),
    isTruncated: z
      .literal(true)
      .optional()
      .describe('Present if the words match too much, so that results may be missing.'),
  })
  .register(components, { id: 'SearchResults' })
export type SearchResults = z.infer<typeof SearchResults>

const lifecycleState = z.enum(['Deprecated', 'Yanked', 'Quarantined'])

const VersionLifecycle = z
  .strictObject({
    state: lifecycleState.describe(
      'Deprecated: another one is better. Yanked: not for new users. Quarantined: not served.',
    ),
    message: z.string().optional().describe('Why.'),
    replacedBy: z.string().optional().describe('Version or address to take instead.'),
    link: z.string().optional().describe('Page that explains it.'),
  })
  .register(components, { id: 'VersionLifecycle' })

export const ResourceDetail = z
  .strictObject({
    ...card,
    selectedVersion: z
      .string()
      .optional()
      .describe('The version of the scan counts, findings, downloads and README.'),
    scanCounts: ScanCounts.optional().describe('Absent where that version was not scanned.'),
    downloadCount: tally.optional().describe('Of that version; absent where there was none.'),
    platforms: z
      .array(z.string())
      .optional()
      .describe('`os/arch` of the archives of that version; providers only.'),
    versions: z
      .array(
        z.strictObject({
          version: z.string(),
          synced: z.boolean(),
          state: lifecycleState
            .optional()
            .describe('Of its lifecycle; absent for an active version.'),
        }),
      )
      .describe('Newest first.'),
    lifecycle: VersionLifecycle.optional().describe(
      'Of that version; absent for an active one, and where a platform of it is active.',
    ),
    sourceScanFindings: sourceScanFindings.describe('Of that version.'),
    binaryScanFindings: binaryScanFindings
      .optional()
      .describe('Of that version, by `os/arch`; providers only.'),
    readmeContent: z.string().optional().describe('Markdown of that version; modules only.'),
    filesUrl: z
      .string()
      .optional()
      .describe(
        'Folder of the module in its repository, at the tag of that version; relative links of the README lead from there.',
      ),
    hasDocs: z
      .literal(true)
      .optional()
      .describe('Present if that version has documentation; modules only.'),
    hasPages: z
      .literal(true)
      .optional()
      .describe('Present if that version has pages of documentation; providers only.'),
    upstreamDocsUrl: z
      .string()
      .optional()
      .describe('Its page in the public registry that it comes from; providers only.'),
  })
  .register(components, { id: 'ResourceDetail' })
export type ResourceDetail = z.infer<typeof ResourceDetail>

export const BrowseVersion = z
  .strictObject({
    version: z.string(),
    synced: z
      .boolean()
      .describe('Whether it is synchronised and its last synchronisation did not fail.'),
    syncStatus: z.string().optional().describe('What the last synchronisation did, in words.'),
    os: z.string().optional().describe('Providers only.'),
    arch: z.string().optional().describe('Providers only.'),
    fileName: z.string().optional().describe('Name of the archive.'),
    checksum: z.string().optional().describe('SHA-256 of the archive, hexadecimal.'),
    scanCounts: ScanCounts.optional().describe('Absent where it was not scanned.'),
    downloadCount: tally.optional().describe('Absent where there was no download.'),
    lastDownloadedAt: moment.optional(),
    archiveSizeBytes: tally.optional().describe('Compressed size.'),
    lifecycle: VersionLifecycle.optional().describe('Absent for an active version.'),
    breaks: z
      .strictObject({
        from: z.string().describe('The version before it, with the same major number.'),
        reasons: z.array(z.string()).describe('The first three breaking changes.'),
      })
      .optional()
      .describe('Present where it breaks callers without a new major version. Modules only.'),
    ...whyNot,
  })
  .register(components, { id: 'Version' })
export type BrowseVersion = z.infer<typeof BrowseVersion>

export const BrowseConflict = z
  .strictObject({
    ...why,
    kind: kind.describe('Of the resource, and of the resource of a version.'),
    namespace: name,
    name: name.describe('Of the object.'),
    resource: name
      .optional()
      .describe('Name of the module or provider; absent where a version has none.'),
    address: z.string().optional().describe('The address that it asks for, after the namespace.'),
    version: z.string().optional().describe('Absent for modules and providers.'),
    os: z.string().optional().describe('Providers only.'),
    arch: z.string().optional().describe('Providers only.'),
  })
  .register(components, { id: 'Conflict' })
export type BrowseConflict = z.infer<typeof BrowseConflict>

export const ConflictList = z
  .strictObject({
    items: z.array(BrowseConflict),
    ...page,
    counts: z
      .array(z.strictObject({ reason: z.enum(unservedReasons), count: tally }))
      .describe('By reason, whatever the filter by reason and the page.'),
  })
  .register(components, { id: 'ConflictList' })
export type ConflictList = z.infer<typeof ConflictList>

export const HeldBackItem = z
  .strictObject({
    why: z
      .enum(heldWhys)
      .describe(
        'TooYoung: it comes in by itself. Denied, NotAllowed, Refused: a rule of deny, the lack of one of allow, the expression.',
      ),
    message: z.string().describe('What the policy says and what to do, as the end of a sentence.'),
    kind,
    namespace: name,
    name: name.describe('Of the module or provider.'),
    version: z.string().describe('As its upstream spells it.'),
    address: z.string().describe('Host and path of its source, as exceptions name it.'),
    depot: z.string().optional().describe('The Depot with the policy, as `namespace/name`.'),
    by: z
      .literal('Installation')
      .optional()
      .describe('Present if the policy of the whole installation holds it.'),
    since: moment.optional().describe('From when its age counts, or since when it is refused.'),
    until: moment.optional().describe('When it is free; absent if it is refused.'),
    askedFor: tally.describe('Refused requests for it since this server started.'),
  })
  .register(components, { id: 'HeldBackItem' })
export type HeldBackItem = z.infer<typeof HeldBackItem>

export const HeldBackList = z
  .strictObject({
    items: z.array(HeldBackItem),
    ...page,
    unlisted: tally.describe(
      'How many more are held, whatever the filters: the status of a resource has room for the first thousand.',
    ),
    depots: z
      .array(z.string())
      .describe('The Depots whose policies hold something back, whatever the filters.'),
  })
  .register(components, { id: 'HeldBackList' })
export type HeldBackList = z.infer<typeof HeldBackList>

export const Explanation = z
  .strictObject({
    address: z.string().describe('As asked.'),
    claims: z
      .array(
        z.strictObject({
          kind,
          namespace: name,
          name,
          address: z.string().describe('Under which it is served, after the namespace.'),
          ...whyNot,
        }),
      )
      .describe('Modules and providers that ask for the address; the one without reason has it.'),
    versions: z
      .array(
        z.strictObject({
          kind,
          namespace: name,
          name: name.describe('Of the Version.'),
          resource: name.optional().describe('Absent where it has none.'),
          version: z.string(),
          os: z.string().optional(),
          arch: z.string().optional(),
          ...whyNot,
        }),
      )
      .optional()
      .describe('Versions of that number; the ones without reason are served.'),
  })
  .register(components, { id: 'Explanation' })
export type Explanation = z.infer<typeof Explanation>

const platforms = z.array(z.string()).optional()

export const VersionList = z
  .strictObject({
    items: z.array(BrowseVersion),
    ...page,
    versionScanCounts: z
      .record(z.string(), ScanCounts)
      .optional()
      .describe('By version, of all its archives; where pages count versions.'),
    availableOS: platforms.describe('Of all versions, whatever the filter; providers only.'),
    availableArch: platforms.describe('Of all versions, whatever the filter; providers only.'),
  })
  .register(components, { id: 'VersionList' })

const scannedBy = {
  scannedAt: z.string().optional(),
  scanner: z.string().optional().describe('Scanner and its version, if known.'),
  database: z.string().optional().describe('When its database was made, or what it consists of.'),
}

export const ScanFindings = z
  .strictObject({
    sourceScanFindings: sourceScanFindings.optional(),
    binaryScanFindings: binaryScanFindings.optional(),
    sameFindings: z
      .record(z.string(), z.string())
      .optional()
      .describe('With `shared`: platforms without a list, and the platform with the same one.'),
    selectedVersion: z.string().optional().describe('Whose source scan is shown.'),
    scannedVersions: z.array(z.string()).optional().describe('With a source scan, newest first.'),
    binaryVersions: z
      .array(z.string())
      .optional()
      .describe('With a binary scan, newest first; providers only.'),
    oldestScan: z
      .strictObject(scannedBy)
      .optional()
      .describe('The oldest of the scans that are shown.'),
  })
  .register(components, { id: 'ScanFindings' })
export type ScanFindings = z.infer<typeof ScanFindings>

const PackageFindings = z
  .strictObject({
    pkgName: z.string().describe('Package, or resource of a module.'),
    installedVersion: z.string().describe('Version in use; empty where there is none.'),
    severity: z.string().describe('Of the worst finding.'),
    findings: tally,
    fixedIn: z
      .string()
      .optional()
      .describe('The lowest version that closes as many findings as any other.'),
    closes: tally.optional().describe('Number of findings that `fixedIn` closes.'),
  })
  .register(components, { id: 'PackageFindings' })

export const VersionFindings = z
  .strictObject({
    address: z.string().describe('`namespace/name/system` or `namespace/type`.'),
    version: z.string(),
    scans: z
      .array(
        z.strictObject({
          in: z.enum(['source', 'binary']),
          platforms: z
            .array(z.string())
            .optional()
            .describe('`os/arch` of the archives with these findings; binaries only.'),
          ...scannedBy,
          truncated: z
            .literal(true)
            .optional()
            .describe('Present if the mildest findings are missing, because there were too many.'),
          findings: z.array(SecurityFinding),
        }),
      )
      .describe('Of the source, and of the binaries of providers: equal findings are one item.'),
    unscanned: z
      .array(z.string())
      .describe('Archives that nobody scanned: `source` of a module, `os/arch` of a provider.'),
    packages: z.array(PackageFindings).describe('All findings by package, the worst first.'),
  })
  .register(components, { id: 'VersionFindings' })
export type VersionFindings = z.infer<typeof VersionFindings>

const foreign = (what: string) =>
  z.looseObject({ version: z.union([z.string(), z.int()]) }).describe(what)

export const FindingsAnswer = z
  .union([VersionFindings, foreign('A SARIF 2.1.0 log, or a CycloneDX 1.6 document.')])
  .register(components, { id: 'FindingsAnswer' })

const backend = z.enum(['s3', 'azure', 'gcs', 'filesystem'])
const polling = z.int().min(0).describe('0: never.')
const managed = z.array(z.string()).describe('Names; `namespace/name` where in another namespace.')

export const DepotList = z
  .strictObject({
    items: z.array(
      z.strictObject({
        namespace: name,
        name,
        modules: managed,
        providers: managed,
        pollingIntervalMinutes: polling,
        storageBackend: backend.optional().describe('Absent where the Depot names none.'),
      }),
    ),
  })
  .register(components, { id: 'DepotList' })
export type DepotList = z.infer<typeof DepotList>

const removalHeld = z
  .boolean()
  .optional()
  .describe('True while a person has to confirm that versions are removed; otherwise absent.')

export const DepotGraph = z
  .strictObject({
    depots: z.array(
      z.strictObject({
        id: z.string().describe('`namespace/name`.'),
        namespace: name,
        name,
        storageBackend: backend.optional(),
        pollingIntervalMinutes: polling,
        managedModuleNames: managed,
        managedProviderNames: managed,
        ready: z
          .boolean()
          .optional()
          .describe('Its condition Ready; absent while that is unknown.'),
        reason: z.string().optional().describe('Reason of the condition, if it is false.'),
      }),
    ),
    modules: z.array(
      z.strictObject({
        id: z.string().describe('`namespace/module/name`.'),
        namespace: name,
        name,
        provider: z.string().optional(),
        synced: z.boolean(),
        latestVersion: z.string().optional(),
        scanCounts: ScanCounts.optional(),
        removalHeld,
        depotID: z.string().describe('The first of the Depots that manage it.'),
      }),
    ),
    providers: z.array(
      z.strictObject({
        id: z.string().describe('`namespace/provider/name`.'),
        namespace: name,
        name,
        synced: z.boolean(),
        removalHeld,
      }),
    ),
    edges: z.array(z.strictObject({ id: z.string(), source: z.string(), target: z.string() })),
    summary: z.strictObject({ totalDepots: tally, totalModules: tally, totalProviders: tally }),
    generatedAt: moment.describe('When this state was first seen, RFC 3339.'),
  })
  .register(components, { id: 'DepotGraph' })

export const BrowseStats = z
  .strictObject({
    totalModules: tally,
    totalProviders: tally,
    totalVersions: tally,
    totalStorageBytes: tally,
    totalDownloads: tally,
    syncHealth: z.strictObject({
      syncedVersions: tally,
      unsyncedVersions: tally,
      failedVersions: tally,
    }),
    securityPosture: z.strictObject({
      critical: tally,
      high: tally,
      medium: tally,
      low: tally,
      unknown: tally,
      totalAffectedResources: tally.describe('Modules and providers with a finding.'),
    }),
    storageDistribution: z
      .array(z.strictObject({ backend, count: tally }))
      .describe('Modules and providers by storage backend.'),
    mostDownloaded: z
      .array(
        z.strictObject({
          namespace: name,
          kind,
          name,
          version: z.string(),
          downloadCount: tally,
          lastDownloadedAt: moment.optional(),
        }),
      )
      .max(10)
      .describe('Most first.'),
  })
  .register(components, { id: 'BrowseStats' })
export type BrowseStats = z.infer<typeof BrowseStats>

const counts = z.array(tally).describe('One for each step, oldest first.')

export const DownloadHistory = z
  .strictObject({
    from: moment.describe('Start of the first step, RFC 3339.'),
    to: moment.describe('End of the last step, RFC 3339.'),
    stepSeconds: z.int().min(3600),
    total: tally.describe('Of all versions, those that are gone included.'),
    counts,
    versions: z
      .array(z.strictObject({ version: z.string(), total: tally, counts }))
      .max(20)
      .describe('Those that were downloaded most, most first.'),
  })
  .register(components, { id: 'DownloadHistory' })
export type DownloadHistory = z.infer<typeof DownloadHistory>

const date = z.string().describe('YYYY-MM-DD, in UTC.')

/** Consumers of a module or provider in the last 90 days. */
export const ConsumerList = z
  .strictObject({
    items: z.array(
      z.strictObject({
        consumer: z
          .string()
          .describe(
            'A program or group, with its kind: `serviceaccount:`, `client:`, `group:` or `person:`. `(others)`: those after the first 1,000.',
          ),
        versions: z
          .array(
            z.strictObject({
              version: z.string(),
              lastUsed: date,
              days: z.int().min(1).max(90).describe('On how many days it was downloaded.'),
              state: z
                .enum([...lifecycleState.options, 'Gone'])
                .optional()
                .describe('Absent for an active version. Gone: the registry does not have it.'),
              critical: z.int().min(1).optional().describe('Number of CRITICAL findings.'),
            }),
          )
          .describe('Newest first.'),
        lastUsed: date,
        behind: tally.describe('How many releases are newer than the oldest version that it uses.'),
      }),
    ),
    ...page,
    consumers: tally.describe('Consumers without any filter.'),
    onLatest: tally.describe('Consumers that are not behind.'),
    troubled: tally.describe(
      'Consumers of a version that is deprecated, withdrawn or gone, or has CRITICAL findings.',
    ),
  })
  .register(components, { id: 'ConsumerList' })
export type ConsumerList = z.infer<typeof ConsumerList>

/** The documentation of a module version, with what it belongs to. */
export const VersionDocs = ModuleDocs.extend({
  address: z.string().describe('Name and system of the module, such as network/aws.'),
  version: z.string(),
}).register(components, { id: 'VersionDocs' })
export type VersionDocs = z.infer<typeof VersionDocs>

const ofProvider = {
  address: z.string().describe('Type of the provider.'),
  version: z.string(),
}

/** The list of a provider version's pages. */
export const ProviderPages = z
  .strictObject({
    ...ofProvider,
    pages: z.array(ProviderPage).describe('By path.'),
    leftOut: tally.describe('Number of pages that were not stored, because they were too many.'),
  })
  .register(components, { id: 'ProviderPages' })
export type ProviderPages = z.infer<typeof ProviderPages>

/** A page of a provider version. */
export const ProviderPageText = ProviderPage.extend({
  ...ofProvider,
  markdown: z.string().describe('As the release has it. It may contain HTML: show it as text.'),
}).register(components, { id: 'ProviderPageText' })
export type ProviderPageText = z.infer<typeof ProviderPageText>

ModuleComparison.register(components, { id: 'ModuleComparison' })

export const WhoAmI = z
  .strictObject({
    mode: z
      .enum(['anonymous', 'kubeconfig', 'bearer', 'oidc'])
      .describe('How the server recognizes callers.'),
    kind: z
      .enum(['anonymous', 'guest', 'user', 'machine', 'passthrough'])
      .describe('What the caller is taken for.'),
    subject: z.string().optional().describe('The claim `sub` of the token.'),
    groups: z.array(z.string()).readonly(),
    access: z.string().describe('What decides about modules and providers, in a sentence.'),
    binding: z
      .strictObject({
        name,
        moduleResources: z.array(z.string()).readonly(),
        providerResources: z.array(z.string()).readonly(),
      })
      .optional()
      .describe('The GroupBinding that matches, and what it allows beside what is public.'),
    failedBinding: z
      .strictObject({ name, error: z.string() })
      .optional()
      .describe('The GroupBinding that could not be evaluated: every request is denied.'),
  })
  .register(components, { id: 'WhoAmI' })
export type WhoAmI = z.infer<typeof WhoAmI>

const patterns = (kindName: string) =>
  z.array(z.string()).readonly().describe(`Patterns of the names of ${kindName}.`)

export const PublishRights = z
  .strictObject({
    overHttp: z.boolean().describe('Whether this server takes archives from callers.'),
    items: z.array(
      z.strictObject({
        namespace: name,
        modules: patterns('Modules'),
        providers: patterns('Providers'),
      }),
    ),
  })
  .register(components, { id: 'PublishRights' })
export type PublishRights = z.infer<typeof PublishRights>
export type PublishRight = PublishRights['items'][number]

export const Errors = z
  .strictObject({ errors: z.array(z.string()).describe('What is wrong, and what to do next.') })
  .register(components, { id: 'Errors' })
