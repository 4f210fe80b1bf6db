/**
 * Scans the archives of Versions with a program of the operator's choice, and writes what it finds into their statuses. The
 * program is untrusted: it gets a copy of the archive, and its output is checked. A scan that failed never looks clean.
 */

import { mkdir } from 'node:fs/promises'
import { isDeepStrictEqual } from 'node:util'
import type { ScanPolicy, Version } from '../../api/v1alpha1/v1alpha1.ts'
import { SharedResults } from '../../base/memory/memory.ts'
import type { Clock } from '../../base/pacing/pacing.ts'
import { counter, type Logger, type Metrics } from '../../base/telemetry/telemetry.ts'
import type { Objects, StoredObject, StoredRef } from '../../records/store/store.ts'
import { explained } from '../egress/egress.ts'
import { quarantinedAfter, scanVerdict, stricter } from '../policy/policy.ts'
import { Queue, type Reconciled } from '../queue/queue.ts'
import {
  keyOf,
  parentOfVersion,
  resourceOf,
  scanPolicyOf,
  timeOf,
  writeStatus,
} from '../sync/sync.ts'
import { Failures } from './failures.ts'
import { InstalledScanner } from './installed-scanner.ts'
import { LastScans } from './last-scans.ts'
import { digestOf, isWanted, partsOf, type ScanPart } from './part.ts'
import { type ArchiveScanning, emptyFolder } from './scan-archive.ts'
import type { ScanResult } from './scan-status.ts'
import { scanVersion } from './scan-version.ts'
import { ScanError } from './scanner.ts'
import { endStrays, isolation } from './scanner-process.ts'

export { execScanner } from './exec-scanner.ts'
export { trivyScanner } from './trivy-scanner.ts'

export interface ScanOptions extends ArchiveScanning {
  /** Maximum number of scans at a time. */
  readonly slots: number
  /** Minimum time between two scans of the same archive. */
  readonly rescanMs: number
  /** The policy of the installation, which others can only make stricter. Default: none. */
  readonly defaultPolicy?: ScanPolicy | undefined
  readonly log: Logger
  readonly metrics: Metrics
  readonly clock: Clock
  /** Called at the end, when nothing is scanned any more. */
  readonly onStopped?: () => Promise<void>
}

/** Scans what needs a scan until it is stopped. @throws an error of the file system if the work folder cannot be used */
export async function startScans(options: ScanOptions): Promise<Scans> {
  const { objects, log, workDir } = options
  await mkdir(workDir, { recursive: true, mode: 0o700 })
  endStrays(`${workDir}/`)
  const left = await emptyFolder(workDir)
  if (left.length > 0)
    log.warn({ problems: left.slice(0, 5) }, 'files of earlier scans could not be removed')
  if (options.isOffline && isolation() === undefined) {
    const problem =
      'scanners share the network of this process, because it may not make network namespaces with unshare; only proxy settings and a network policy keep them offline'
    log.warn(problem)
  }
  await objects.ready
  const scanning = new Scans(options)
  await scanning.start()
  return scanning
}

/** Scans the files of each Version, one Version at a time for each slot. */
export class Scans {
  /** Number of scans with a result since the start. */
  done = 0
  readonly #options: ScanOptions
  readonly #total
  readonly #failures: Failures
  readonly #installed: InstalledScanner
  readonly #lastScans: LastScans
  readonly #shared: SharedResults<ScanResult>
  readonly #queue: Queue
  /** Versions that have a slot. */
  readonly #scanning = new Set<string>()
  #forget: () => void = () => undefined

