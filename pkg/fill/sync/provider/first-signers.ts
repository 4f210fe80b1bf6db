import type { StoredObject } from '../../../records/store/store.ts'

interface SeenKeys {
  readonly signingKey?: string
  readonly release?: { readonly keyFingerprint?: string }
  readonly artifact?: { readonly storedAt?: string }
}

/**
 * The key that signed the first version of each provider. Its status has it once a version is stored; until then it is
 * remembered here, so that two versions at once cannot bring two first keys.
 */
export class FirstSigners {
  readonly #firsts = new Map<string, string>()

  /**
   * The first signer of a provider, which this one becomes where there is none yet.
   *
   * @param versions the Versions of the provider
   */
  of(provider: StoredObject, versions: readonly StoredObject[], fingerprint: string): string {
    const { uid } = provider.metadata
    const known =
      (provider.status as SeenKeys | undefined)?.signingKey ??
      firstStored(versions) ??
      this.#firsts.get(uid)
    if (known === undefined) this.#firsts.set(uid, fingerprint)
    return known ?? fingerprint
  }
}

/** The key of the Version that was stored first. */
export function firstStored(versions: readonly StoredObject[]): string | undefined {
  let first: { readonly at: string; readonly key: string } | undefined
  for (const { status } of versions) {
    const { release, artifact } = (status ?? {}) as SeenKeys
    const [key, at] = [release?.keyFingerprint, artifact?.storedAt]
    if (key === undefined || at === undefined) continue
    if (first === undefined || at < first.at) first = { at, key }
  }
  return first?.key
}
