import * as fc from 'fast-check'
import { type Kind, parseResource, type Resource } from '../../api/v1alpha1/v1alpha1.ts'
import type { Viewer } from './naive-model.fixture.ts'

/*
 * Random registries, changes and questions with few different words, so that they interact: most names occur twice, most
 * filters match something, most versions tie with another.
 */

const namespaces = ['infra', 'apps']
const names = ['vpc', 'vpc-peering', 'VPC.old', 'db', 'abcab']
const versionNumbers = [
  '1.0.0',
  'v1.0.0',
  '1.2.0',
  '1.10.0',
  '2.0.0-rc.1',
  '2.0.0',
  '2.0.0+b',
  'soon',
]
const systems = ['linux', 'Linux', 'darwin', 'windows']
const architectures = ['amd64', 'arm64']
const moments = [
  '2026-01-01T00:00:00Z',
  '2026-01-01T02:00:00+01:00',
  '2026-03-01T00:00:00Z',
  'once',
]
const publicLabel = 'depot.internal/public'

const pick = <const T>(...values: readonly T[]) => fc.constantFrom(...values)
const maybe = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined, freq: 2 })
const labels = pick<Record<string, string>>(
  { [publicLabel]: 'true' },
  {},
  { [publicLabel]: 'True' },
  { [publicLabel]: 'true', x: 'y' },
)
const storageConfig = maybe(
  pick<object>(
    { s3: { bucket: 'b', region: 'r' } },
    { gcs: { bucket: 'b' } },
    { fileSystem: { directoryPath: 'd' } },
    {
      azureStorage: { accountName: 'a', accountUrl: 'u', subscriptionID: 's', resourceGroup: 'g' },
    },
  ),
)

const finding = fc.record({
  vulnerabilityID: pick('CVE-1', 'CVE-2'),
  pkgName: pick('net', 'tls'),
  installedVersion: pick('1', '2'),
  severity: pick('CRITICAL', 'HIGH', 'medium', 'LOW', 'UNKNOWN', 'NEGLIGIBLE'),
  title: pick('one', 'two'),
})
const scan = maybe(
  fc.record({
    scannedAt: maybe(pick(...moments)),
    findings: fc.array(finding, { maxLength: 4, size: 'max' }),
  }),
)
const syncState = {
  synced: maybe(fc.boolean()),
  syncStatus: maybe(pick('', 'Successfully synced', 'Failed to fetch', 'some ERROR')),
}

/** Conditions of one type, as a controller or another program wrote them. */
const conditionsOf = (type: string, ...reasons: string[]) =>
  maybe(
    fc
      .record({ status: pick('True', 'False', 'Unknown'), reason: pick(...reasons) })
      .map((state) => [
        { type, ...state, message: 'for operators', lastTransitionTime: '2026-01-01T00:00:00Z' },
      ]),
  )
/** Versions that a policy holds back, as a status stores them. */
const listing = maybe(
  fc.record({
    address: pick('git.test/vpc', 'GIT.test/db'),
    depot: pick('platform/main', 'platform/other'),
    heldBackCount: maybe(pick(2, 1200)),
    heldBack: fc.uniqueArray(
      fc.record({
        version: pick('v1.0.0', '1.1.0', '9.0.0'),
        since: pick('2026-01-01T00:00:00Z', '2026-02-01T00:00:00Z'),
        publishedAt: maybe(pick('2026-02-01T00:00:00Z', '2026-02-20T00:00:00Z')),
        until: maybe(pick('2026-03-01T00:00:00Z', '2026-04-01T00:00:00Z')),
        message: maybe(
          pick(
            'denied: stolen',
            'denied until 2027-01-01: x',
            'not allowed: y',
            'refused by the rule: z',
          ),
        ),
        why: maybe(pick('TooYoung', 'Denied', 'Unsigned', 'Breaking', 'NotAllowed', 'Refused')),
        by: maybe(pick('Installation')),
      }),
      { selector: ({ version }) => version, maxLength: 3 },
    ),
  }),
)
const parentState = {
  ...syncState,
  listing,
  conditions: conditionsOf('RemovalHeld', 'RemovalHeld'),
}

/** Few times, so that some objects are created at the same time. */
const created = pick('2026-01-01T00:00:00Z', '2026-02-01T00:00:00Z', '2026-03-01T00:00:00Z')

const note = { message: maybe(pick('old')), replacedBy: maybe(pick('2.0.0')) }
const states = ['Deprecated', 'Yanked', 'Quarantined']
const lifecycleRules = maybe(
  fc.array(
    fc.record({ versions: pick('1.2.0', '>= 1.0.0', '2.0.0'), state: pick(...states), ...note }),
    { maxLength: 2 },
  ),
)

