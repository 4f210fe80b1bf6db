import { packagesOf } from '../../api/findings/findings.ts'
import type { Depot, Module, ScanSummary, Version } from '../../api/v1alpha1/v1alpha1.ts'
import {
  allFindings,
  backendName,
  breaksOf,
  checksumOf,
  counts,
  distinct,
  health,
  isSameArchive,
  NaiveModel,
  nameOf,
  numberOf,
  type Owner,
  parentNameOf,
  precedence,
  ranks,
  systemOf,
  type Viewer,
  type Why,
  type World,
} from './naive-model.fixture.ts'

/** The expected answer to a request; undefined if the request should be refused or nothing is found. */
export function naiveAnswer(world: World, viewer: Viewer, path: string): unknown {
  const model = new NaiveModel(world)
  const url = new URL(path, 'http://naive')
  const [first = '', namespace = '', kind = '', name = '', last] = url.pathname.split('/').slice(1)
  const query = url.searchParams
  if (first === 'namespaces') {
    return { items: model.publicNamespaces().map((one) => ({ name: one, public: true })) }
  }
  if (first === 'stats') return stats(model, viewer, query.get('namespace'))
  if (first === 'depots') {
    const depots = model.depots(viewer, query.get('namespace'))
    return namespace === 'graph' ? graph(model, viewer, depots) : list(model, viewer, depots)
  }
  if (first === 'held-back') return heldBack(model, viewer, query)
  if (first === 'conflicts') return conflicts(model, viewer, query)
  if (first === 'explain') return explanation(model, viewer, query)
  if (first === 'search') return searched(model, viewer, query)
  if (namespace === '') return resources(model, viewer, query)
  const owner = model.find(kind === 'module' ? 'Module' : 'Provider', namespace, name)
  if (owner === undefined || !model.sees(viewer, owner)) return undefined
  if (last === 'versions') return versionPage(model, owner, query)
  if (last === 'scan-findings') return findings(model, owner, query)
  if (last === 'findings') return findingsOfVersion(model, owner, query)
  return detail(model, owner, query)
}

const text = (a: string, b: string) => (a === b ? 0 : a < b ? -1 : 1)
const kindName = (owner: Owner) => (owner.kind === 'Module' ? 'module' : 'provider')
const time = (ms: number) => new Date(ms).toISOString()
const byAddress = (a: Owner, b: Owner) =>
  text(a.metadata.namespace, b.metadata.namespace) ||
  text(a.kind, b.kind) ||
  text(a.metadata.name, b.metadata.name)

const latestOf = (model: NaiveModel, owner: Owner): Version[] =>
  model.versions(owner).filter((version) => numberOf(version) === model.latest(owner))

function card(model: NaiveModel, owner: Owner) {
  const downloads = model.downloads(owner)
  return {
    kind: kindName(owner),
    namespace: owner.metadata.namespace,
    name: owner.metadata.name,
    address: model.address(owner),
    latestVersion: model.latest(owner),
    synced:
      owner.status?.synced ??
      (model.versions(owner).length > 0 &&
        model.versions(owner).every((version) => health(version) === 'synced')),
    provider: owner.kind === 'Module' ? owner.spec.moduleConfig.provider : undefined,
    repoUrl:
      owner.kind === 'Module'
        ? (owner.spec.moduleConfig.repoUrl ?? githubPage(owner))
        : (owner.spec.providerConfig.sourceRepository ??
          (owner.status?.resolvedSourceRepository || undefined)),
    scanCounts: counts(latestOf(model, owner)),
    public: model.isPublic(owner),
    hasUnsyncedVersions: model.versions(owner).some((version) => health(version) !== 'synced')
      ? true
      : undefined,
    totalDownloads: downloads.count,
    lastDownloadedAt: downloads.count > 0 ? time(downloads.lastAt) : undefined,
    ...(model.whyNotOwner(owner) ?? waitingReason(owner)),
  }
}

function waitingReason(owner: Owner) {
  if (isHeld(owner)) return { reason: 'RemovalHeld' }
  const isWaiting = heldIn(owner).some(({ why }) => waiting.includes(why))
  return isWaiting ? { reason: 'HeldBack' } : {}
}

const githubPage = ({ metadata, spec }: Module): string | undefined => {
  const { repoOwner, name } = spec.moduleConfig
  return repoOwner && `https://github.com/${repoOwner}/${name ?? metadata.name}`
}

const isHeld = ({ status }: Owner): boolean =>
  status?.conditions?.find(({ type }) => type === 'RemovalHeld')?.status === 'True'

