import type { Version } from '../../api/v1alpha1/v1alpha1.ts'
import type { Clock } from '../../base/pacing/pacing.ts'
import type { Reconciled } from '../queue/queue.ts'
import { jittered, msOf } from '../sync/sync.ts'
import type { Databases } from './installed-scanner.ts'
import { dependencies, type ScanPart } from './part.ts'
import type { ScanSubject } from './scan-archive.ts'

/** The last scan of a file. */
export interface LastScan {
  readonly scanner: string
  readonly database: string | undefined
  readonly sha256: string
  readonly atMs: number
}

interface LastScansOptions {
  /** Minimum time between two scans of the same archive. */
  readonly rescanMs: number
  readonly databases: Databases
  /** Whether nobody else scans. */
  readonly isFolder: boolean
  readonly clock: Clock
}

/** Another one in each process: what one of two scanners has scanned is not due for the other any more. */
const spread = crypto.randomUUID()

/** The last scans, as statuses and this process know them, and when the next ones are due. */
export class LastScans {
  readonly #options: LastScansOptions
  /** Scans of this process by uid of the Version. A scan that failed is not stored. */
  readonly #own: Readonly<Record<ScanPart['summary'], Map<string, LastScan>>> = {
    scan: new Map(),
    dependencyScan: new Map(),
  }

  constructor(options: LastScansOptions) {
    this.#options = options
  }

  of({ status, metadata }: Version, part: ScanPart): LastScan | undefined {
    const { clock, rescanMs } = this.#options
    // A clock was wrong at a time in the future.
    const past = (ms: number) => (ms > clock() + rescanMs ? 0 : ms)
    const own = this.#own[part.summary].get(metadata.uid)
    const known = own && { ...own, atMs: past(own.atMs) }
    const written = writtenScan(status, part)
    if (written === undefined) return known
    const atMs = past(written.atMs)
    // Times are written in seconds. A later one is of another scanner.
    return known !== undefined && known.atMs >= atMs ? known : { ...written, atMs }
  }

  add({ version, part, identity: { scanner, databases } }: ScanSubject, sha256: string): void {
    const last = { scanner, database: databases[part.target], sha256, atMs: this.#options.clock() }
    this.#own[part.summary].set(version.metadata.uid, last)
  }

  forget(uid: string): void {
    for (const known of Object.values(this.#own)) known.delete(uid)
  }

  forgetDependencies(uid: string): void {
    this.#own.dependencyScan.delete(uid)
  }

  /** When a scanned file is scanned again: 0 is now, and undefined is when the scanner or its database has changed. */
  untilDue(
    { version: { metadata }, part, identity: { scanner, databases } }: ScanSubject,
    last: LastScan,
  ): number | undefined {
    const database = databases[part.target]
    if (this.keepsNewer(part, last, { scanner, database })) return undefined
    const isSame = last.scanner === scanner && last.database === database
    if (isSame && database !== undefined) return undefined
    // Platforms scan what they have in common at the same time.
    const task = part === dependencies ? last.sha256 : metadata.uid
    const { clock, rescanMs } = this.#options
    return Math.max(0, last.atMs + jittered(rescanMs, task + spread) - clock())
  }

  /** A scanner that does not name its database may have a new one at any time. */
  soonest({ metadata }: Version, database: string | undefined): Reconciled {
    if (database !== undefined) return {}
    return { afterMs: jittered(this.#options.rescanMs, metadata.uid + spread) }
  }

  /** Whether a scan of the same program with a newer database stays. */
  keepsNewer(
    { target }: ScanPart,
    last: Pick<LastScan, 'scanner' | 'database' | 'atMs'>,
    own: Pick<LastScan, 'scanner' | 'database'>,
  ): boolean {
    const { isFolder, databases } = this.#options
    const isSameProgram = programOf(last.scanner) === programOf(own.scanner)
    return !isFolder && isSameProgram && databases.keeps(target, last, own.database)
  }
}

/** `trivy` of `trivy 0.70.0`. */
const programOf = (scanner: string | undefined) => scanner?.split(' ')[0]

/** The scan that a status has. */
export function writtenScan(
  status: Version['status'],
  { summary, findings }: ScanPart,
): LastScan | undefined {
  const written = status?.[summary]
  if (written === undefined) return undefined
  const { sha256, scanner, database } = written
  return { sha256, scanner, database, atMs: msOf(status?.[findings]?.scannedAt) ?? 0 }
}
