import { isDeepStrictEqual } from 'node:util'
import { messageOf } from '../../base/errors/errors.ts'
import { type Clock, Loop } from '../../base/pacing/pacing.ts'
import { gauge, type Logger, type Metrics } from '../../base/telemetry/telemetry.ts'
import { msOf } from '../sync/sync.ts'
import type { ArchiveScanner, ScannerIdentity, ScanTarget } from './scanner.ts'

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

interface InstalledOptions {
  readonly scanner: ArchiveScanner
  readonly clock: Clock
  readonly log: Logger
  readonly metrics: Metrics
  /** Called when the scanner or its database has changed. */
  readonly onChange: () => void
}

/** How often to look for a new scanner or database. */
const identityMs = 60_000

/** The scanner and its database, as they are installed now. */
export class InstalledScanner {
  readonly databases = new Databases()
  readonly #options: InstalledOptions
  readonly #looking = new Loop(() => this.#look())
  #identity: Promise<ScannerIdentity>
  #databaseMs: number | undefined

  constructor(options: InstalledOptions) {
    this.#options = options
    gauge(options.metrics, {
      name: 'scan_database_timestamp_seconds',
      help: 'When the vulnerability database of the scanner was made; none without one.',
      collect: (time) =>
        this.#databaseMs === undefined ? time.remove() : time.set(this.#databaseMs / 1000),
    })
    this.#identity = this.#identify()
  }

  /** @throws ScanError if it cannot be used */
  identity(): Promise<ScannerIdentity> {
    return this.#identity
  }

  /** Follows changes. Resolves when it is known what is installed. */
  async follow(): Promise<void> {
    await this.#identity.catch(() => undefined)
    this.#looking.schedule(identityMs)
  }

  async close(): Promise<void> {
    await this.#looking.close()
  }

  async #look(): Promise<number> {
    const { log, onChange } = this.#options
    const before = await this.#identity.catch(() => undefined)
    const now = this.#identify()
    const after = await now.catch((error: unknown) => {
      if (before !== undefined) log.warn({ error: messageOf(error) }, 'the scanner cannot be used')
      return undefined
    })
    this.#identity = now
    if (isDeepStrictEqual(before, after)) return identityMs
    if (after !== undefined) log.info({ ...after }, 'the scanner or its database changed')
    onChange()
    return identityMs
  }

  async #identify(): Promise<ScannerIdentity> {
    const { scanner, clock } = this.#options
    const found = await scanner.identity()
    this.#databaseMs = msOf(found.databases.binary)
    this.databases.note(found, clock())
    return found
  }
}
