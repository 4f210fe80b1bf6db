import { msOf } from '../sync/sync.ts'
import type { ScannerIdentity, ScanTarget } from './scanner.ts'

interface SeenDatabase {
  readonly database: string
  /** When an older one than before was put back; undefined if that never happened. */
  readonly putBackMs: number | undefined
}

/** The databases that a scanner has had, to tell whether a person put an older one back. */
export class Databases {
  readonly #seen = new Map<ScanTarget, SeenDatabase>()

  note({ databases }: ScannerIdentity, nowMs: number): void {
    for (const [target, database] of Object.entries(databases) as [ScanTarget, string?][]) {
      if (database === undefined) continue
      const known = this.#seen.get(target)
      const putBackMs = isNewer(known?.database, database) ? nowMs : known?.putBackMs
      this.#seen.set(target, { database, putBackMs })
    }
  }

  /** Whether a scan of another process had a newer database, so that one with an own database would lose findings. */
  keeps(
    target: ScanTarget,
    last: { readonly database: string | undefined; readonly atMs: number },
    own: string | undefined,
  ): boolean {
    const putBackMs = this.#seen.get(target)?.putBackMs ?? 0
    return own !== undefined && isNewer(last.database, own) && last.atMs >= putBackMs
  }
}

/** Databases of Trivy are named by the time when they were made. */
function isNewer(one: string | undefined, other: string): boolean {
  return (timeIn(one) ?? 0) > (timeIn(other) ?? Infinity)
}

const timeIn = (database: string | undefined): number | undefined =>
  /^\d{4}-\d\d-\d\dT/.test(database ?? '') ? msOf(database) : undefined
