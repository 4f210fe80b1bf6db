import { type ObjectInfo, settledAfterMs } from './driver.ts'

/** Digests of objects that this process has read from end to end; the one used least recently is forgotten first. */
export class VerifiedObjects {
  readonly #digests = new Map<string, string>()
  readonly #limit: number

  /** @param limit how many objects to remember, about 200 bytes each */
  constructor(limit: number) {
    this.#limit = limit
  }

  /** @param openedAtMs when it was opened to be read; a file that changed shortly before is not remembered */
  remember({ fingerprint, changedAtMs }: ObjectInfo, sha256: string, openedAtMs: number): void {
    if (fingerprint === undefined) return
    if (changedAtMs !== undefined && openedAtMs - changedAtMs < settledAfterMs) return
    this.#digests.delete(fingerprint)
    this.#digests.set(fingerprint, sha256)
    if (this.#digests.size <= this.#limit) return
    for (const oldest of this.#digests.keys()) {
      this.#digests.delete(oldest)
      break
    }
  }

  has({ fingerprint }: ObjectInfo, sha256: string): boolean {
    if (fingerprint === undefined || this.#digests.get(fingerprint) !== sha256) return false
    this.#digests.delete(fingerprint)
    this.#digests.set(fingerprint, sha256)
    return true
  }
}
