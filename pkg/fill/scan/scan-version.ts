import { isDeepStrictEqual } from 'node:util'
import { type ScanPolicy, type ScanSummary, type Version } from '../../api/v1alpha1/v1alpha1.ts'
import type { SharedResults } from '../../base/memory/memory.ts'
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
import type { Databases } from './databases.ts'
import { countsText, listed } from './findings.ts'
import { dependencies, digestOf, type ScanPart, storedPart } from './part.ts'
import {
  type ArchiveScanning,
  type ScannedFile,
  type ScanSubject,
  scanArchive,
} from './scan-archive.ts'
import { ScanError } from './scan-error.ts'
import type { ScannerIdentity } from './scanner.ts'
import { failed } from './scanner-process.ts'

type Status = NonNullable<Version['status']>
type Scan = NonNullable<Status['sourceScan']>

/** The last scan of a file, as this process knows it. */
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
  readonly lastScans: Readonly<Record<ScanPart['summary'], Map<string, LastScan>>>
  /** Scans of go.mod and go.sum, which the platforms of a version have in common. */
  readonly shared: SharedResults<ScanResult>
  /** The policy of the installation, which others can only make stricter. */
  readonly defaultPolicy?: ScanPolicy | undefined
  readonly databases: Databases
  /** @throws ScanError */
  readonly identity: () => Promise<ScannerIdentity>
  /** Whether a scan may begin now. */
  readonly takeSlot: () => boolean
}

export interface ScanOutcome extends Reconciled {
  readonly isScanned?: boolean
}

export interface ScanResult {
  readonly scan: Scan
  readonly summary: ScanSummary
}

/** How long platforms take the failure of a scan that they have in common: less than the wait after it. */
const sharedMs = 2 * 60_000
/** The same for a failure of something else, such as a work folder that is gone. */
const retryMs = 100

/**
 * Scans a file of a Version if that is due, and writes the result if it is new.
 *
 * @throws ScanError after it was written into the status; RegistryError
 */
export async function scanVersion(
  context: ScanContext,
  object: StoredObject,
  part: ScanPart,
  signal: AbortSignal,
): Promise<ScanOutcome> {
  const version = resourceOf('Version', object)
  const stored = storedPart(version, part)
  const expected = stored?.sha256
  if (stored === undefined && part === dependencies) {
    await forgetDependencies(context, object)
    return {}
  }
  if (!isWanted(context, version)) return {}
  // In a folder, people need not write digests down.
  if (stored === undefined || (expected === undefined && !context.objects.isFolder)) return {}
  const last = lastScanOf(context, version, part)
  /** The digest of the archive, as far as it is known. */
  let read = expected
  let usable: ScannerIdentity | undefined
  try {
    const identity = await context.identity()
    usable = identity
    const dueInMs = (sha256: string) =>
      last?.sha256 === sha256 ? untilDue(context, version, part, last, identity) : 0
    const afterMs = expected === undefined ? 0 : dueInMs(expected)
    if (afterMs !== 0) {
      await sayScanned(context, object, part, expected)
      return afterMs === undefined ? {} : { afterMs }
    }
    const subject = { version, part, identity }
    const key = part === dependencies ? sharedKey(subject) : undefined
    const isShared = key !== undefined && context.shared.has(key)
    if (!isShared && !context.takeSlot()) return { waitsFor: 'scanner' }
    const isKnown = (sha256: string) => {
      read = sha256
      return dueInMs(sha256) !== 0
    }
    let isScanned = false
    // Those who wait have no slot: they try again by themselves later.
    const failedMs = (error: unknown) => (error instanceof ScanError ? sharedMs : retryMs)
    const finish = (scan: () => Promise<ScannedFile>) => {
      const make = async () => {
        isScanned = true
        return resultFrom(await scan(), part, identity, context.clock())
      }
      return key === undefined ? make() : context.shared.get(key, make, { failedMs })
    }
    const scanned = await scanArchive(context, subject, { isKnown, finish }, signal)
    if (scanned === undefined) {
      await sayScanned(context, object, part, read)
      return {}
    }
    const { sha256, scanner, database } = scanned.summary
    const result = (status: Status | undefined) => {
      const written = writtenScan(status, part)
      const isKept =
        written?.sha256 === sha256 && keepsNewer(context, part, written, { scanner, database })
      return isKept ? unchanged : resultOf(part, status, scanned)
    }
    // Its spec changed meanwhile: that asks for another look, which scans it again.
    if (!(await write(context, object, part, sha256, result))) return {}
    remember(context, subject, sha256)
    return { isScanned, ...soonestRescan(context, version, database) }
  } catch (thrown) {
    const error = thrown instanceof FillError ? failed(thrown.message, thrown) : thrown
    if (!(error instanceof ScanError) || signal.aborted) throw error
    // Without a usable program, findings that are there stay what is known.
    const isKnown = last !== undefined && last.sha256 === read
    const isUnusable = usable === undefined || error.reason === 'ScannerAbsent'
    if (isUnusable && isKnown) throw error
    const failure = (status: Status | undefined) => failureOf(part, status, read, error)
    const isWritten = await write(context, object, part, read, failure)
    if (error.reason === 'NothingRecognised' && read !== undefined && isWritten) {
      remember(context, { version, part, identity: await context.identity() }, read)
    }
    throw error
  }
}

