import type { ProviderRelease } from '../../sources/sources.ts'
import type { Context } from '../context.ts'
import { mistake } from '../failure.ts'
import type { ProviderPlan } from './plan.ts'

/**
 * Whether the key that signed a release may sign it: one of those that are trusted, else the one that signed the first
 * version of the provider.
 *
 * @throws Failure SigningKeyChanged, saying what to add to accept the key
 */
export function checkKeyTrust(
  { objects, signers }: Context,
  { config, parent }: ProviderPlan,
  { signer }: ProviderRelease,
): void {
  if (signer === undefined || signer.trusted) return
  const { fingerprint } = signer
  if ((config.trustedKeys ?? []).length > 0) {
    throw mistake(
      'SigningKeyChanged',
      `signed by ${fingerprint}, which is not in trustedKeys: add it there to accept it`,
    )
  }
  if (parent === undefined || config.keyPolicy === 'Follow') return
  const siblings = objects.list('Version', {
    namespace: parent.metadata.namespace,
    ownerUid: parent.metadata.uid,
  })
  const first = signers.of(parent, siblings, fingerprint)
  if (first === fingerprint) return
  throw mistake(
    'SigningKeyChanged',
    `signed by ${fingerprint}, the first version by ${first}: add both to trustedKeys to accept it, or set keyPolicy: Follow`,
  )
}
