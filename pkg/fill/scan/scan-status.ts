import type { ScanSummary, Version } from '../../api/v1alpha1/v1alpha1.ts'
import type { Clock } from '../../base/pacing/pacing.ts'
import type { Objects, StoredObject } from '../../records/store/store.ts'
import {
  conditionFalse,
  conditionTrue,
  conditionUnknown,
  resourceOf,
  type StatusChange,
  writeStatus,
} from '../sync/sync.ts'
import { countsText } from './findings.ts'
import { dependencies, type ScanPart, storedPart } from './part.ts'
import type { ScanError } from './scanner.ts'

type Status = NonNullable<Version['status']>
type Scan = NonNullable<Status['sourceScan']>

export interface ScanResult {
  readonly scan: Scan
  readonly summary: ScanSummary
}

/** A file of a Version. */
export interface ScannedPart {
  readonly object: StoredObject
  readonly part: ScanPart
}

interface StatusContext {
  readonly objects: Objects
  readonly clock: Clock
}

const unchanged = { fields: {}, conditions: {}, isObserved: false } as const

/**
 * Writes what a scan found.
 *
 * @param isKept whether the scan in a status stays nevertheless
 * @returns whether the Version still has this file
 */
export async function writeResult(
  context: StatusContext,
  scanned: ScannedPart,
  result: ScanResult,
  isKept: (status: Status | undefined) => boolean,
): Promise<boolean> {
  return write(context, scanned, result.summary.sha256, (status) =>
    isKept(status) ? unchanged : resultOf(scanned.part, status, result),
  )
}

/** Writes why a scan failed. @returns whether the Version still has this file */
export async function writeFailure(
  context: StatusContext,
  scanned: ScannedPart,
  sha256: string | undefined,
  error: ScanError,
): Promise<boolean> {
  return write(context, scanned, sha256, (status) => failureOf(scanned.part, status, sha256, error))
}

/** Says of a file that needs no scan that it was scanned: since then, a scan failed that is not needed any more. */
export async function sayScanned(
  context: StatusContext,
  { object, part }: ScannedPart,
  sha256: string | undefined,
): Promise<void> {
  const { status } = resourceOf('Version', object)
  const said = status?.conditions?.find(({ type }) => type === part.condition)
  const isFailed = said?.reason === 'ScanFailed' || said?.reason === 'ScannerAbsent'
  if (!isFailed || status?.[part.summary]?.sha256 !== sha256) return
  await write(context, { object, part }, sha256, (current) => {
    const summary = current?.[part.summary]
    const isSame = summary !== undefined && summary.sha256 === sha256
    return isSame ? { ...unchanged, conditions: { [part.condition]: stateOf(summary) } } : unchanged
  })
}

/** Drops the scan of go.mod and go.sum that are no longer known, and says why there are none. */
export async function dropDependencies(
  context: StatusContext,
  object: StoredObject,
): Promise<void> {
  const version = resourceOf('Version', object)
  const { status } = version
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
  { objects, clock }: StatusContext,
  { object, part }: ScannedPart,
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
