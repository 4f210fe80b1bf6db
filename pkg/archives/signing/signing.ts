/**
 * Signs lists of checksums with GPG: generates, checks and loads a signing key, and reloads it when its file changes. The lists
 * are composed in pkg/registry/protocol; signatures of upstreams are verified in pkg/fill/sources.
 */

export { generateSigningKey } from './generate.ts'
export { checkSigningKey, loadSigner } from './load.ts'
export type { Signer } from './signer.ts'
export type { PublicKey } from './signing-key.ts'