function lastScan(model: NaiveModel, owner: Owner): number | undefined {
  const times = model
    .versions(owner)
    .flatMap(({ status }) => [status?.sourceScan?.scannedAt, status?.binaryScan?.scannedAt])
    .map((moment) => Date.parse(moment ?? ''))
    .filter((moment) => !Number.isNaN(moment))
  return times.length === 0 ? undefined : Math.max(...times)
}

function sortValue(model: NaiveModel, owner: Owner, key: string): (string | number)[] | undefined {
  const { synced, scanCounts, latestVersion, totalDownloads } = card(model, owner)
  if (key === 'name') return [owner.metadata.name]
  if (key === 'namespace') return [owner.metadata.namespace]
  if (key === 'kind') return [owner.kind]
  if (key === 'synced') return [synced ? 1 : 0]
  if (key === 'latestVersion') return latestVersion === undefined ? undefined : [latestVersion]
  if (key === 'totalDownloads') return [totalDownloads]
  if (key === 'severity') return scanCounts && ranks.map((name) => scanCounts[name])
  const downloads = model.downloads(owner)
  const last =
    key === 'lastScanned'
      ? lastScan(model, owner)
      : downloads.count > 0
        ? downloads.lastAt
        : undefined
  return last === undefined ? undefined : [last]
}

/** How well a resource matches the word that fits best; 0 is best. */
function relevance({ metadata }: Owner, address: string, words: readonly string[]): number {
  const name = metadata.name.toLowerCase()
  const full = [`${metadata.namespace}/${name}`, `${metadata.namespace}/${address}`.toLowerCase()]
  const fits = words.map((word) => {
    const own = word.includes('/') ? full : [name]
    if (own.some((it) => it === word || it.startsWith(`${word}/`))) return 0
    if (own.some((it) => it.startsWith(word))) return 1
    const parts = full.flatMap((it) => it.split(/(?<![a-z0-9])/))
    return parts.some((_, at) => parts.slice(at).join('').startsWith(word)) ? 2 : 3
  })
  return Math.min(...fits)
}

/** Resources with every word in their names. No module of a naive world has documentation. */
/** How a search finds an owner by its names; undefined if it does not. */
function matchOf(model: NaiveModel, owner: Owner, words: readonly string[]) {
  const { namespace, name, address, provider = '' } = card(model, owner)
  const names = [...new Set([name, address.split('/')[0] ?? ''])]
  const texts = [
    ...names.map((it) => ({ field: 'name', text: it })),
    { field: 'namespace', text: namespace },
    ...(provider === '' ? [] : [{ field: 'system', text: provider }]),
  ]
  const has = ({ text: it }: { text: string }, word: string) =>
    [it, ...it.split(/[.-]/)].some((part) => part.toLowerCase().startsWith(word))
  if (!words.every((word) => texts.some((it) => has(it, word)))) return undefined
  const ranked = words.map((word) => {
    const own = names.map((it) => it.toLowerCase())
    return own.includes(word) ? 0 : own.some((it) => it.startsWith(word)) ? 1 : 2
  })
  const matched = texts.filter((it) => words.some((word) => has(it, word)))
  return { matched, rank: ranked.reduce<number>((sum, it) => sum + it, 0) }
}

function searched(model: NaiveModel, viewer: Viewer, query: URLSearchParams) {
  const words = (query.get('q') ?? '').toLowerCase().split(' ')
  const namespaces = query.getAll('namespace')
  const found = model.owners(viewer).flatMap((owner) => {
    const { namespace, kind } = card(model, owner)
    if (namespaces.length > 0 && !namespaces.includes(namespace)) return []
    if (query.has('kind') && kind !== query.get('kind')) return []
    const match = matchOf(model, owner, words)
    return match === undefined ? [] : [{ owner, ...match }]
  })
  const sorted = found.toSorted(
    (a, b) =>
      a.rank - b.rank ||
      model.downloads(b.owner).count - model.downloads(a.owner).count ||
      text(a.owner.metadata.name, b.owner.metadata.name) ||
      byAddress(a.owner, b.owner),
  )
  const start = Number(query.get('cursor') ?? 0)
  const end = start + Number(query.get('limit') ?? 20)
  return {
    items: sorted
      .slice(start, end)
      .map(({ owner, matched }) => ({ ...card(model, owner), matched })),
    totalCount: sorted.length,
    next: end < sorted.length ? String(end) : undefined,
  }
}

