import { X509Certificate } from 'node:crypto'
import type { Credentials } from './credentials.ts'

/** Identity of a caller as far as its credentials tell, for log lines. */
export function identityOf({ headers, tls }: Credentials): string {
  const claims = headers['Authorization']?.split('.')[1]
  try {
    if (claims !== undefined) {
      const { sub } = JSON.parse(Buffer.from(claims, 'base64url').toString()) as { sub?: unknown }
      if (typeof sub === 'string') return sub
    }
    if (headers['Authorization'] === undefined && tls.cert !== undefined) {
      const { subject } = new X509Certificate(tls.cert as Buffer)
      return /CN=(.*)/.exec(subject)?.[1] ?? subject
    }
  } catch {
    // Neither a JWT nor a certificate that can be read: the API server's own words have to do.
  }
  return headers['Authorization'] === undefined ? 'anonymous' : 'the bearer of the token'
}
