import { isDeepStrictEqual } from 'node:util'
import {
  fileNameOf,
  type ScanPolicy,
  type ScanSummary,
  type Version,
} from '../../api/v1alpha1/v1alpha1.ts'
import type { Clock } from '../../base/pacing/pacing.ts'
import type { StoredObject } from '../../records/store/store.ts'
import { quarantinedAfter, scanVerdict, stricter } from '../policy/policy.ts'
import type { Reconciled } from '../queue/queue.ts'
import { FillError } from '../sources/sources.ts'
import {
  conditionFalse,
  conditionTrue,
  conditionUnknown,
  jittered,
  msOf,
  parentOfVersion,
  resourceOf,
  type StatusChange,
  scanPolicyOf,
  timeOf,
  writeStatus,
} from '../sync/sync.ts'
import { countsText, listed } from './findings.ts'
import { type ArchiveScanning, digestOf, scanArchive, targetOf } from './scan-archive.ts'
import { ScanError } from './scan-error.ts'
import type { ScannerIdentity } from './scanner.ts'
import { failed } from './scanner-process.ts'

type Status = NonNullable<Version['status']>
type Scan = NonNullable<Status['sourceScan']>

/** The last scan of an archive, as this process knows it. */
interface LastScan {
  readonly scanner: string
  readonly database: string | undefined
  readonly sha256: string
  readonly atMs: number
}

export interface ScanContext extends ArchiveScanning {
  /** Least time between two scans of the same archive. */
  readonly rescanMs: number
  readonly clock: Clock
  /** By uid of the Version. A scan that failed is not written down. */
  readonly lastScans: Map<string, LastScan>
  /** The policy of the installation, which others can only make stricter. */
  readonly defaultPolicy?: ScanPolicy | undefined
  /** @throws ScanError */
  readonly identity: () => Promise<ScannerIdentity>
  /** Whether a scan may begin now. */
  readonly takeSlot: () => boolean
}

export interface ScanOutcome extends Reconciled {
  readonly isScanned?: boolean
}

/**
 * Scans the archive of a Version if that is due, and writes the result if it is new.
 *
 * @throws ScanError after it was written into the status; RegistryError
 */
export async function scanVersion(
  context: ScanContext,
  object: StoredObject,
  signal: AbortSignal,
): Promise<ScanOutcome> {
  const version = resourceOf('Version', object)
  const expected = digestOf(version)
  // In a folder, people need not write digests down.
  const isStored = expected !== undefined || context.objects.isFolder
  if (!isWanted(context, version) || fileNameOf(version) === undefined || !isStored) return {}
  const last = lastScanOf(context, version)
  /** The digest of the archive, as far as it is known. */
  let read = expected
  try {
    const identity = await context.identity()
    const dueInMs = (sha256: string) =>
      last?.sha256 === sha256 ? untilDue(context, version, last, identity) : 0
    const afterMs = expected === undefined ? 0 : dueInMs(expected)
    if (afterMs !== 0) return afterMs === undefined ? {} : { afterMs }
    if (!context.takeSlot()) return { waitsFor: 'scanner' }
    const isKnown = (sha256: string) => {
      read = sha256
      return dueInMs(sha256) !== 0
    }
    const scanned = await scanArchive(context, version, identity, isKnown, signal)
    if (scanned === undefined) return {}
    const atMs = context.clock()
    const { sha256, findings } = scanned
    const list = listed(findings)
    const { scanner } = identity
    const database = identity.databases[targetOf(version)]
    const summary: ScanSummary = {
      sha256,
      scanner,
      ...(database !== undefined && { database }),
      counts: list.counts,
      ...(list.truncated && { truncated: true }),
    }
    const scan = { scannedAt: timeOf(atMs), findings: [...list.findings] }
    const result = (status: Status | undefined) => resultOf(version, status, { scan, summary })
    // Its spec changed meanwhile: that asks for another look, which scans it again.
    if (!(await write(context, object, sha256, result))) return {}
    remember(context, version, sha256, identity)
    return { isScanned: true, ...soonestRescan(context, version, database) }
  } catch (thrown) {
    const error = thrown instanceof FillError ? failed(thrown.message, thrown) : thrown
    if (!(error instanceof ScanError) || signal.aborted) throw error
    // Without the program, findings that are there stay what is known.
    const isKnown = last !== undefined && last.sha256 === read
    if (error.reason === 'ScannerAbsent' && isKnown) throw error
    const isWritten = await write(context, object, read, (status) => failureOf(status, read, error))
    if (error.reason === 'NothingRecognised' && read !== undefined && isWritten) {
      remember(context, version, read, await context.identity())
    }
    throw error
  }
}

function remember(
  { lastScans, clock }: ScanContext,
  version: Version,
  sha256: string,
  { scanner, databases }: ScannerIdentity,
): void {
  const database = databases[targetOf(version)]
  lastScans.set(version.metadata.uid, { scanner, database, sha256, atMs: clock() })
}

/** When a scanned archive is scanned again: 0 is now, and undefined is when the scanner or its database has changed. */
function untilDue(
  { clock, rescanMs }: ScanContext,
  version: Version,
  last: LastScan,
  { scanner, databases }: ScannerIdentity,
): number | undefined {
  const database = databases[targetOf(version)]
  const isSame = last.scanner === scanner && last.database === database
  if (isSame && database !== undefined) return undefined
  return Math.max(0, last.atMs + jittered(rescanMs, version.metadata.uid) - clock())
}