function resources(model: NaiveModel, viewer: Viewer, query: URLSearchParams) {
  const words = (query.get('q') ?? '').toLowerCase().split(' ').filter(Boolean)
  const isAny = query.get('match') === 'any'
  const namespaces = query.getAll('namespace')
  const [os, arch] = [query.get('os')?.toLowerCase(), query.get('arch')?.toLowerCase()]
  const kept = model.owners(viewer).filter((owner) => {
    const record = card(model, owner)
    if (namespaces.length > 0 && !namespaces.includes(record.namespace)) return false
    if (query.has('kind') && record.kind !== query.get('kind')) return false
    const addresses = [record.name, record.address].map((it) =>
      `${record.namespace}/${it}`.toLowerCase(),
    )
    const isFound = isAny
      ? matchOf(model, owner, words) !== undefined
      : words.every((word) => addresses.some((it) => it.includes(word)))
    if (!isFound) return false
    if (query.has('synced') && String(record.synced) !== query.get('synced')) return false
    if (query.get('public_only') === 'true' && !record.public) return false
    if (os !== undefined || arch !== undefined) {
      const fits = model
        .versions(owner)
        .filter(
          ({ spec }) =>
            owner.kind === 'Provider' &&
            (os === undefined || spec.operatingSystem?.toLowerCase() === os) &&
            (arch === undefined || spec.architecture?.toLowerCase() === arch),
        )
      if (fits.length === 0) return false
    }
    const level = ranks.indexOf((query.get('severity') ?? '').toLowerCase() as 'critical')
    if (level === -1) return true
    return ranks.slice(0, level + 1).some((name) => (record.scanCounts?.[name] ?? 0) > 0)
  })
  const key = (query.get('sort_by') ?? (query.has('q') ? 'relevance' : 'name')).replaceAll(
    /_(.)/g,
    (_, letter: string) => letter.toUpperCase(),
  )
  const sign = query.get('sort_dir') === 'desc' ? -1 : 1
  const sorted = kept.toSorted((a, b) => {
    if (key === 'relevance') {
      const of = (owner: Owner) =>
        isAny
          ? (matchOf(model, owner, words)?.rank ?? 0)
          : relevance(owner, model.address(owner), words)
      return (
        of(a) - of(b) ||
        model.downloads(b).count - model.downloads(a).count ||
        text(a.metadata.name, b.metadata.name) ||
        byAddress(a, b)
      )
    }
    const [left, right] = [sortValue(model, a, key), sortValue(model, b, key)]
    if (left === undefined || right === undefined) {
      return left === right ? byAddress(a, b) : left === undefined ? 1 : -1
    }
    for (const [index, value] of left.entries()) {
      const other = right[index]
      const difference =
        key === 'latestVersion'
          ? precedence(String(value), String(other))
          : typeof value === 'number'
            ? value - Number(other)
            : text(value, String(other))
      if (difference !== 0) return sign * difference
    }
    return byAddress(a, b)
  })
  return paged(
    sorted.map((owner) => ({
      ...card(model, owner),
      ...(isAny && { matched: matchOf(model, owner, words)?.matched }),
    })),
    query,
  )
}

function paged<T>(items: readonly T[], query: URLSearchParams) {
  const page = Number(query.get('page') ?? 1)
  const pageSize = Math.min(100, Number(query.get('page_size') ?? 20))
  const start = (page - 1) * pageSize
  return { items: items.slice(start, start + pageSize), totalCount: items.length, page, pageSize }
}

const sourceFindings = (versions: readonly Version[]) =>
  distinct(versions.flatMap(({ status }) => status?.sourceScan?.findings ?? []))

function binaryFindings(versions: readonly Version[]) {
  const scanned = versions.filter(({ status }) => status?.binaryScan !== undefined)
  const platforms = new Set(scanned.map(platformName))
  return Object.fromEntries(
    [...platforms].map((platform) => {
      const own = scanned.filter((version) => platformName(version) === platform)
      return [platform, distinct(own.flatMap(({ status }) => status?.binaryScan?.findings ?? []))]
    }),
  )
}

/** Shows equal lists only under their first platform if the query asks for that. */
function onceEach(lists: ReturnType<typeof binaryFindings>, isShared: boolean) {
  const own: typeof lists = {}
  const same: Record<string, string> = {}
  for (const [platform, found] of Object.entries(lists)) {
    const said = JSON.stringify(found)
    const other = Object.keys(own).find((one) => isShared && JSON.stringify(own[one]) === said)
    if (other === undefined) own[platform] = found
    else same[platform] = other
  }
  const isSome = Object.keys(same).length > 0
  return { binaryScanFindings: own, ...(isSome && { sameFindings: same }) }
}

const platformName = ({ spec }: Version) =>
  `${spec.operatingSystem ?? ''}/${spec.architecture ?? ''}`

