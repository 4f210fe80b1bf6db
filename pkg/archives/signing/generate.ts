import { generateKey } from 'openpgp'

/**
 * Generates a key that can only sign: RSA with 3072 bits, which every client supports. It does not expire and has no
 * passphrase.
 *
 * @returns the private key, armored; it takes about half a second
 */
export async function generateSigningKey(owner: { name: string; email: string }): Promise<string> {
  const { privateKey } = await generateKey({
    type: 'rsa',
    rsaBits: 3072,
    userIDs: [owner],
    subkeys: [],
    format: 'armored',
  })
  return privateKey
}