/** A scanner that does not name its database may have a new one at any time. */
function soonestRescan(
  { rescanMs }: ScanContext,
  { metadata }: Version,
  database: string | undefined,
): Reconciled {
  return database === undefined ? { afterMs: jittered(rescanMs, metadata.uid) } : {}
}

function lastScanOf({ lastScans }: ScanContext, version: Version): LastScan | undefined {
  const { status, metadata } = version
  const known = lastScans.get(metadata.uid)
  if (known !== undefined || status?.scan === undefined) return known
  const { sha256, scanner, database } = status.scan
  const { scannedAt } =
    (targetOf(version) === 'source' ? status.sourceScan : status.binaryScan) ?? {}
  return { sha256, scanner, database, atMs: msOf(scannedAt) ?? 0 }
}

/**
 * Writes a status unless the Version has another archive by now, which is scanned next.
 *
 * @returns whether it is written
 */
async function write(
  { objects, clock }: ScanContext,
  object: StoredObject,
  sha256: string | undefined,
  change: (status: Status | undefined) => StatusChange<Status>,
): Promise<boolean> {
  const { namespace, name } = object.metadata
  const current = objects.get('Version', namespace, name)
  if (current?.metadata.uid !== object.metadata.uid) return false
  const isSameArchive = (state: StoredObject) =>
    (digestOf(resourceOf('Version', state)) ?? sha256) === sha256
  let isSame = isSameArchive(current)
  if (!isSame) return false
  const written = await writeStatus<Status>({ objects, clock }, current, (status) => {
    isSame = isSameArchive({ ...current, status })
    return isSame ? change(status) : unchanged
  })
  return isSame && written !== undefined
}

/**
 * Quarantines a Version, or lifts that, as its policy and its findings say.
 *
 * @returns when to decide again
 */
export async function enforcePolicy(
  context: ScanContext,
  { namespace, name }: StoredObject['metadata'],
): Promise<Reconciled> {
  const { objects, clock, defaultPolicy } = context
  const object = objects.get('Version', namespace, name)
  if (object === undefined) return {}
  const version = resourceOf('Version', object)
  const sha256 = digestOf(version) ?? version.status?.scan?.sha256
  if (sha256 === undefined) return {}
  const own = scanPolicyOf(version, parentOfVersion(context, version))
  const policy = isWanted(context, version) ? stricter(own, defaultPolicy) : undefined
  const nowMs = clock()
  const decide = (status: Status | undefined) => scanVerdict({ policy, status, sha256, nowMs })
  const entriesAfter = (status: Status | undefined) =>
    quarantinedAfter(status?.quarantinedBy, decide(status), timeOf(nowMs))
  if (!isDeepStrictEqual(entriesAfter(version.status), version.status?.quarantinedBy)) {
    await writeStatus<Status>({ objects, clock }, object, (status) => ({
      fields: { quarantinedBy: entriesAfter(status) },
      conditions: {},
      isObserved: false,
    }))
  }
  const { untilMs } = decide(version.status)
  return untilMs === undefined ? {} : { afterMs: untilMs - nowMs }
}

/** Whether scans look at a Version. Without them, it has no verdict: nothing would ever lift it. */
const isWanted = ({ scansProviders }: ScanContext, { spec }: Version): boolean =>
  spec.type === 'Module' || scansProviders

const unchanged = { fields: {}, conditions: {}, isObserved: false } as const

function resultOf(
  version: Version,
  before: Status | undefined,
  { scan, summary }: { scan: Scan; summary: ScanSummary },
): StatusChange<Status> {
  const field = targetOf(version) === 'source' ? 'sourceScan' : 'binaryScan'
  const known = before?.scan?.sha256 === summary.sha256 ? before[field] : undefined
  const criticalSince = criticalSinceOf(scan, known, before?.scan?.criticalSince)
  const { database, scanner, counts, truncated } = summary
  const by = database === undefined ? scanner : `${scanner} with the database of ${database}`
  const tail = truncated === true ? '; the list leaves out the mildest' : ''
  const Scanned = conditionTrue('Scanned', `${countsText(counts)}, by ${by}${tail}`)
  const fields = { [field]: scan, scan: { ...summary, ...(criticalSince && { criticalSince }) } }
  return { fields, conditions: { Scanned }, isObserved: false }
}

/** The time of the last scan with a CRITICAL finding that the scan before it did not have. */
function criticalSinceOf(
  scan: Scan,
  before: Scan | undefined,
  since: string | undefined,
): string | undefined {
  const found = criticalIn(scan)
  if (found.size === 0) return undefined
  return found.isSubsetOf(criticalIn(before)) ? (since ?? before?.scannedAt) : scan.scannedAt
}

const criticalIn = (scan: Scan | undefined): Set<string> =>
  new Set(
    scan?.findings
      .filter(({ severity }) => severity === 'CRITICAL')
      .map((one) => `${one.vulnerabilityID} ${one.pkgName} ${one.installedVersion}`),
  )

/** Earlier findings of the same archive stay. */
function failureOf(
  before: Status | undefined,
  sha256: string | undefined,
  { reason, message }: ScanError,
): StatusChange<Status> {
  const known = before?.scan?.sha256
  const isOfAnother = known !== undefined && sha256 !== undefined && known !== sha256
  const state = reason === 'ScanFailed' ? conditionFalse : conditionUnknown
  return {
    fields: isOfAnother ? { sourceScan: undefined, binaryScan: undefined, scan: undefined } : {},
    conditions: { Scanned: state(reason, message) },
    isObserved: false,
  }
}
