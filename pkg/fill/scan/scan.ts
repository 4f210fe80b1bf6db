/**
 * Scans the archives of Versions with a program of the operator's choice, and writes what it finds into their statuses. The
 * program is untrusted: it gets a copy of the archive, and its output is checked. A scan that failed never looks clean.
 */

import { mkdir } from 'node:fs/promises'
import { isDeepStrictEqual } from 'node:util'
import type { ScanPolicy, Version } from '../../api/v1alpha1/v1alpha1.ts'
import { messageOf } from '../../base/errors/errors.ts'
import { SharedResults } from '../../base/memory/memory.ts'
import { type Clock, Loop } from '../../base/pacing/pacing.ts'
import { counter, gauge, type Logger, type Metrics } from '../../base/telemetry/telemetry.ts'
import type { StoredObject } from '../../records/store/store.ts'
import { explained } from '../egress/egress.ts'
import { Queue, type Reconciled } from '../queue/queue.ts'
import { keyOf, msOf } from '../sync/sync.ts'
import { Databases } from './databases.ts'
import { partsOf, type ScanPart } from './part.ts'
import { type ArchiveScanning, emptyFolder } from './scan-archive.ts'
import { ScanError } from './scan-error.ts'
import { enforcePolicy, type ScanContext, type ScanResult, scanVersion } from './scan-version.ts'
import type { ScannerIdentity } from './scanner.ts'
import { endStrays, isolation } from './scanner-process.ts'

export { execScanner } from './exec-scanner.ts'
export { trivyScanner } from './trivy-scanner.ts'

export interface ScanOptions extends ArchiveScanning {
  /** Maximum number of scans at a time. */
  readonly slots: number
  /** Least time between two scans of the same archive. */
  readonly rescanMs: number
  /** The policy of the installation, which others can only make stricter. Default: none. */
  readonly defaultPolicy?: ScanPolicy | undefined
  readonly log: Logger
  readonly metrics: Metrics
  readonly clock: Clock
}

interface Failure {
  readonly message: string
  /** Number of failures in a row. */
  readonly count: number
  readonly generation: number
  /** The files of the Version, and when they were seen in storage. */
  readonly stored: string
  readonly againMs: number
}

export interface Scans {
  /** Resolves when nothing has to be scanned now. */
  idle(): Promise<void>
  /** Number of scans with a result since the start. */
  readonly done: number
  /** Versions whose last scan failed, such as `platform/vpc-1-2-0`, with the reason. */
  failures(): { readonly key: string; readonly message: string }[]
  /** Ends running scans. */
  stop(): Promise<void>
}

/** First wait after a failed scan. It doubles up to the time between two scans. */
const firstRetryMs = 5 * 60_000
/** How often to look for a new scanner or database. */
const identityMs = 60_000

