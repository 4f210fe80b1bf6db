export { generateSigningKey } from './generate.ts'
export { checkSigningKey, loadSigner } from './load.ts'
export type { Signer } from './signer.ts'
export type { PublicKey } from './signing-key.ts'
