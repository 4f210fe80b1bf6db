import type { PublishedFrom } from '../../api/browse/browse.ts'
import type { LifecycleFacts, QuarantineEntry } from '../../api/lifecycle/lifecycle.ts'
import {
  conditionOf,
  openReleaseOf,
  type Published,
  releaseText,
  type Scan,
  type Version,
} from '../../api/v1alpha1/v1alpha1.ts'
import type { FindingList } from './findings.ts'
import { digestOf, type RowContext } from './resource-row.ts'
import type { Breaks } from './unserved.ts'

/** A key of a ConfigMap in the namespace of a Version. */
export interface ReadmeRef {
  /** Name of the Version. */
  readonly version: string
  readonly name: string
  readonly key: string
}

/** Rare fields of Versions, stored outside of the rows. */
export interface Rare {
  readonly checksumMalformed: boolean
  readonly isSourceCut: boolean
  readonly isBinaryCut: boolean
  /** Whether the source of a provider is stored, to be scanned. */
  readonly hasSource: boolean
  readonly binaryScannedAt: string | undefined
  readonly binaryFindings: FindingList
  readonly readme: ReadmeRef | undefined
  /** SHA-256 of the archives of every platform in upstream, in hexadecimal, separated by blanks. */
  readonly releaseDigests: string | undefined
  /** Platforms that were published together with it, and may be missing: `linux_amd64 SHA-256`, one per line. */
  readonly openRelease: string | undefined
  readonly breaks: Breaks | undefined
  readonly published: PublishedFrom | undefined
  /** Whether it is not stored because of these changes. */
  readonly isBreakRefused: boolean
  readonly ownLifecycle: LifecycleFacts['own']
  readonly quarantinedBy: readonly QuarantineEntry[]
  /** In seconds since 1970; 0 if the time is unknown. */
  readonly lifecycleSince: number
}

const nothingRare: Rare = {
  checksumMalformed: false,
  isSourceCut: false,
  isBinaryCut: false,
  hasSource: false,
  binaryScannedAt: undefined,
  binaryFindings: 0,
  readme: undefined,
  releaseDigests: undefined,
  openRelease: undefined,
  breaks: undefined,
  published: undefined,
  isBreakRefused: false,
  ownLifecycle: undefined,
  quarantinedBy: [],
  lifecycleSince: 0,
}

/** Scans of the served archive. Scans of a replaced archive say nothing about it. */
export function servedScans(
  { spec, status: { scan, dependencyScan, sourceScan, binaryScan } = {} }: Version,
  digest: string | undefined,
): {
  readonly sourceScan?: Scan | undefined
  readonly binaryScan?: Scan | undefined
  /** Whether their lists leave out findings. */
  readonly isSourceCut?: boolean
  readonly isBinaryCut?: boolean
} {
  const isOfAnother = scan !== undefined && digest !== undefined && digestOf(scan.sha256) !== digest
  return isOfAnother
    ? {}
    : {
        sourceScan,
        binaryScan,
        isSourceCut: (spec.type === 'Provider' ? dependencyScan : scan)?.truncated === true,
        isBinaryCut: spec.type === 'Provider' && scan?.truncated === true,
      }
}

interface RareFacts extends Pick<Rare, 'checksumMalformed' | 'isSourceCut' | 'isBinaryCut'> {
  readonly scan: Scan | undefined
}

export function rareOf(
  version: Version,
  { scan, isSourceCut, isBinaryCut, checksumMalformed }: RareFacts,
  context: RowContext,
): Rare {
  const { metadata, spec, status } = version
  const ref = spec.type === 'Module' ? status?.readmeConfigMapRef : undefined
  const digests = spec.type === 'Provider' ? releaseDigestsOf(status?.artifact?.hashes) : undefined
  const open = openReleaseOf(version)
  const source = spec.type === 'Provider' ? status?.artifact?.source : undefined
  // A repository that has not answered yet may have a go.mod.
  const hasSource =
    source !== undefined && (source.sha256 !== undefined || source.revision === undefined)
  const breaks = breaksOf(version)
  const published = publishedFrom(status?.published)
  const { quarantinedBy = nothingRare.quarantinedBy } = status ?? {}
  const parts = [scan, ref, digests, open, breaks, published, spec.lifecycle, status?.lifecycle]
  const isPlainRow = parts.every((part) => part === undefined)
  const isMarked = checksumMalformed || isSourceCut || isBinaryCut || hasSource
  if (isPlainRow && !isMarked && quarantinedBy.length === 0) return nothingRare
  return {
    checksumMalformed,
    isSourceCut,
    isBinaryCut,
    hasSource,
    binaryScannedAt: context.string(scannedAt(scan)),
    binaryFindings: context.findings.hold(scan?.findings ?? []),
    readme: ref && { ...ref, version: metadata.name },
    releaseDigests: context.string(digests),
    openRelease: context.release(open && releaseText(open)),
    breaks,
    published,
    isBreakRefused: conditionOf(status, 'Ready')?.reason === 'BreakingChange',
    ownLifecycle: spec.lifecycle,
    quarantinedBy,
    lifecycleSince: secondsOf(status?.lifecycle?.since),
  }
}

/** Converts a time of RFC 3339 to seconds since 1970; 0 without one. */
export const secondsOf = (time: string | undefined): number =>
  time === undefined ? 0 : Math.floor(Date.parse(time) / 1000) || 0

/** Since when its scans have a CRITICAL finding, otherwise 0. If no controller recorded that, the time of the last scan. */
export function criticalSinceOf(
  { status }: Version,
  { sourceScan, binaryScan }: ReturnType<typeof servedScans>,
): number {
  const times = [sourceScan, binaryScan].flatMap((scan) =>
    scan?.findings.some(({ severity }) => severity.toUpperCase() === 'CRITICAL') ? [scan] : [],
  )
  if (times.length === 0) return 0
  const written = [status?.scan, status?.dependencyScan].map((scan) =>
    secondsOf(scan?.criticalSince),
  )
  const since = Math.max(...written)
  return since || Math.max(1, ...times.map(({ scannedAt: at }) => secondsOf(at)))
}

/** Leaves out persons, because everybody who sees the version could read their names. */
function publishedFrom(published: Published | undefined): PublishedFrom | undefined {
  if (published === undefined) return undefined
  const { by: user = '', issuer: _, repository, ...rest } = published
  const account = /^system:serviceaccount:([^:]+):([^:]+)$/.exec(user)?.slice(1).join('/')
  const by = repository ?? account
  return { ...(by !== undefined && { by }), ...rest }
}

function breaksOf({ spec, status }: Version): Breaks | undefined {
  const { verdict, from, reasons = [] } = status?.compared ?? {}
  if (spec.type !== 'Module' || verdict !== 'breaking' || from === undefined) return undefined
  return { from, reasons }
}

/** Upstreams have some 15 platforms. */
const maxReleaseDigests = 100

/** Stores a text once if it is equal for every platform of a release. */
function releaseDigestsOf(hashes: readonly string[] = []): string | undefined {
  const digests = hashes
    .filter((hash) => /^zh:[0-9a-f]{64}$/.test(hash))
    .map((hash) => hash.slice(3))
  if (digests.length === 0) return undefined
  return [...new Set(digests)].toSorted().slice(0, maxReleaseDigests).join(' ')
}

export function scannedAt(scan: Scan | undefined): string | undefined {
  return scan && (scan.scannedAt ?? '')
}