const module = fc
  .record({
    namespace: pick(...namespaces),
    name: pick(...names),
    labels,
    created,
    lifecycle: lifecycleRules,
    config: fc.record({
      name: maybe(pick(...names)),
      provider: maybe(pick('aws', 'gcp')),
      repoUrl: maybe(pick('https://git.test/a')),
      repoOwner: maybe(pick('acme')),
      storageConfig,
    }),
    status: maybe(fc.record({ latestVersion: maybe(pick(...versionNumbers)), ...parentState })),
  })
  .map(
    ({ namespace, name, labels: own, created: creationTimestamp, config, lifecycle, status }) => ({
      kind: 'Module',
      metadata: { namespace, name, labels: own, creationTimestamp },
      spec: { moduleConfig: config, lifecycle },
      status,
    }),
  )

const provider = fc
  .record({
    namespace: pick(...namespaces),
    name: pick(...names),
    labels,
    created,
    lifecycle: lifecycleRules,
    config: fc.record({
      name: maybe(pick(...names)),
      sourceRepository: maybe(pick('https://git.test/b')),
      storageConfig,
    }),
    status: maybe(
      fc.record({
        latestVersion: maybe(pick(...versionNumbers)),
        resolvedSourceRepository: maybe(pick('https://git.test/c', '')),
        ...parentState,
      }),
    ),
  })
  .map(
    ({ namespace, name, labels: own, created: creationTimestamp, config, lifecycle, status }) => ({
      kind: 'Provider',
      metadata: { namespace, name, labels: own, creationTimestamp },
      spec: { providerConfig: config, lifecycle },
      status,
    }),
  )

const summary = maybe(
  fc.record({
    sha256: pick('a'.repeat(64), 'b'.repeat(64), '01'.repeat(32)),
    scanner: pick('trivy 0.70.0', 'scan.sh'),
    database: maybe(pick('2026-11-24T00:00:00Z')),
    counts: pick({ critical: 0, high: 0, medium: 0, low: 0, unknown: 0 }),
    truncated: maybe(pick(true)),
  }),
)

const version = fc
  .record({
    type: pick('Module', 'Provider'),
    namespace: pick(...namespaces),
    object: fc.nat({ max: 60 }),
    created,
    parent: pick(...names),
    isOwned: fc.boolean(),
    version: pick(...versionNumbers),
    fileName: maybe(pick('x.zip')),
    storageConfig,
    os: maybe(pick(...systems)),
    arch: maybe(pick(...architectures)),
    system: maybe(pick('aws', 'gcp')),
    lifecycle: maybe(fc.record({ state: pick('Active', ...states), ...note })),
    status: maybe(
      fc.record({
        checksum: maybe(pick('a'.repeat(64), Buffer.alloc(32, 1).toString('base64'), 'short')),
        archiveSizeBytes: maybe(pick(0, 10, 5_000_000_000)),
        sourceScan: scan,
        binaryScan: scan,
        scan: summary,
        dependencyScan: summary,
        artifact: maybe(
          fc.record({
            source: maybe(
              fc.record({
                repository: pick('https://git.test/b'),
                revision: maybe(pick('v1.0.0@sha1:0')),
                sha256: maybe(pick('c'.repeat(64))),
              }),
            ),
          }),
        ),
        compared: maybe(
          fc.record({
            from: pick('1.0.0', '1.1.0'),
            fromSha256: pick('b'.repeat(64)),
            verdict: pick('breaking', 'unknown', 'compatible'),
            reasons: maybe(pick(['input x: It was removed.'])),
          }),
        ),
        conditions: conditionsOf('Ready', 'BreakingChange', 'Synced'),
        quarantinedBy: maybe(
          fc.array(
            fc.record({
              by: pick('ScanPolicy', 'UpstreamPolicy'),
              message: pick('CVE-2026-1'),
              since: pick('2026-01-02T00:00:00Z'),
            }),
            { maxLength: 1 },
          ),
        ),
        ...syncState,
      }),
    ),
  })
  .map(({ type, namespace, object, parent, isOwned, os, arch, status, created: at, ...rest }) => {
    const isProvider = type === 'Provider'
    const config = { name: parent, storageConfig: rest.storageConfig }
    return {
      kind: 'Version',
      metadata: {
        namespace,
        name: `version-${object}`,
        creationTimestamp: at,
        ownerReferences: isOwned
          ? [{ apiVersion: 'depot.internal/v1alpha1', kind: type, name: parent }]
          : [],
      },
      spec: {
        type,
        version: rest.version,
        fileName: rest.fileName,
        lifecycle: rest.lifecycle,
        ...(isProvider
          ? { providerConfigRef: config, operatingSystem: os, architecture: arch }
          : { moduleConfigRef: { ...config, provider: rest.system } }),
      },
      status: isProvider || status === undefined ? status : { ...status, binaryScan: undefined },
    }
  })