/** The version that a query names, with or without a leading v; otherwise the text of the query. */
function askedVersion(query: URLSearchParams, name: string, all: readonly Version[]) {
  const asked = query.get(name)?.trim()
  const spelled = [asked?.replace(/^v(?=\d)/i, ''), asked?.replace(/^v/i, '')]
  return spelled.find((one) => all.some((version) => numberOf(version) === one)) ?? asked
}

/** The state that all archives of a version have at least. Duplicates are not served. */
function mildest(model: NaiveModel, owner: Owner, versions: readonly Version[]) {
  const order = ['Deprecated', 'Yanked', 'Quarantined']
  const first = versions.filter((version) => model.isFirst(version, owner))
  const all = first.flatMap((version) => model.lifecycle(version) ?? [])
  if (all.length < first.length) return undefined
  return all.toSorted((a, b) => order.indexOf(a.state) - order.indexOf(b.state))[0]
}

function detail(model: NaiveModel, owner: Owner, query: URLSearchParams) {
  const all = model.versions(owner)
  const numbers = [...new Set(all.map(numberOf))]
  const asked = askedVersion(query, 'version', all)
  const selected = numbers.find((number) => number === asked) ?? model.latest(owner)
  const shown = all.filter((version) => numberOf(version) === selected)
  const platforms = new Set(shown.map(platformName))
  const downloads = model.downloads(
    owner,
    ({ version, os = '', arch = '' }) => version === selected && platforms.has(`${os}/${arch}`),
  )
  const hasFindings = query.get('findings') !== 'false'
  return {
    ...card(model, owner),
    selectedVersion: selected,
    scanCounts: counts(shown),
    downloadCount: downloads.count > 0 ? downloads.count : undefined,
    platforms: owner.kind === 'Provider' ? [...platforms] : undefined,
    lifecycle: mildest(model, owner, shown),
    versions: numbers.map((number) => ({
      version: number,
      synced: all
        .filter((version) => numberOf(version) === number)
        .every((version) => health(version) === 'synced'),
      state: mildest(
        model,
        owner,
        all.filter((version) => numberOf(version) === number),
      )?.state,
    })),
    sourceScanFindings: hasFindings ? sourceFindings(shown) : [],
    binaryScanFindings:
      owner.kind === 'Provider' && hasFindings ? binaryFindings(shown) : undefined,
  }
}

function versionPage(model: NaiveModel, owner: Owner, query: URLSearchParams) {
  const all = model.versions(owner)
  const isProvider = owner.kind === 'Provider'
  const [os, arch] = [query.get('os')?.toLowerCase(), query.get('arch')?.toLowerCase()]
  const kept = all.filter((version) => {
    const { operatingSystem, architecture } = version.spec
    if (
      !numberOf(version)
        .toLowerCase()
        .includes(query.get('q')?.toLowerCase() ?? '')
    )
      return false
    if (query.get('synced') === 'true' && health(version) !== 'synced') return false
    if (query.get('synced') === 'false' && health(version) !== 'failed') return false
    if (isProvider && os !== undefined && operatingSystem?.toLowerCase() !== os) return false
    return !isProvider || arch === undefined || architecture?.toLowerCase() === arch
  })
  const record = (version: Version) => {
    const { spec, status } = version
    const downloads = model.downloads(
      owner,
      (one) =>
        one.version === numberOf(version) &&
        (one.os ?? '') === (spec.operatingSystem ?? '') &&
        (one.arch ?? '') === (spec.architecture ?? ''),
    )
    return {
      version: numberOf(version),
      synced: health(version) === 'synced',
      syncStatus: status?.syncStatus || undefined,
      os: spec.operatingSystem,
      arch: spec.architecture,
      fileName: status?.artifact?.fileName ?? spec.fileName,
      checksum: checksumOf(version),
      scanCounts: counts([version]),
      downloadCount: downloads.count > 0 ? downloads.count : undefined,
      lastDownloadedAt: downloads.count > 0 ? time(downloads.lastAt) : undefined,
      archiveSizeBytes: status?.archiveSizeBytes,
      breaks: breaksOf(version),
      lifecycle: model.lifecycle(version),
      ...model.whyNotVersion(version),
    }
  }
  const byVersion = paged([...new Set(kept.map(numberOf))], query)
  const ofPage = all.filter((version) => byVersion.items.includes(numberOf(version)))
  const available = (field: 'operatingSystem' | 'architecture') =>
    [...new Set(all.map(({ spec }) => spec[field]))]
      .filter((value) => value !== undefined)
      .toSorted(text)
  return {
    ...(query.get('by') === 'version'
      ? {
          ...byVersion,
          items: ofPage.map(record),
          versionScanCounts: Object.fromEntries(
            byVersion.items.map((number) => [
              number,
              counts(all.filter((version) => numberOf(version) === number)),
            ]),
          ),
        }
      : paged(kept.map(record), query)),
    availableOS: isProvider ? available('operatingSystem') : undefined,
    availableArch: isProvider ? available('architecture') : undefined,
  }
}

