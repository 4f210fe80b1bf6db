/** Trust in the keys that sign providers: those that a config names, otherwise the one that signed the first version. */

import type { ProviderConfig } from '../../../api/v1alpha1/v1alpha1.ts'
import type { Objects, StoredObject } from '../../../records/store/store.ts'
import { FillError, type ProviderRelease } from '../../sources/sources.ts'
import { ownedBy } from './versions.ts'

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
  /** By provider: the key, and the Versions in work that it signed. */
  readonly #firsts = new Map<string, { readonly key: string; readonly inWork: Set<string> }>()

  /**
   * Returns the first signer of a provider; the given key becomes the first signer if there is none.
   *
   * @param versions the Versions of the provider
   * @param version the one in work
   */
  of(
    provider: StoredObject,
    versions: readonly StoredObject[],
    fingerprint: string,
    version: string,
  ): string {
    const known = firstSigner(provider, versions)
    if (known !== undefined) return known
    const { uid } = provider.metadata
    const first = this.#firsts.get(uid) ?? { key: fingerprint, inWork: new Set() }
    this.#firsts.set(uid, first)
    if (first.key === fingerprint) first.inWork.add(version)
    return first.key
  }

  /** Forgets a key once no Version that it signed is in work: what was not stored may have been damaged or forged. */
  ended(version: string): void {
    for (const [uid, { inWork }] of this.#firsts) {
      if (inWork.delete(version) && inWork.size === 0) this.#firsts.delete(uid)
    }
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

/**
 * Requires that the key that signed a release is trusted: it is in trustedKeys, or it signed the first version of the
 * provider.
 *
 * @param version the key of the Version in work
 * @throws FillError SigningKeyChanged, with the change that accepts the key
 */
export function requireTrust(
  { objects, signers }: { readonly objects: Pick<Objects, 'list'>; readonly signers: FirstSigners },
  { trustedKeys = [], keyPolicy }: Partial<ProviderConfig>,
  { signer }: Pick<ProviderRelease, 'signer'>,
  { parent, version }: { readonly parent: StoredObject | undefined; readonly version: string },
): void {
  if (signer === undefined || signer.trusted) return
  const { fingerprint } = signer
  if (trustedKeys.length > 0) {
    throw new FillError(
      'SigningKeyChanged',
      `signed by ${fingerprint}, which is not in trustedKeys: add it there to accept it`,
    )
  }
  if (parent === undefined || keyPolicy === 'Follow') return
  const first = signers.of(parent, ownedBy({ objects }, parent), fingerprint, version)
  if (first === fingerprint) return
  throw new FillError(
    'SigningKeyChanged',
    `signed by ${fingerprint}, the first version by ${first}: add both to trustedKeys to accept it, or set keyPolicy: Follow`,
  )
}
