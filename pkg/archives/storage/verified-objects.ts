import { Bounded } from '../../base/memory/memory.ts'
import { type ObjectInfo, settledAfterMs } from './driver.ts'

/** Digests of objects that this process has read completely, by fingerprint. */
export class VerifiedObjects {
  readonly #digests: Bounded<string>

  /** @param maxEntries how many objects to remember, about 200 bytes each */
  constructor(maxEntries: number) {
    this.#digests = new Bounded({ maxEntries })
  }

  /** @param openedAtMs when it was opened. A file that changed shortly before is not remembered. */
  remember({ fingerprint, changedAtMs }: ObjectInfo, sha256: string, openedAtMs: number): void {
    if (fingerprint === undefined) return
    if (changedAtMs !== undefined && openedAtMs - changedAtMs < settledAfterMs) return
    this.#digests.set(fingerprint, sha256)
  }

  has({ fingerprint }: ObjectInfo, sha256: string): boolean {
    return fingerprint !== undefined && this.#digests.get(fingerprint) === sha256
  }
}