function findings(model: NaiveModel, owner: Owner, query: URLSearchParams) {
  const all = model.versions(owner)
  const [version, binaryVersion] = [
    askedVersion(query, 'version', all),
    owner.kind === 'Provider' ? askedVersion(query, 'binaryVersion', all) : undefined,
  ]
  for (const asked of [version, binaryVersion]) {
    if (asked !== undefined && !all.some((one) => numberOf(one) === asked)) return undefined
  }
  const scanned = all.filter(({ status }) => status?.sourceScan !== undefined)
  const when = ({ status }: Version) => Date.parse(status?.sourceScan?.scannedAt ?? '')
  let last: Version | undefined
  for (const one of scanned) {
    const isLater = last !== undefined && (when(one) > when(last) || Number.isNaN(when(last)))
    if (last === undefined || (isLater && !Number.isNaN(when(one)))) last = one
  }
  const selected = version ?? (last && numberOf(last))
  const binaries =
    owner.kind === 'Provider' ? all.filter(({ status }) => status?.binaryScan !== undefined) : []
  const highest = (one: Version) => {
    const first = binaries.find((other) => platformName(other) === platformName(one))
    return first && numberOf(first)
  }
  const shown = binaries.filter((one) => numberOf(one) === (binaryVersion ?? highest(one)))
  const some = <T>(items: readonly T[]) => (items.length > 0 ? items : undefined)
  const numbers = (rows: readonly Version[]) => some([...new Set(rows.map(numberOf))])
  return {
    sourceScanFindings: some(sourceFindings(scanned.filter((one) => numberOf(one) === selected))),
    ...(shown.length > 0 && onceEach(binaryFindings(shown), query.get('shared') === 'true')),
    selectedVersion: scanned.length + binaries.length > 0 ? selected : undefined,
    scannedVersions: numbers(scanned),
    binaryVersions: numbers(binaries),
    oldestScan: oldest([
      ...scanned
        .filter((one) => numberOf(one) === selected)
        .map((one) => [sourceBy(one), one.status?.sourceScan?.scannedAt] as const),
      ...shown.map((one) => [one.status?.scan, one.status?.binaryScan?.scannedAt] as const),
    ]),
  }
}

const sourceBy = ({ spec, status }: Version) =>
  spec.type === 'Provider' ? status?.dependencyScan : status?.scan

function oldest(scans: readonly (readonly [ScanSummary | undefined, string | undefined])[]) {
  let first = scans[0]
  for (const one of scans) if ((one[1] ?? '') < (first?.[1] ?? '')) first = one
  const { scanner, database } = first?.[0] ?? {}
  return first && { scannedAt: first[1], scanner, database }
}

function findingsOfVersion(model: NaiveModel, owner: Owner, query: URLSearchParams) {
  const all = model.versions(owner)
  const version = askedVersion(query, 'version', all) ?? model.latest(owner)
  const isOriginal = (one: Version) =>
    all.find((other) => isSameArchive(other, one)) === one && numberOf(one) === version
  const own = all.filter(isOriginal)
  if (own.length === 0) return undefined
  const isModule = owner.kind === 'Module'
  type Scanned = readonly [ScanSummary | undefined, string | undefined]
  const scanOf = (scans: readonly Scanned[]) => ({
    ...oldest(scans),
    truncated: scans.some(([by]) => by?.truncated) || undefined,
  })
  const sources = own.filter(({ status }) => status?.sourceScan !== undefined)
  const binaries = isModule ? [] : own.filter(({ status }) => status?.binaryScan !== undefined)
  const source = {
    in: 'source',
    ...scanOf(sources.map((one) => [sourceBy(one), one.status?.sourceScan?.scannedAt])),
    findings: sourceFindings(sources),
  }
  const lists = Map.groupBy(binaries, ({ status }) =>
    JSON.stringify(distinct(status?.binaryScan?.findings ?? [])),
  )
  const unscanned = own.filter((one) => !binaries.includes(one)).map(platformName)
  const lacksSource = isModule
    ? sources.length === 0
    : own.some(({ status }) => {
        const isAnswered = status?.artifact?.source?.revision !== undefined
        const isWithoutFiles = isAnswered && status?.artifact?.source?.sha256 === undefined
        return status?.artifact?.source && !isWithoutFiles && !status.sourceScan
      })
  return {
    address: `${owner.metadata.namespace}/${model.address(owner)}`,
    version,
    scans: [
      ...(sources.length > 0 ? [source] : []),
      ...Array.from(lists, ([findingList, same]) => ({
        in: 'binary',
        platforms: same.map(platformName),
        ...scanOf(same.map(({ status }) => [status?.scan, status?.binaryScan?.scannedAt])),
        findings: JSON.parse(findingList) as unknown,
      })),
    ],
    unscanned: [...(lacksSource ? ['source'] : []), ...(isModule ? [] : unscanned)],
    packages: packagesOf(distinct(own.flatMap(allFindings))),
  }
}

