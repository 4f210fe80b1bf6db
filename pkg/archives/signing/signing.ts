/**
 * Signs lists of checksums by GPG: makes, checks and loads a signing key, and follows its file. What is signed is composed in
 * pkg/registry/protocol; signatures of upstreams are verified in pkg/fill/sources.
 */

export { generateSigningKey } from './generate.ts'
export { checkSigningKey, loadSigner } from './load.ts'
export type { Signer } from './signer.ts'
export type { PublicKey } from './signing-key.ts'
