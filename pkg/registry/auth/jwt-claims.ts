import { type Fields, fieldsOf } from './fields.ts'

/** What a JWT says of itself, before anybody checked its signature. */
export interface UncheckedClaims {
  /** Undefined unless it is text. */
  readonly issuer: string | undefined
}

/** Reads a token as far as anybody can; undefined where it is no signed JWT (RFC 7519). */
export function readUnchecked(token: string): UncheckedClaims | undefined {
  const [header, payload, signature, ...rest] = token.split('.')
  if (!header || !payload || !signature || rest.length > 0) return undefined
  const claims = objectOf(payload)
  if (claims === undefined || objectOf(header) === undefined) return undefined
  const { iss } = claims
  return { issuer: typeof iss === 'string' ? iss : undefined }
}

/** When a token claims to be issued, in milliseconds since 1970; undefined where it does not say so. */
export function issuedAtMs(token: string): number | undefined {
  const [, payload = ''] = token.split('.')
  const iat = objectOf(payload)?.['iat']
  return typeof iat === 'number' ? iat * 1000 : undefined
}

function objectOf(part: string): Fields | undefined {
  if (!/^[\w-]+$/.test(part)) return undefined
  try {
    return fieldsOf(JSON.parse(Buffer.from(part, 'base64url').toString()))
  } catch {
    return undefined
  }
}