const reasons = [
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
]

const waiting = ['TooYoung', 'Denied']

function heldIn(owner: Owner) {
  const { address, depot, heldBack: held = [] } = owner.status?.listing ?? {}
  return held.map(({ version, since, publishedAt, until, why: given, message, by }) => {
    const word = message?.split(' ')[0] ?? ''
    const read =
      message === undefined
        ? 'TooYoung'
        : ({ denied: 'Denied', 'denied:': 'Denied', not: 'NotAllowed' }[word] ?? 'Refused')
    const why = given ?? read
    return { why, version, address, depot, by, since, publishedAt, until, askedFor: 0 }
  })
}

function heldBack(model: NaiveModel, viewer: Viewer, query: URLSearchParams) {
  const all = model.owners(viewer).flatMap((owner) => {
    const { namespace, name } = owner.metadata
    return heldIn(owner).map((held) => ({ ...held, kind: kindName(owner), namespace, name }))
  })
  const [why, depot, q, order] = ['why', 'depot', 'q', 'order'].map((key) => query.get(key))
  const found = all.filter(
    (one) =>
      (why === null || one.why === why) &&
      (depot === null || one.depot === depot) &&
      (q == null ||
        `${one.namespace}/${one.name} ${one.version} ${one.address}`
          .toLowerCase()
          .includes(q.toLowerCase())),
  )
  const sorted = found
    .toSorted(
      (a, b) =>
        text(a.namespace, b.namespace) ||
        text(a.name, b.name) ||
        text(a.kind, b.kind) ||
        text(a.version, b.version),
    )
    .toSorted((a, b) =>
      order === 'free'
        ? text(a.until ?? '9', b.until ?? '9')
        : order === 'newest'
          ? text(b.since ?? '', a.since ?? '')
          : 0,
    )
  const depots = new Set(all.flatMap((one) => one.depot ?? []))
  let unlisted = 0
  for (const { status } of model.owners(viewer)) {
    const { heldBack: listed = [], heldBackCount = 0 } = status?.listing ?? {}
    if (heldBackCount > listed.length) unlisted += heldBackCount - listed.length
  }
  return { ...paged(sorted, query), unlisted, depots: [...depots].toSorted(text) }
}

interface NaiveConflict extends Why {
  readonly kind: string
  readonly namespace: string
  readonly name: string
  readonly resource?: string | undefined
  readonly address?: string
}

function conflicts(model: NaiveModel, viewer: Viewer, query: URLSearchParams) {
  const all: NaiveConflict[] = []
  for (const owner of model.owners(viewer)) {
    const { namespace, name } = owner.metadata
    const why = model.whyNotOwner(owner)
    const system = systemOf(owner)
    const address = system === undefined ? nameOf(owner) : `${nameOf(owner)}/${system}`
    const kind = kindName(owner)
    if (why !== undefined) all.push({ ...why, kind, namespace, name, resource: name, address })
    if (model.isDisplaced(owner)) continue
    for (const version of model.versions(owner)) {
      const whyVersion = model.whyNotVersion(version)
      if (whyVersion === undefined) continue
      const place = { ...named(version), resource: name, address: model.address(owner) }
      all.push({ ...whyVersion, ...place })
    }
  }
  for (const version of model.orphans(viewer)) {
    all.push({ ...(model.whyNotVersion(version) as Why), ...named(version) })
  }
  const [namespaces, q, reason] = [query.getAll('namespace'), query.get('q'), query.get('reason')]
  const found = all.filter(
    ({ namespace, name, resource = '', address = '' }) =>
      (namespaces.length === 0 || namespaces.includes(namespace)) &&
      (q === null ||
        [`${namespace}/${name} ${namespace}/${resource} ${address}`].some((words) =>
          words.toLowerCase().includes(q.toLowerCase()),
        )),
  )
  const sorted = found
    .filter((one) => reason === null || one.reason === reason)
    .toSorted(
      (a, b) =>
        reasons.indexOf(a.reason) - reasons.indexOf(b.reason) ||
        text(a.namespace, b.namespace) ||
        text(a.resource ?? '', b.resource ?? '') ||
        text(a.name, b.name) ||
        text(a.kind, b.kind),
    )
  const counted = reasons.map((each) => ({
    reason: each,
    count: found.filter((one) => one.reason === each).length,
  }))
  return { ...paged(sorted, query), counts: counted.filter(({ count }) => count > 0) }
}

