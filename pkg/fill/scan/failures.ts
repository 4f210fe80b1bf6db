import { isDeepStrictEqual } from 'node:util'
import type { Version } from '../../api/v1alpha1/v1alpha1.ts'
import type { Clock } from '../../base/pacing/pacing.ts'
import type { StoredObject } from '../../records/store/store.ts'
import { keyOf } from '../sync/sync.ts'
import type { ScanPart } from './part.ts'

interface Failure {
  readonly message: string
  /** Number of failures in a row. */
  readonly count: number
  readonly generation: number
  /** The files of the Version, and when they were seen in storage. */
  readonly stored: string
  readonly againMs: number
}

/** First wait after a failed scan. It doubles up to the time between two scans. */
const firstRetryMs = 5 * 60_000

/** Files whose last scan failed, and when each is scanned again. */
export class Failures {
  readonly #rescanMs: number
  readonly #clock: Clock
  readonly #failures = new Map<string, Failure>()

  constructor({ rescanMs, clock }: { readonly rescanMs: number; readonly clock: Clock }) {
    this.#rescanMs = rescanMs
    this.#clock = clock
  }

  /** Failures by Version, such as `platform/vpc-1-2-0`, in order. */
  list(): { readonly key: string; readonly message: string }[] {
    return Array.from(this.#failures, ([key, { message }]) => ({ key, message })).toSorted(
      (a, b) => (a.key < b.key ? -1 : 1),
    )
  }

  /** How long a file has to wait after its last failure; 0 if it does not. Another spec or file is tried at once. */
  waitMs(object: StoredObject, part: ScanPart): number {
    const known = this.#failures.get(keyFor(object, part))
    if (known === undefined || !isSame(known, object)) return 0
    const waitMs = known.againMs - this.#clock()
    // A longer wait is due to a clock that was wrong.
    return waitMs > 0 && waitMs <= this.#rescanMs ? waitMs : 0
  }

  /** Notes that a scan failed. @returns the number of failures in a row, and the wait after the last one */
  add(object: StoredObject, part: ScanPart, message: string) {
    const key = keyFor(object, part)
    const known = this.#failures.get(key)
    const count = (known !== undefined && isSame(known, object) ? known.count : 0) + 1
    const afterMs = Math.min(this.#rescanMs, firstRetryMs * 2 ** Math.min(count - 1, 20))
    const againMs = this.#clock() + afterMs
    this.#failures.set(key, { message, count, againMs, ...taskOf(object) })
    return { key, count, afterMs }
  }

  /** Notes that a file could not be scanned, such as for a storage that is unreachable: it has the waits of the queue. */
  addInterrupted(object: StoredObject, part: ScanPart, message: string): void {
    this.#failures.set(keyFor(object, part), { message, count: 0, againMs: 0, ...taskOf(object) })
  }

  delete(object: StoredObject, part: ScanPart): void {
    this.#failures.delete(keyFor(object, part))
  }

  /** Forgets all failures of a Version. @param key such as `platform/vpc-1-2-0` */
  forget(key: string): void {
    this.#failures.delete(key)
    this.#failures.delete(sourceKey(key))
  }

  clear(): void {
    this.#failures.clear()
  }
}

function keyFor({ metadata }: StoredObject, { condition }: ScanPart): string {
  const key = keyOf(metadata)
  return condition === 'Scanned' ? key : sourceKey(key)
}

const sourceKey = (key: string): string => `${key} (source)`

function taskOf({ metadata, status }: StoredObject) {
  const { checksum, artifact } = (status ?? {}) as NonNullable<Version['status']>
  // A lost file may be stored again.
  const stored = [checksum, artifact?.source?.sha256, artifact?.storedAt, artifact?.verifiedAt]
  return { generation: metadata.generation, stored: stored.join(' ') }
}

function isSame({ generation, stored }: Failure, object: StoredObject): boolean {
  return isDeepStrictEqual({ generation, stored }, taskOf(object))
}
