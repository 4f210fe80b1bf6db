import type { ProviderConfig } from '../../../api/v1alpha1/v1alpha1.ts'
import type { StoredObject } from '../../../records/store/store.ts'
import { FillError, type ProviderRelease } from '../../sources/sources.ts'
import type { Context } from '../context.ts'
import { ownedBy } from '../parent/children.ts'

/**
 * Requires that the key that signed a release is trusted: it is in trustedKeys, or it signed the first version of the
 * provider.
 *
 * @param version the key of the Version in work
 * @throws FillError SigningKeyChanged, with the change that accepts the key
 */
export function requireTrust(
  context: Context,
  { trustedKeys = [], keyPolicy }: Partial<ProviderConfig>,
  parent: StoredObject | undefined,
  { signer }: ProviderRelease,
  version: string,
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
  const first = context.signers.of(parent, ownedBy(context, parent), fingerprint, version)
  if (first === fingerprint) return
  throw new FillError(
    'SigningKeyChanged',
    `signed by ${fingerprint}, the first version by ${first}: add both to trustedKeys to accept it, or set keyPolicy: Follow`,
  )
}