const managed = fc.array(pick(...names, 'apps/vpc', 'infra/db', 'nowhere/x'), { maxLength: 4 })
const depot = fc
  .record({
    namespace: pick(...namespaces),
    name: pick('main', 'other'),
    labels,
    global: maybe(fc.record({ storageConfig })),
    moduleConfigs: maybe(fc.array(fc.record({ storageConfig }), { maxLength: 2 })),
    polling: maybe(pick(0, 60)),
    status: maybe(
      fc.record({
        modules: maybe(managed),
        providers: maybe(managed),
        conditions: conditionsOf('Ready', 'Synced', 'SyncFailed'),
      }),
    ),
  })
  .map(({ namespace, name, labels: own, polling, status, ...spec }) => ({
    kind: 'Depot',
    metadata: { namespace, name, labels: own },
    spec: { ...spec, pollingIntervalMinutes: polling },
    status,
  }))

const namespace = fc
  .record({ name: pick(...namespaces), labels })
  .map((metadata) => ({ kind: 'Namespace', metadata }))

const object = fc.oneof(
  { weight: 3, arbitrary: module },
  { weight: 3, arbitrary: provider },
  { weight: 8, arbitrary: version },
  { weight: 1, arbitrary: depot },
  { weight: 1, arbitrary: namespace },
)

/** An object that is added or, if `isGone`, removed. */
export const change = fc.record({ object, isGone: fc.boolean() })

export const download = fc.record({
  kind: pick('Module', 'Provider'),
  namespace: pick(...namespaces),
  name: pick(...names),
  version: pick('1.0.0', '1.2.0', '2.0.0', '9.9.9'),
  os: maybe(pick('linux', 'darwin')),
  arch: maybe(pick(...architectures)),
  count: pick(1, 2, 5),
  lastAt: pick(0, 1_767_225_600_000, 1_770_000_000_000),
})

export const registry = fc.record({
  objects: fc.array(object, { minLength: 50, maxLength: 100, size: 'max' }),
  downloads: fc.array(download, { maxLength: 25, size: 'max' }),
})

export const viewer: fc.Arbitrary<Viewer> = fc.oneof(
  fc.constant('all' as const),
  fc.constant('public' as const),
  fc.record({
    expression: fc.constant('true'),
    moduleResources: fc.array(pick('vpc', 'vpc*', '*', 'd?', 'none'), { maxLength: 2 }),
    providerResources: fc.array(pick('vpc', 'db', '*', 'd*'), { maxLength: 2 }),
  }),
)

/** Few parameters at a time, because all of them together would match nothing. */
const query = (parameters: Record<string, fc.Arbitrary<string | number | boolean>>) =>
  fc
    .tuple(
      fc.subarray(Object.keys(parameters), {
        maxLength: Math.min(3, Object.keys(parameters).length),
      }),
      fc.record(parameters),
    )
    .map(([chosen, values]) => {
      const search = new URLSearchParams()
      for (const name of chosen) search.append(name.replace(/\d$/, ''), String(values[name]))
      return search.size === 0 ? '' : `?${search.toString()}`
    })

const paging = { page: pick(1, 2, 3), page_size: pick(1, 2, 5, 20, 200) }
const platform = { os: pick('linux', 'LINUX', 'plan9'), arch: pick('arm64', 'AMD64') }
const namespaceQuery = query({ namespace: pick(...namespaces, 'nowhere') })
const someVersion = pick('1.0.0', 'v1.2.0', ' 2.0.0', '2.0.0-rc.1', 'vsoon', '9.9.9')

const resourceFilters = {
  namespace: pick(...namespaces, 'nowhere'),
  namespace2: pick(...namespaces),
  kind: pick('module', 'provider'),
  synced: fc.boolean(),
  severity: pick('CRITICAL', 'HIGH', 'MEDIUM', 'LOW'),
  public_only: fc.boolean(),
  sort_by: pick(
    'name',
    'namespace',
    'kind',
    'latestVersion',
    'synced',
    'severity',
    'totalDownloads',
    'last_downloaded_at',
    'lastScanned',
    'relevance',
  ),
  sort_dir: pick('asc', 'desc'),
  ...platform,
  ...paging,
}
const resourcesQuery = query({
  q: pick(
    'v',
    'vp',
    'VPC',
    'pee',
    'db',
    '.',
    'x',
    'vpc-p',
    'abc',
    'cabc',
    'p e',
    'db aws',
    'a/v',
    '/',
  ),
  ...resourceFilters,
})
const versionsQuery = query({
  q: pick('1', '2.0', 'RC', '7'),
  synced: fc.boolean(),
  by: pick('archive', 'version'),
  ...platform,
  ...paging,
})
const detailQuery = query({ version: someVersion, findings: fc.boolean() })
const findingsQuery = query({
  version: someVersion,
  binaryVersion: someVersion,
  shared: pick('true', 'false'),
})

