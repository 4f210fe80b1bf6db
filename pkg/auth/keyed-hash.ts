import { hash, randomBytes } from 'node:crypto'

/**
 * Names what must not be kept or shown. The key lives and dies with the process, so that it cannot be found out what was hashed
 * by trying. The digests are no signatures: that a hashed text could be extended is of no use here, and a plain hash
 * costs a quarter of an HMAC, at every request.
 *
 * @returns a function to 43 characters of base64url
 */
export function createKeyedHash(
  key: string = randomBytes(32).toString('base64url'),
): (text: string) => string {
  return (text) => hash('sha256', key + text, 'base64url')
}
