import type { ScanSummary, Version } from '../../api/v1alpha1/v1alpha1.ts'
import type { SharedResults } from '../../base/memory/memory.ts'
import type { Clock } from '../../base/pacing/pacing.ts'
import type { StoredObject } from '../../records/store/store.ts'
import type { Reconciled } from '../queue/queue.ts'
import { FillError } from '../sources/sources.ts'
import { resourceOf, timeOf } from '../sync/sync.ts'
import { listed } from './findings.ts'
import { type LastScan, type LastScans, writtenScan } from './last-scans.ts'
import { dependencies, isWanted, type ScanPart, storedPart } from './part.ts'
import {
  type ArchiveScanning,
  type ScannedFile,
  type ScanSubject,
  scanArchive,
} from './scan-archive.ts'
import {
  dropDependencies,
  type ScannedPart,
  type ScanResult,
  sayScanned,
  writeFailure,
  writeResult,
} from './scan-status.ts'
import { ScanError, type ScannerIdentity } from './scanner.ts'
import { failed } from './scanner-process.ts'

export interface ScanContext extends ArchiveScanning {
  readonly clock: Clock
  readonly lastScans: LastScans
  /** Scans of go.mod and go.sum, which the platforms of a version have in common. */
  readonly shared: SharedResults<ScanResult>
  /** @throws ScanError */
  readonly identity: () => Promise<ScannerIdentity>
  /** Whether a scan may begin now. */
  readonly takeSlot: () => boolean
}

export interface ScanOutcome extends Reconciled {
  readonly isScanned?: boolean
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
  if (stored === undefined && part === dependencies) {
    context.lastScans.forgetDependencies(version.metadata.uid)
    await dropDependencies(context, object)
    return {}
  }
  if (!isWanted(context, version)) return {}
  // In a folder, people need not write digests.
  if (stored === undefined || (stored.sha256 === undefined && !context.objects.isFolder)) return {}
  const scan = new FileScan(context, { object, part }, stored.sha256)
  try {
    return await scan.run(signal)
  } catch (thrown) {
    const error = thrown instanceof FillError ? failed(thrown.message, thrown) : thrown
    if (error instanceof ScanError && !signal.aborted) await scan.fail(error)
    throw error
  }
}

/** One scan of a file. */
class FileScan {
  readonly #context: ScanContext
  readonly #file: ScannedPart
  readonly #version: Version
  readonly #last: LastScan | undefined
  /** The digest of the file, as far as it is known. */
  #sha256: string | undefined
  /** Undefined: the scanner cannot be used. */
  #identity: ScannerIdentity | undefined
  /** Whether the scanner ran here. */
  #isScanned = false

  constructor(context: ScanContext, file: ScannedPart, sha256: string | undefined) {
    this.#context = context
    this.#file = file
    this.#version = resourceOf('Version', file.object)
    this.#last = context.lastScans.of(this.#version, file.part)
    this.#sha256 = sha256
  }

  async run(signal: AbortSignal): Promise<ScanOutcome> {
    const { lastScans, shared, takeSlot } = this.#context
    const { part } = this.#file
    const identity = await this.#context.identity()
    this.#identity = identity
    const subject = { version: this.#version, part, identity }
    const afterMs = this.#sha256 === undefined ? 0 : this.#untilDue(subject, this.#sha256)
    if (afterMs !== 0) {
      await sayScanned(this.#context, this.#file, this.#sha256)
      return afterMs === undefined ? {} : { afterMs }
    }
    const isShared = part === dependencies && shared.has(sharedKey(subject))
    if (!isShared && !takeSlot()) return { waitsFor: 'scanner' }
    const result = await this.#scan(subject, signal)
    if (result === undefined) {
      await sayScanned(this.#context, this.#file, this.#sha256)
      return {}
    }
    // Its spec changed meanwhile: that asks for another look, which scans it again.
    if (!(await this.#write(result))) return {}
    const { sha256, database } = result.summary
    lastScans.add(subject, sha256)
    return { isScanned: this.#isScanned, ...lastScans.soonest(this.#version, database) }
  }

  /** Writes why the scan failed. */
  async fail(error: ScanError): Promise<void> {
    const sha256 = this.#sha256
    const identity = this.#identity
    // Without a usable program, findings that are there stay what is known.
    const isKnown = this.#last !== undefined && this.#last.sha256 === sha256
    const isUnusable = identity === undefined || error.reason === 'ScannerAbsent'
    if (isUnusable && isKnown) return
    const isWritten = await writeFailure(this.#context, this.#file, sha256, error)
    const isDone = error.reason === 'NothingRecognised' && sha256 !== undefined && isWritten
    if (isDone && identity !== undefined) {
      const { part } = this.#file
      this.#context.lastScans.add({ version: this.#version, part, identity }, sha256)
    }
  }

  #untilDue(subject: ScanSubject, sha256: string): number | undefined {
    const last = this.#last
    return last?.sha256 === sha256 ? this.#context.lastScans.untilDue(subject, last) : 0
  }

  /** @returns undefined if the archive needs no scan */
  #scan(subject: ScanSubject, signal: AbortSignal): Promise<ScanResult | undefined> {
    const { shared, clock } = this.#context
    const isKnown = (sha256: string): boolean => {
      this.#sha256 = sha256
      return this.#untilDue(subject, sha256) !== 0
    }
    const finish = (scan: () => Promise<ScannedFile>): Promise<ScanResult> => {
      const make = async () => {
        this.#isScanned = true
        return resultFrom(await scan(), subject, clock())
      }
      if (subject.part !== dependencies) return make()
      // Those who wait have no slot: they try again by themselves later.
      const failedMs = (error: unknown) => (error instanceof ScanError ? sharedMs : retryMs)
      return shared.get(sharedKey(subject), make, { failedMs })
    }
    return scanArchive(this.#context, subject, { isKnown, finish }, signal)
  }

  /** Writes the result, unless the status has one of a newer database. */
  #write(result: ScanResult): Promise<boolean> {
    const { sha256, scanner, database } = result.summary
    const { part } = this.#file
    return writeResult(this.#context, this.#file, result, (status) => {
      const written = writtenScan(status, part)
      if (written?.sha256 !== sha256) return false
      return this.#context.lastScans.keepsNewer(part, written, { scanner, database })
    })
  }
}

function sharedKey({ version, part, identity }: ScanSubject): string {
  const { scanner, databases } = identity
  return JSON.stringify([storedPart(version, part)?.sha256, scanner, databases[part.target]])
}

function resultFrom(
  { sha256, findings }: ScannedFile,
  { part: { target }, identity: { scanner, databases } }: ScanSubject,
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
