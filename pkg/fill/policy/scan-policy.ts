import { holdsUnscanned, type ScanPolicy, type Version } from '../../api/v1alpha1/v1alpha1.ts'
import { attempt, printable } from '../../base/errors/errors.ts'
import { endOf } from './rules.ts'

type Status = NonNullable<Version['status']>
type QuarantineEntries = NonNullable<Status['quarantinedBy']>

export interface ScanFacts {
  /** Undefined, or one without `block`: nothing is blocked. */
  readonly policy: ScanPolicy | undefined
  readonly status: Status | undefined
  /** Digest of the stored archive, in hexadecimal. */
  readonly sha256: string
  readonly nowMs: number
}

export interface ScanVerdict {
  /** Why the version is quarantined; undefined if it is not. */
  readonly message?: string | undefined
  /** When the verdict changes although nothing else does. */
  readonly untilMs?: number | undefined
}

const shownIds = 5
const shownHints = 2

/** Decides whether the findings of a version quarantine it. */
export function scanVerdict({ policy, status, sha256, nowMs }: ScanFacts): ScanVerdict {
  const { block, ignore = [] } = policy ?? {}
  if (block === undefined) return {}
  const isScanned = status?.scan?.sha256 === sha256
  if (!isScanned && holdsUnscanned(policy)) return { message: missing(status) }
  // Without a scan of the archive, findings of its go.mod and go.sum still count.
  const scans = countedScans(status).filter(({ isOfArchive }) => isScanned || !isOfArchive)
  const severities = block === 'HIGH' ? ['CRITICAL', 'HIGH'] : ['CRITICAL']
  const listedIn = ({ findings = [] }: CountedScan) =>
    findings.filter(({ severity }) => severities.includes(severity))
  const listed = scans.flatMap(listedIn)
  const accepted = new Map(ignore.map(({ id, until }) => [id, attempt(() => endOf(until)) ?? 0]))
  const isAccepted = (id: string) => (accepted.get(id) ?? 0) > nowMs
  const blocking = listed.filter(({ vulnerabilityID }) => !isAccepted(vulnerabilityID))
  const isUnlisted = scans.some((scan) => countIn(scan, block) > listedIn(scan).length)
  const ends = listed.flatMap(({ vulnerabilityID: id }) =>
    isAccepted(id) ? [accepted.get(id) ?? 0] : [],
  )
  if (blocking.length === 0 && !isUnlisted) {
    return ends.length === 0 ? {} : { untilMs: Math.min(...ends) }
  }
  const ids = [...new Set(blocking.map(({ vulnerabilityID }) => vulnerabilityID))]
  const more = ids.length > shownIds ? ` and ${ids.length - shownIds} more` : ''
  const what =
    ids.length === 0 ? 'more findings than can be listed' : ids.slice(0, shownIds).join(', ')
  const hints = ignore.flatMap((one) => hintOf(one, ids)).slice(0, shownHints)
  const found = `scans found ${severities.join(' or ')}: ${what}${more}`
  const remedy = 'use another version, or ask for an entry in scanPolicy.ignore'
  return { message: [found, ...hints, remedy].join('; ') }
}

interface CountedScan {
  /** Undefined: another program made the scan. */
  readonly counts: NonNullable<Status['scan']>['counts'] | undefined
  readonly findings: NonNullable<Status['sourceScan']>['findings'] | undefined
  /** Whether it looked at what people run, or does not say. */
  readonly isOfArchive: boolean
}

/** The scans of a status, each with the counts of all of its findings. */
function countedScans({
  scan,
  dependencyScan,
  sourceScan,
  binaryScan,
}: Status = {}): CountedScan[] {
  const isModule = dependencyScan === undefined && binaryScan === undefined
  const ofSource = isModule ? scan : dependencyScan
  const ofArchive = isModule ? undefined : scan
  return [
    {
      counts: ofSource?.counts,
      findings: sourceScan?.findings,
      isOfArchive: dependencyScan === undefined,
    },
    { counts: ofArchive?.counts, findings: binaryScan?.findings, isOfArchive: true },
  ]
}

const countIn = ({ counts }: CountedScan, block: 'CRITICAL' | 'HIGH'): number =>
  (counts?.critical ?? 0) + (block === 'HIGH' ? (counts?.high ?? 0) : 0)

type Ignored = NonNullable<ScanPolicy['ignore']>[number]

/** Says why an entry that was meant for a finding does not accept it. */
function hintOf({ id, until }: Ignored, blocking: readonly string[]): string[] {
  if (blocking.includes(id)) return [`${id} was accepted until ${until}`]
  const meant = blocking.find((one) => one !== id && look(one) === look(id))
  return meant === undefined
    ? []
    : [`scanPolicy.ignore spells ${meant} as ${printable(JSON.stringify(id))}`]
}

/** A text without the differences that people overlook. */
const look = (id: string): string =>
  id
    .toLowerCase()
    .replaceAll('o', '0')
    .replaceAll(/[il]/g, '1')
    .replaceAll(/[^a-z0-9]/g, '')

/** The policy of a config, where an installation has one too: the stricter of both. */
export function stricter(
  own: ScanPolicy | undefined,
  installation: ScanPolicy | undefined,
): ScanPolicy | undefined {
  if (own === undefined || installation?.block === undefined) return own ?? installation
  const blocks = [own.block, installation.block]
  const { onMissing = own.block === undefined ? installation.onMissing : 'Hold' } = own
  return { ...own, block: blocks.includes('HIGH') ? 'HIGH' : 'CRITICAL', onMissing }
}

function missing(status: Status | undefined): string {
  const failure = status?.conditions?.find(({ type }) => type === 'Scanned')
  if (failure?.reason === 'NothingRecognised') {
    return `no scan could examine it (${failure.message}); to serve it, set scanPolicy.onMissing: Serve`
  }
  const why = failure === undefined || failure.status === 'True' ? '' : ` (${failure.message})`
  return `it was not scanned yet${why}; it is served after a scan, or with scanPolicy.onMissing: Serve`
}

/**
 * Whether a scanner has looked at an archive, or found something in its source. Then it alone lifts a quarantine, because it
 * also knows the policy of its installation.
 *
 * @param sha256 of the archive, in hexadecimal
 */
export function hasScan(status: Status | undefined, sha256: string | undefined): boolean {
  const { critical = 0, high = 0 } = status?.dependencyScan?.counts ?? {}
  return (sha256 !== undefined && status?.scan?.sha256 === sha256) || critical + high > 0
}

/**
 * The policies that quarantine a version, after the one of scans has decided. Entries of others stay.
 *
 * @param now RFC 3339
 */
export function quarantinedAfter(
  before: QuarantineEntries | undefined,
  { message }: ScanVerdict,
  now: string,
): QuarantineEntries | undefined {
  const others = (before ?? []).filter(({ by }) => by !== 'ScanPolicy')
  const own = before?.find(({ by }) => by === 'ScanPolicy')
  const since = own?.since ?? now
  const after =
    message === undefined ? others : [...others, { by: 'ScanPolicy' as const, message, since }]
  return after.length === 0 ? undefined : after
}