const heldBackQuery = query({
  why: pick('TooYoung', 'Denied', 'Unsigned', 'Breaking', 'NotAllowed', 'Refused'),
  depot: pick('platform/main', 'nowhere'),
  q: pick('vpc', 'git', '9.0', 'nothing'),
  order: pick('asked', 'free', 'newest'),
  ...paging,
})

const conflictsQuery = query({
  namespace: pick(...namespaces, 'nowhere'),
  reason: pick(
    'Duplicate',
    'AddressTaken',
    'ParentMissing',
    'NoDigest',
    'NoStorage',
    'BreakingChange',
    'Quarantined',
  ),
  q: pick('vpc', 'db', 'VERSION-1', 'nothing'),
  ...paging,
})
const searchedWords = pick(
  'v',
  'vp',
  'VPC',
  'pee',
  'vpc-p',
  'old',
  'infra',
  'aws',
  'db aws',
  'vpc old',
  'none',
)
/** A query that also searches documentation. */
const withWords = (rest: fc.Arbitrary<string>, fixed = {}) =>
  fc
    .tuple(searchedWords, rest)
    .map(
      ([q, others]) =>
        `?${new URLSearchParams({ q, ...fixed }).toString()}${others.replace('?', '&')}`,
    )
const searchQuery = withWords(
  query({
    namespace: pick(...namespaces, 'nowhere'),
    kind: pick('module', 'provider'),
    limit: pick(1, 2, 100),
    cursor: pick(1, 2),
  }),
)
const anyQuery = withWords(query(resourceFilters), { match: 'any' })
const explained = fc
  .tuple(
    pick(...namespaces),
    pick(...names),
    maybe(pick('aws', 'gcp')),
    maybe(pick('1.0.0', 'v1.2.0', 'soon')),
  )
  .map(([space, name, system, number]) => {
    const whole = [space, name, ...(system === undefined ? [] : [system])].join('/')
    const search = new URLSearchParams({ address: whole, ...(number && { version: number }) })
    return `/explain?${search.toString()}`
  })

const address = fc
  .tuple(pick(...namespaces), pick('module', 'provider'), pick(...names))
  .map((parts) => `/resources/${parts.join('/')}`)

const together = (...parts: fc.Arbitrary<string>[]) =>
  fc.tuple(...parts).map((texts) => texts.join(''))

/** Paths below the prefix that a caller may request. */
export const question = fc.oneof(
  { weight: 6, arbitrary: together(pick('/resources'), resourcesQuery) },
  { weight: 2, arbitrary: together(address, detailQuery) },
  { weight: 3, arbitrary: together(address, pick('/versions'), versionsQuery) },
  { weight: 3, arbitrary: together(address, pick('/scan-findings'), findingsQuery) },
  { weight: 2, arbitrary: together(address, pick('/findings'), detailQuery) },
  { weight: 1, arbitrary: pick('/namespaces') },
  { weight: 1, arbitrary: together(pick('/depots'), namespaceQuery) },
  { weight: 1, arbitrary: together(pick('/depots/graph'), namespaceQuery) },
  { weight: 2, arbitrary: together(pick('/stats'), namespaceQuery) },
  { weight: 2, arbitrary: together(pick('/conflicts'), conflictsQuery) },
  { weight: 2, arbitrary: together(pick('/held-back'), heldBackQuery) },
  { weight: 2, arbitrary: explained },
  { weight: 3, arbitrary: together(pick('/search'), searchQuery) },
  { weight: 3, arbitrary: together(pick('/resources'), anyQuery) },
)

/** @param revision becomes the resourceVersion */
export function parsed(
  raw: { readonly kind: string; readonly metadata: object },
  revision: number,
): Resource {
  const metadata = { ...raw.metadata, resourceVersion: String(revision) }
  const result = parseResource(raw.kind as Kind, { ...raw, metadata })
  if (!result.ok) throw new Error(JSON.stringify([raw, result.issues]))
  return result.resource
}