function named(version: Version) {
  const { metadata, spec } = version
  return {
    kind: spec.type === 'Module' ? 'module' : 'provider',
    namespace: metadata.namespace,
    name: metadata.name,
    version: numberOf(version),
    os: spec.type === 'Provider' ? spec.operatingSystem : undefined,
    arch: spec.type === 'Provider' ? spec.architecture : undefined,
  }
}

function explanation(model: NaiveModel, viewer: Viewer, query: URLSearchParams) {
  const address = query.get('address') ?? ''
  const [namespace = '', name = '', system] = address.split('/')
  const number = query.get('version')?.replace(/^v(?=\d)/i, '')
  const kinds = system === undefined ? (['Module', 'Provider'] as const) : (['Module'] as const)
  const owners = kinds.flatMap((kind) => model.claims(viewer, kind, namespace, name, system))
  const isNumber = (version: Version) => numberOf(version) === number
  const versions = [
    ...owners.flatMap((owner) =>
      model
        .versions(owner)
        .filter(isNumber)
        .map((version) => ({ version, resource: owner.metadata.name })),
    ),
    ...model
      .orphans(viewer)
      .filter(isNumber)
      .filter(({ spec }) => (kinds as readonly string[]).includes(spec.type))
      .filter(
        (version) => version.metadata.namespace === namespace && parentNameOf(version) === name,
      )
      .map((version) => ({ version, resource: undefined })),
  ]
  if (owners.length + versions.length === 0) return undefined
  const byKind = (a: { kind: string; name: string }, b: { kind: string; name: string }) =>
    text(a.kind, b.kind) || text(a.name, b.name)
  return {
    address,
    claims: owners
      .map((owner) => ({
        kind: kindName(owner),
        namespace,
        name: owner.metadata.name,
        address: model.address(owner),
        ...model.whyNotOwner(owner),
      }))
      .toSorted(byKind),
    versions:
      number === undefined
        ? undefined
        : versions
            .map(({ version, resource }) => ({
              ...named(version),
              resource,
              ...model.whyNotVersion(version),
            }))
            .toSorted(byKind),
  }
}

function managed(model: NaiveModel, viewer: Viewer, depot: Depot): Owner[] {
  const owners: Owner[] = []
  for (const kind of ['Module', 'Provider'] as const) {
    const names = kind === 'Module' ? depot.status?.modules : depot.status?.providers
    for (const name of new Set(names)) {
      const [own, foreign] = name.split('/')
      const owner =
        foreign === undefined
          ? model.find(kind, depot.metadata.namespace, name)
          : model.find(kind, own ?? '', foreign)
      if (owner && model.sees(viewer, owner) && !owners.includes(owner)) owners.push(owner)
    }
  }
  return owners.toSorted(byAddress)
}

function depotRecord(model: NaiveModel, viewer: Viewer, depot: Depot) {
  const { metadata, spec } = depot
  const storages = [
    spec.global?.storageConfig,
    spec.global?.moduleConfig?.storageConfig,
    ...(spec.moduleConfigs ?? []).map((config) => config.storageConfig),
    ...(spec.providerConfigs ?? []).map((config) => config.storageConfig),
  ]
  const names = (kind: Owner['kind']) =>
    managed(model, viewer, depot)
      .filter((owner) => owner.kind === kind)
      .map(({ metadata: { namespace, name } }) =>
        namespace === metadata.namespace ? name : `${namespace}/${name}`,
      )
  return {
    namespace: metadata.namespace,
    name: metadata.name,
    modules: names('Module'),
    providers: names('Provider'),
    pollingIntervalMinutes: spec.pollingIntervalMinutes ?? 0,
    storageBackend: backendName(storages.find((storage) => storage !== undefined)),
  }
}

function list(model: NaiveModel, viewer: Viewer, depots: readonly Depot[]) {
  return { items: depots.map((depot) => depotRecord(model, viewer, depot)) }
}