/** Scans what needs a scan until it is stopped. @throws an error of the file system if the work folder cannot be used */
export async function startScans(options: ScanOptions): Promise<Scans> {
  const { objects, log, metrics, slots, rescanMs, workDir, scanner, clock } = options
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
  const total = counter(metrics, {
    name: 'scans_total',
    help: 'Scans of archives that ended.',
    labels: ['result'],
  })
  let databaseMs: number | undefined
  gauge(metrics, {
    name: 'scan_database_timestamp_seconds',
    help: 'When the vulnerability database of the scanner was made; none without one.',
    collect: (time) => (databaseMs === undefined ? time.remove() : time.set(databaseMs / 1000)),
  })
  const failures = new Map<string, Failure>()
  const scanning = new Set<string>()
  const take = (key: string): boolean => {
    if (!scanning.has(key) && scanning.size >= slots) return false
    scanning.add(key)
    return true
  }
  const lastScans: ScanContext['lastScans'] = { scan: new Map(), dependencyScan: new Map() }
  const databases = new Databases()
  const common = {
    ...options,
    clock,
    databases,
    lastScans,
    shared: new SharedResults<ScanResult>({ maxEntries: 20, clock }),
  }
  const identify = async (): Promise<ScannerIdentity> => {
    const found = await scanner.identity()
    databaseMs = msOf(found.databases.binary)
    databases.note(found, clock())
    return found
  }
  let identity = identify()
  let done = 0

  async function reconcile(key: string, signal: AbortSignal): Promise<Reconciled> {
    try {
      return await look(key, signal)
    } finally {
      // It waited for a slot, and needs no scan any more.
      scanning.delete(key)
    }
  }

  async function look(key: string, signal: AbortSignal): Promise<Reconciled> {
    const [namespace = '', name = ''] = key.split('/')
    const object = objects.get('Version', namespace, name)
    if (object === undefined || object.metadata.deletionTimestamp !== undefined) {
      for (const condition of ['Scanned', 'SourceScanned'] as const) {
        failures.delete(failureKey(key, condition))
      }
      return {}
    }
    const context: ScanContext = {
      ...common,
      identity: () => identity,
      takeSlot: () => take(key),
    }
    const scanAll = async () => {
      let outcome: Reconciled = {}
      for (const part of partsOf((object.spec as Version['spec']).type)) {
        const one = await scan(context, key, object, part, signal)
        if (one.waitsFor !== undefined) return one
        outcome = sooner(outcome, one)
      }
      return outcome
    }
    const [scanned] = await Promise.allSettled([scanAll()])
    // What is known counts, even if a scan failed because the storage is unreachable.
    const enforced = signal.aborted ? {} : await enforcePolicy(context, object.metadata)
    if (scanned.status === 'rejected') throw scanned.reason
    return scanned.value.waitsFor === undefined ? sooner(scanned.value, enforced) : scanned.value
  }

  async function scan(
    context: ScanContext,
    key: string,
    object: StoredObject,
    part: ScanPart,
    signal: AbortSignal,
  ): Promise<Reconciled> {
    const failing = failureKey(key, part.condition)
    const earlier = failures.get(failing)
    const waitMs = (earlier?.againMs ?? 0) - clock()
    // A longer wait is due to a clock that was wrong.
    const isWaiting = waitMs > 0 && waitMs <= rescanMs
    if (earlier !== undefined && isWaiting && isSame(earlier, object)) return { afterMs: waitMs }
    try {
      const outcome = await scanVersion(context, object, part, signal)
      if (outcome.waitsFor !== undefined) return outcome
      failures.delete(failing)
      if (outcome.isScanned === true) {
        done += 1
        total.inc({ result: 'Scanned' })
      }
      return outcome
    } catch (error) {
      if (signal.aborted) throw error
      if (error instanceof ScanError) return failed(failing, object, error, earlier)
      // Such as a storage that is unreachable: it has the waits of the queue.
      failures.set(failing, { message: explained(error), count: 0, againMs: 0, ...taskOf(object) })
      throw error
    } finally {
      scanning.delete(key)
    }
  }

  function failed(
    key: string,
    object: StoredObject,
    error: ScanError,
    earlier: Failure | undefined,
  ): Reconciled {
    const { reason, message } = error
    total.inc({ result: reason })
    if (reason === 'NothingRecognised') {
      done += 1
      return {}
    }
    const count = (earlier !== undefined && isSame(earlier, object) ? earlier.count : 0) + 1
    const afterMs = Math.min(rescanMs, firstRetryMs * 2 ** Math.min(count - 1, 20))
    failures.set(key, { message, count, againMs: clock() + afterMs, ...taskOf(object) })
    log.warn({ key, reason, failures: count, error: message }, 'scan failed')
    return { afterMs }
  }

  const queue = new Queue({
    kind: 'Scan',
    workers: slots,
    acquire: (_, key) => take(key),
    reconcile,
    log,
    metrics,
  })
  const addAll = (priority: 'listing' | 'poll') => {
    for (const key of shuffled(objects.list('Version').map(({ metadata }) => keyOf(metadata)))) {
      queue.add(key, priority)
    }
  }
  const looking = new Loop(async () => {
    const before = await identity.catch(() => undefined)
    const now = identify()
    const after = await now.catch((error: unknown) => {
      if (before !== undefined) log.warn({ error: messageOf(error) }, 'the scanner cannot be used')
      return undefined
    })
    identity = now
    if (!isDeepStrictEqual(before, after)) {
      failures.clear()
      if (after !== undefined) log.info({ ...after }, 'the scanner or its database changed')
      addAll('poll')
    }
    return identityMs
  })
  const forget = objects.onChange(({ kind, namespace, name }, before, after) => {
    if (kind === 'Version') queue.add(keyOf({ namespace, name }), 'user')
    if (after === undefined) {
      for (const known of Object.values(lastScans)) known.delete(before?.metadata.uid ?? '')
    }
    if (kind === 'Version' || before?.metadata.generation === after?.metadata.generation) return
    // Its policy may be another one. Versions without an owner may have it too.
    for (const ownerUid of [(after ?? before)?.metadata.uid ?? '', '']) {
      const versions = objects.list('Version', { namespace, ownerUid })
      for (const { metadata } of versions) queue.add(keyOf(metadata), 'poll')
    }
  })
  await identity.catch(() => undefined)
  looking.schedule(identityMs)
  addAll('listing')
  queue.start()
  return {
    idle: () => queue.idle(),
    get done() {
      return done
    },
    failures: () =>
      [...failures]
        .map(([key, { message }]) => ({ key, message }))
        .toSorted((a, b) => (a.key < b.key ? -1 : 1)),
    stop: async () => {
      forget()
      await looking.close()
      await queue.stop()
      await emptyFolder(workDir)
    },
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

/** Such as `platform/random-1-0-0-linux-amd64`. */
const failureKey = (key: string, condition: ScanPart['condition']): string =>
  condition === 'Scanned' ? key : `${key} (source)`

/** The subject of a failure: another spec or file is tried at once. */
function taskOf({ metadata, status }: StoredObject) {
  const { checksum, artifact } = (status ?? {}) as NonNullable<Version['status']>
  // A lost file may be stored again.
  const stored = [checksum, artifact?.source?.sha256, artifact?.storedAt, artifact?.verifiedAt]
  return { generation: metadata.generation, stored: stored.join(' ') }
}

function isSame({ generation, stored }: Failure, object: StoredObject): boolean {
  return isDeepStrictEqual({ generation, stored }, taskOf(object))
}
