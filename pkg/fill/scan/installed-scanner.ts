import { isDeepStrictEqual } from 'node:util'
import { messageOf } from '../../base/errors/errors.ts'
import { type Clock, Loop } from '../../base/pacing/pacing.ts'
import { gauge, type Logger, type Metrics } from '../../base/telemetry/telemetry.ts'
import { msOf } from '../sync/sync.ts'
import { Databases } from './databases.ts'
import type { ArchiveScanner, ScannerIdentity } from './scanner.ts'

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