function stateOf({ status }: Depot) {
  const ready = status?.conditions?.find(({ type }) => type === 'Ready')
  if (ready?.status === 'True') return { ready: true }
  return ready?.status === 'False' ? { ready: false, reason: ready.reason } : {}
}

function graph(model: NaiveModel, viewer: Viewer, depots: readonly Depot[]) {
  const nodes: Owner[] = []
  const depotOf = new Map<Owner, string>()
  const edges: object[] = []
  const idOf = (owner: Owner) =>
    `${owner.metadata.namespace}/${kindName(owner)}/${owner.metadata.name}`
  for (const depot of depots) {
    const source = `${depot.metadata.namespace}/${depot.metadata.name}`
    for (const owner of managed(model, viewer, depot)) {
      edges.push({ id: `${source}->${idOf(owner)}`, source, target: idOf(owner) })
      if (nodes.includes(owner)) continue
      nodes.push(owner)
      depotOf.set(owner, source)
    }
  }
  const base = (owner: Owner) => {
    const { namespace, name, synced } = card(model, owner)
    const removalHeld = isHeld(owner) ? true : undefined
    return { id: idOf(owner), namespace, name, synced, removalHeld }
  }
  const modules = nodes
    .filter((owner) => owner.kind === 'Module')
    .map((owner) => {
      const { provider, latestVersion, scanCounts } = card(model, owner)
      return { ...base(owner), provider, latestVersion, scanCounts, depotID: depotOf.get(owner) }
    })
  const providers = nodes.filter((owner) => owner.kind === 'Provider').map(base)
  return {
    depots: depots.map((depot) => {
      const {
        modules: moduleNames,
        providers: providerNames,
        ...rest
      } = depotRecord(model, viewer, depot)
      return {
        id: `${rest.namespace}/${rest.name}`,
        ...rest,
        managedModuleNames: moduleNames,
        managedProviderNames: providerNames,
        ...stateOf(depot),
      }
    }),
    modules,
    providers,
    edges,
    summary: {
      totalDepots: depots.length,
      totalModules: modules.length,
      totalProviders: providers.length,
    },
  }
}

function stats(model: NaiveModel, viewer: Viewer, namespace: string | null) {
  const owners = model
    .owners(viewer)
    .filter((owner) => namespace === null || owner.metadata.namespace === namespace)
  const all = owners.flatMap((owner) => model.versions(owner))
  const inState = (state: string) => all.filter((version) => health(version) === state).length
  const posture = { critical: 0, high: 0, medium: 0, low: 0, unknown: 0, totalAffectedResources: 0 }
  const top = []
  for (const owner of owners) {
    const own = model.versions(owner)
    if (own.some((version) => allFindings(version).length > 0)) posture.totalAffectedResources += 1
    for (const version of new Set(own.map(numberOf))) {
      const rows = own.filter((row) => numberOf(row) === version)
      for (const name of ranks) posture[name] += counts(rows)?.[name] ?? 0
      const downloads = model.downloads(
        owner,
        (one) =>
          one.version === version &&
          rows.some(
            ({ spec }) =>
              (spec.operatingSystem ?? '') === (one.os ?? '') &&
              (spec.architecture ?? '') === (one.arch ?? ''),
          ),
      )
      if (downloads.count > 0) top.push({ owner, version, ...downloads })
    }
  }
  const buckets = ['s3', 'azure', 'gcs', 'filesystem'].map((backend) => ({
    backend,
    count: owners.filter((owner) => backendName(model.storageOf(owner)) === backend).length,
  }))
  return {
    totalModules: owners.filter(({ kind }) => kind === 'Module').length,
    totalProviders: owners.filter(({ kind }) => kind === 'Provider').length,
    totalVersions: all.length,
    totalStorageBytes: all.reduce((sum, { status }) => sum + (status?.archiveSizeBytes ?? 0), 0),
    totalDownloads: owners.reduce((sum, owner) => sum + model.downloads(owner).count, 0),
    syncHealth: {
      syncedVersions: inState('synced'),
      unsyncedVersions: inState('unsynced'),
      failedVersions: inState('failed'),
    },
    securityPosture: posture,
    storageDistribution: buckets.filter(({ count }) => count > 0),
    mostDownloaded: top
      .toSorted(
        (a, b) =>
          b.count - a.count || byAddress(a.owner, b.owner) || precedence(b.version, a.version),
      )
      .slice(0, 10)
      .map(({ owner, version, count, lastAt }) => ({
        namespace: owner.metadata.namespace,
        kind: kindName(owner),
        name: owner.metadata.name,
        version,
        downloadCount: count,
        lastDownloadedAt: time(lastAt),
      })),
  }
}
