import { CappedMap } from '../../base/memory/memory.ts'

/** Characters of the signature that a token ends with: 256 bits, which nobody can guess. */
const endCharacters = 43
/** A CLI sends its token several times within seconds. */
const keptMs = 60_000
const maxTokens = 4096
const maxCharacters = 4096

/**
 * Hashes of verified tokens, each with its whole header, for at most a minute: to hash a token takes longer than to find it
 * by its end. The rest is compared only for a caller who knows the end, so the time of the comparison tells others nothing.
 */
export class RecentTokens {
  readonly #byEnd = new CappedMap<string, { readonly header: string; readonly hash: string }>(
    maxTokens,
  )

  hashOf(header: string): string | undefined {
    const found = this.#byEnd.get(header.slice(-endCharacters))
    return found?.header === header ? found.hash : undefined
  }

  /** @param header with a token that is signed and was verified */
  keep(header: string, hash: string): void {
    if (header.length > maxCharacters) return
    if (this.#byEnd.size === 0) setTimeout(() => this.#byEnd.clear(), keptMs).unref()
    this.#byEnd.set(header.slice(-endCharacters), { header, hash })
  }
}
