import type { StorageConfig } from '../../api/v1alpha1/v1alpha1.ts'
import { byAge, isOlder } from './collections.ts'
import { digestOf } from './resource-row.ts'
import { VersionRow } from './version-row.ts'

/** Versions by the digest of their archive. Most digests have one Version, so only others need a set. */
export class VersionsByDigest {
  readonly #rows = new Map<string, VersionRow | Set<VersionRow>>()

  /**
   * The Versions with a digest, the oldest first, one for each storage.
   *
   * @param sha256 hexadecimal
   */
  oldest(
    sha256: string,
    isMeant: (row: VersionRow) => boolean,
    limit: number,
  ): readonly VersionRow[] {
    const oldest = new Map<StorageConfig | undefined, VersionRow>()
    const found = this.#rows.get(digestOf(sha256) ?? '') ?? []
    for (const row of found instanceof VersionRow ? [found] : found) {
      const storage = row.location?.storage
      const known = oldest.get(storage)
      if ((known === undefined || isOlder(row, known)) && isMeant(row)) oldest.set(storage, row)
    }
    return [...oldest.values()].toSorted(byAge).slice(0, limit)
  }

  add(row: VersionRow): void {
    if (row.digest === undefined) return
    const other = this.#rows.get(row.digest)
    if (other === undefined) this.#rows.set(row.digest, row)
    else if (other instanceof Set) other.add(row)
    else this.#rows.set(row.digest, new Set([other, row]))
  }

  delete(row: VersionRow): void {
    if (row.digest === undefined) return
    const found = this.#rows.get(row.digest)
    if (found instanceof Set && found.size > 1) found.delete(row)
    else this.#rows.delete(row.digest)
  }
}
