import type { StoredRef } from '../../../records/store/store.ts'
import { keyOf } from '../context.ts'

/** The Versions that wait for other platforms of their release. */
export class AwaitedReleases {
  readonly #waiting = new Map<string, Map<string, StoredRef>>()
  /** The release for which a Version waits. */
  readonly #releases = new Map<string, string>()

  /** @param release a version of a provider */
  wait(release: string, ref: StoredRef): void {
    const key = keyOf(ref)
    this.end(key)
    this.#releases.set(key, release)
    const waiting = this.#waiting.get(release) ?? new Map<string, StoredRef>()
    this.#waiting.set(release, waiting.set(key, ref))
  }

  /** Forgets a Version that does not wait any more. */
  end(key: string): void {
    const release = this.#releases.get(key) ?? ''
    this.#releases.delete(key)
    const waiting = this.#waiting.get(release)
    waiting?.delete(key)
    if (waiting?.size === 0) this.#waiting.delete(release)
  }

  /** Takes those that wait for other platforms of a release. */
  take(release: string): readonly StoredRef[] {
    const refs = [...(this.#waiting.get(release)?.values() ?? [])]
    for (const ref of refs) this.end(keyOf(ref))
    return refs
  }
}