/** Says of a file that needs no scan that it was scanned: since then, a scan failed that is not needed any more. */
async function sayScanned(
  context: ScanContext,
  object: StoredObject,
  part: ScanPart,
  sha256: string | undefined,
): Promise<void> {
  const { status } = resourceOf('Version', object)
  const said = status?.conditions?.find(({ type }) => type === part.condition)
  const isFailed = said?.reason === 'ScanFailed' || said?.reason === 'ScannerAbsent'
  if (!isFailed || status?.[part.summary]?.sha256 !== sha256) return
  await write(context, object, part, sha256, (current) => {
    const summary = current?.[part.summary]
    const isSame = summary !== undefined && summary.sha256 === sha256
    return isSame ? { ...unchanged, conditions: { [part.condition]: stateOf(summary) } } : unchanged
  })
}

function sharedKey({ version, part, identity }: ScanSubject): string {
  const { scanner, databases } = identity
  return JSON.stringify([storedPart(version, part)?.sha256, scanner, databases[part.target]])
}

function resultFrom(
  { sha256, findings }: ScannedFile,
  { target }: ScanPart,
  { scanner, databases }: ScannerIdentity,
  atMs: number,
): ScanResult {
  const list = listed(findings)
  const database = databases[target]
  const summary: ScanSummary = {
    sha256,
    scanner,
    ...(database !== undefined && { database }),
    counts: list.counts,
    ...(list.truncated && { truncated: true }),
  }
  return { scan: { scannedAt: timeOf(atMs), findings: [...list.findings] }, summary }
}

function remember(
  { lastScans, clock }: ScanContext,
  { version, part, identity: { scanner, databases } }: ScanSubject,
  sha256: string,
): void {
  const database = databases[part.target]
  const last = { scanner, database, sha256, atMs: clock() }
  lastScans[part.summary].set(version.metadata.uid, last)
}

/** Another one in each process: what one of two scanners has scanned is not due for the other any more. */
const spread = crypto.randomUUID()

/** When a scanned archive is scanned again: 0 is now, and undefined is when the scanner or its database has changed. */
function untilDue(
  context: ScanContext,
  { metadata }: Version,
  part: ScanPart,
  last: LastScan,
  { scanner, databases }: ScannerIdentity,
): number | undefined {
  const database = databases[part.target]
  if (keepsNewer(context, part, last, { scanner, database })) return undefined
  const isSame = last.scanner === scanner && last.database === database
  if (isSame && database !== undefined) return undefined
  // Platforms scan what they have in common at the same time.
  const task = part === dependencies ? last.sha256 : metadata.uid
  const { clock, rescanMs } = context
  return Math.max(0, last.atMs + jittered(rescanMs, task + spread) - clock())
}

/** Whether a scan of the same program with a newer database stays. In a folder, nobody else scans. */
const keepsNewer = (
  { objects, databases }: ScanContext,
  { target }: ScanPart,
  last: Pick<LastScan, 'scanner' | 'database' | 'atMs'>,
  own: Pick<LastScan, 'scanner' | 'database'>,
): boolean =>
  !objects.isFolder &&
  programOf(last.scanner) === programOf(own.scanner) &&
  databases.keeps(target, last, own.database)

/** `trivy` of `trivy 0.70.0`. */
const programOf = (scanner: string | undefined) => scanner?.split(' ')[0]