  constructor(options: ScanOptions) {
    const { objects, scanner, rescanMs, slots, clock, log, metrics } = options
    this.#options = options
    this.#total = counter(metrics, {
      name: 'scans_total',
      help: 'Scans of archives that ended.',
      labels: ['result'],
    })
    this.#failures = new Failures({ rescanMs, clock })
    const onChange = () => {
      this.#failures.clear()
      this.#addAll('poll')
    }
    this.#installed = new InstalledScanner({ scanner, clock, log, metrics, onChange })
    const { databases } = this.#installed
    const { isFolder } = objects
    this.#lastScans = new LastScans({ rescanMs, databases, isFolder, clock })
    this.#shared = new SharedResults({ maxEntries: 20, clock })
    this.#queue = new Queue({
      kind: 'Scan',
      workers: slots,
      acquire: (_, key) => this.#take(key),
      reconcile: (key, signal) => this.#reconcile(key, signal),
      log,
      metrics,
    })
  }

  async start(): Promise<void> {
    this.#forget = this.#options.objects.onChange((...change) => this.#changed(...change))
    await this.#installed.follow()
    this.#addAll('listing')
    this.#queue.start()
  }

  /** Resolves when nothing has to be scanned now. */
  idle(): Promise<void> {
    return this.#queue.idle()
  }

  /** Versions whose last scan failed, such as `platform/vpc-1-2-0`, with the reason. */
  failures(): { readonly key: string; readonly message: string }[] {
    return this.#failures.list()
  }

  /** Ends running scans. */
  async stop(): Promise<void> {
    this.#forget()
    await this.#installed.close()
    await this.#queue.stop()
    await emptyFolder(this.#options.workDir)
    await this.#options.onStopped?.()
  }

  #addAll(priority: 'listing' | 'poll'): void {
    const versions = this.#options.objects.list('Version')
    for (const key of shuffled(versions.map(({ metadata }) => keyOf(metadata)))) {
      this.#queue.add(key, priority)
    }
  }

  #changed(
    { kind, namespace, name }: StoredRef,
    before: StoredObject | undefined,
    after: StoredObject | undefined,
  ): void {
    if (kind === 'Version') this.#queue.add(keyOf({ namespace, name }), 'user')
    if (after === undefined) this.#lastScans.forget(before?.metadata.uid ?? '')
    if (kind === 'Version' || before?.metadata.generation === after?.metadata.generation) return
    // Its policy may be another one. Versions without an owner may have it too.
    for (const ownerUid of [(after ?? before)?.metadata.uid ?? '', '']) {
      const versions = this.#options.objects.list('Version', { namespace, ownerUid })
      for (const { metadata } of versions) this.#queue.add(keyOf(metadata), 'poll')
    }
  }

  /** Takes a slot for a Version. @returns false if all are taken */
  #take(key: string): boolean {
    if (!this.#scanning.has(key) && this.#scanning.size >= this.#options.slots) return false
    this.#scanning.add(key)
    return true
  }

  async #reconcile(key: string, signal: AbortSignal): Promise<Reconciled> {
    try {
      return await this.#look(key, signal)
    } finally {
      // It waited for a slot, and needs no scan any more.
      this.#scanning.delete(key)
    }
  }

  async #look(key: string, signal: AbortSignal): Promise<Reconciled> {
    const [namespace = '', name = ''] = key.split('/')
    const object = this.#options.objects.get('Version', namespace, name)
    if (object === undefined || object.metadata.deletionTimestamp !== undefined) {
      this.#failures.forget(key)
      return {}
    }
    const [scanned] = await Promise.allSettled([this.#scanAll(object, signal)])
    // What is known counts, even if a scan failed because the storage is unreachable.
    const enforced = signal.aborted ? {} : await enforcePolicy(this.#options, object.metadata)
    if (scanned.status === 'rejected') throw scanned.reason
    return scanned.value.waitsFor === undefined ? sooner(scanned.value, enforced) : scanned.value
  }

  async #scanAll(object: StoredObject, signal: AbortSignal): Promise<Reconciled> {
    let outcome: Reconciled = {}
    for (const part of partsOf((object.spec as Version['spec']).type)) {
      const one = await this.#scan(object, part, signal)
      if (one.waitsFor !== undefined) return one
      outcome = sooner(outcome, one)
    }
    return outcome
  }

  async #scan(object: StoredObject, part: ScanPart, signal: AbortSignal): Promise<Reconciled> {
    const waitMs = this.#failures.waitMs(object, part)
    if (waitMs > 0) return { afterMs: waitMs }
    const key = keyOf(object.metadata)
    const context = {
      ...this.#options,
      lastScans: this.#lastScans,
      shared: this.#shared,
      identity: () => this.#installed.identity(),
      takeSlot: () => this.#take(key),
    }
    try {
      const outcome = await scanVersion(context, object, part, signal)
      if (outcome.waitsFor !== undefined) return outcome
      this.#failures.delete(object, part)
      if (outcome.isScanned === true) this.#ended('Scanned')
      return outcome
    } catch (error) {
      if (signal.aborted) throw error
      if (error instanceof ScanError) return this.#failed(object, part, error)
      this.#failures.addInterrupted(object, part, explained(error))
      throw error
    } finally {
      this.#scanning.delete(key)
    }
  }

  #failed(object: StoredObject, part: ScanPart, { reason, message }: ScanError): Reconciled {
    if (reason === 'NothingRecognised') {
      this.#ended(reason)
      return {}
    }
    this.#total.inc({ result: reason })
    const { key, count, afterMs } = this.#failures.add(object, part, message)
    this.#options.log.warn({ key, reason, failures: count, error: message }, 'scan failed')
    return { afterMs }
  }

  #ended(result: 'Scanned' | 'NothingRecognised'): void {
    this.done += 1
    this.#total.inc({ result })
  }
}

/** In another order each time, so that two scanners that begin together share the work. */
const shuffled = (keys: readonly string[]): string[] =>
  keys
    .map((key) => ({ key, at: Math.random() }))
    .toSorted((a, b) => a.at - b.at)
    .map(({ key }) => key)

/** The wait that ends first. */
function sooner(
  { afterMs: one = Infinity }: Reconciled,
  { afterMs: other = Infinity }: Reconciled,
) {
  const afterMs = Math.min(one, other)
  return Number.isFinite(afterMs) ? { afterMs } : {}
}

type Status = NonNullable<Version['status']>

interface PolicyContext {
  readonly objects: Objects
  readonly clock: Clock
  readonly scansProviders: boolean
  /** The policy of the installation, which others can only make stricter. */
  readonly defaultPolicy?: ScanPolicy | undefined
}

/**
 * Quarantines a Version, or lifts that, as its policy and its findings say.
 *
 * @returns when to decide again
 */
async function enforcePolicy(
  context: PolicyContext,
  { namespace, name }: StoredObject['metadata'],
): Promise<Reconciled> {
  const { objects, clock, defaultPolicy } = context
  const object = objects.get('Version', namespace, name)
  if (object === undefined) return {}
  const version = resourceOf('Version', object)
  const sha256 = digestOf(version) ?? version.status?.scan?.sha256
  if (sha256 === undefined) return {}
  const own = scanPolicyOf(version, parentOfVersion(context, version))
  // Without scans, a Version has no verdict: nothing would ever lift it.
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
