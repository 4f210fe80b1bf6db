/**
 * Signs lists of checksums with GPG: generates, checks and loads a signing key, and reloads it when its file changes.
 * pkg/registry/protocol composes the lists. pkg/fill/sources verifies signatures of upstreams.
 */

export { generateSigningKey } from './generate.ts'
export { checkSigningKey, loadSigner } from './load.ts'
export type { Signer } from './signer.ts'
export type { PublicKey } from './signing-key.ts'
