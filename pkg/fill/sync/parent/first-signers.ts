import type { StoredObject } from '../../../records/store/store.ts'

interface SignerFields {
  readonly signingKey?: string
  readonly release?: { readonly keyFingerprint?: string }
  readonly artifact?: { readonly storedAt?: string }
}

/**
 * The key that signed the first version of each provider. The status names it once a version is stored; until then this
 * memory prevents two concurrent versions from becoming first with different keys.
 */
export class FirstSigners {
  readonly #firsts = new Map<string, string>()

  /**
   * Returns the first signer of a provider; the given key becomes the first signer if there is none.
   *
   * @param versions the Versions of the provider
   */
  of(provider: StoredObject, versions: readonly StoredObject[], fingerprint: string): string {
    const { uid } = provider.metadata
    const known = firstSigner(provider, versions) ?? this.#firsts.get(uid)
    if (known === undefined) this.#firsts.set(uid, fingerprint)
    return known ?? fingerprint
  }
}

/** The key that the status of a provider names, otherwise the key of the Version that was stored first. */
export function firstSigner(
  provider: StoredObject,
  versions: readonly StoredObject[],
): string | undefined {
  const { signingKey } = (provider.status ?? {}) as SignerFields
  if (signingKey !== undefined) return signingKey
  let first: { readonly at: string; readonly key: string } | undefined
  for (const { status } of versions) {
    const { release, artifact } = (status ?? {}) as SignerFields
    const [key, at] = [release?.keyFingerprint, artifact?.storedAt]
    if (key === undefined || at === undefined) continue
    if (first === undefined || at < first.at) first = { at, key }
  }
  return first?.key
}