/** A scanner that does not name its database may have a new one at any time. */
function soonestRescan(
  { rescanMs }: ScanContext,
  { metadata }: Version,
  database: string | undefined,
): Reconciled {
  return database === undefined ? { afterMs: jittered(rescanMs, metadata.uid + spread) } : {}
}

function lastScanOf(
  { lastScans, clock, rescanMs }: ScanContext,
  { status, metadata }: Version,
  part: ScanPart,
): LastScan | undefined {
  // A clock was wrong at a time in the future.
  const past = (ms: number) => (ms > clock() + rescanMs ? 0 : ms)
  const own = lastScans[part.summary].get(metadata.uid)
  const known = own && { ...own, atMs: past(own.atMs) }
  const written = writtenScan(status, part)
  if (written === undefined) return known
  const atMs = past(written.atMs)
  // Times are written in seconds. A later one is of another scanner.
  return known !== undefined && known.atMs >= atMs ? known : { ...written, atMs }
}

function writtenScan(
  status: Status | undefined,
  { summary, findings }: ScanPart,
): LastScan | undefined {
  const written = status?.[summary]
  if (written === undefined) return undefined
  const { sha256, scanner, database } = written
  return { sha256, scanner, database, atMs: msOf(status?.[findings]?.scannedAt) ?? 0 }
}

/** Drops the scan of go.mod and go.sum that are no longer known, and says why there are none. */
async function forgetDependencies(context: ScanContext, object: StoredObject): Promise<void> {
  const version = resourceOf('Version', object)
  const { status, metadata } = version
  context.lastScans.dependencyScan.delete(metadata.uid)
  const said = status?.conditions?.find(({ type }) => type === 'SourceScanned')
  const isSaid = said?.message === status?.artifact?.source?.problem
  if (status?.dependencyScan === undefined && isSaid) return
  await writeStatus<Status>(context, object, (current) => {
    // Another scanner may have scanned files that were stored meanwhile.
    if (storedPart({ ...version, status: current }, dependencies) !== undefined) return unchanged
    const problem = current?.artifact?.source?.problem
    return {
      // Another program may have scanned the source.
      fields: current?.dependencyScan ? { sourceScan: undefined, dependencyScan: undefined } : {},
      conditions: {
        SourceScanned:
          problem === undefined ? undefined : conditionUnknown('SourceUnknown', problem),
      },
      isObserved: false,
    }
  })
}

/**
 * Writes a status unless the Version has another such file by now, which is scanned next.
 *
 * @returns whether it is written
 */
async function write(
  { objects, clock }: ScanContext,
  object: StoredObject,
  part: ScanPart,
  sha256: string | undefined,
  change: (status: Status | undefined) => StatusChange<Status>,
): Promise<boolean> {
  const { namespace, name } = object.metadata
  const current = objects.get('Version', namespace, name)
  if (current?.metadata.uid !== object.metadata.uid) return false
  const isSameArchive = (state: StoredObject) => {
    const stored = storedPart(resourceOf('Version', state), part)
    return stored !== undefined && (stored.sha256 ?? sha256) === sha256
  }
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
  part: ScanPart,
  before: Status | undefined,
  { scan, summary }: ScanResult,
): StatusChange<Status> {
  const last = before?.[part.summary]
  const known = last?.sha256 === summary.sha256 ? before?.[part.findings] : undefined
  const criticalSince = criticalSinceOf(scan, known, last?.criticalSince)
  const fields = {
    [part.findings]: scan,
    [part.summary]: { ...summary, ...(criticalSince && { criticalSince }) },
  }
  return { fields, conditions: { [part.condition]: stateOf(summary) }, isObserved: false }
}

function stateOf({ database, scanner, counts, truncated }: ScanSummary) {
  const by = database === undefined ? scanner : `${scanner} with the database of ${database}`
  const tail = truncated === true ? '; the list leaves out the mildest' : ''
  return conditionTrue('Scanned', `${countsText(counts)}, by ${by}${tail}`)
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
  part: ScanPart,
  before: Status | undefined,
  sha256: string | undefined,
  { reason, message }: ScanError,
): StatusChange<Status> {
  const known = before?.[part.summary]?.sha256
  const isOfAnother = known !== undefined && sha256 !== undefined && known !== sha256
  const state = reason === 'ScanFailed' ? conditionFalse : conditionUnknown
  return {
    fields: isOfAnother ? { [part.findings]: undefined, [part.summary]: undefined } : {},
    conditions: { [part.condition]: state(reason, message) },
    isObserved: false,
  }
}
