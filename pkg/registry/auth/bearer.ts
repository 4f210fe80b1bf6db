import { decodeJwt, decodeProtectedHeader, type JWTPayload } from 'jose'
import { Refusal } from './refusal.ts'

/** Limit of the header: most proxies refuse longer ones, and checking them costs too much. */
const maxHeaderCharacters = 48 * 1024

/**
 * Credentials after the scheme of the Authorization header, without blanks around them: one token has one spelling.
 * Undefined if the scheme is different or the header is too long; `refusedHeader` says which.
 */
export function presentedIn(header: string): string | undefined {
  if (header.length > maxHeaderCharacters || !hasScheme(header)) return undefined
  let [start, end] = [6, header.length]
  while (header[start] === ' ') start += 1
  while (end > start && header[end - 1] === ' ') end -= 1
  return header.slice(start, end)
}

export function refusedHeader(header: string): Refusal {
  return new Refusal(
    'MalformedCredentials',
    hasScheme(header)
      ? `the Authorization header has ${header.length} characters, and ${maxHeaderCharacters} are allowed: ask for a token with fewer claims`
      : 'the Authorization header is not of the scheme Bearer: send "Authorization: Bearer TOKEN"',
  )
}

function hasScheme(header: string): boolean {
  if (header.length > 6 && header[6] !== ' ') return false
  return header.startsWith('Bearer') || header.slice(0, 6).toLowerCase() === 'bearer'
}

/**
 * Checks that this can be a token (RFC 6750, section 2.1).
 *
 * @param presented may be several headers joined by commas. That is refused, because a proxy may have checked another one.
 * @throws Refusal
 */
export function checkToken(presented: string): void {
  if (/^[\w.~+/-]+=*$/.test(presented)) return
  throw new Refusal(
    'MalformedCredentials',
    presented.includes(',')
      ? 'there is more than one Authorization header: send one, "Authorization: Bearer TOKEN"'
      : 'the Authorization header has no token of the usual characters: send "Authorization: Bearer TOKEN"',
  )
}

/**
 * Checks that the signature of a JWT is spelled canonically (RFC 7515, section 2): many texts decode to one signature, and
 * each of them would count as a different token.
 *
 * @throws Refusal
 */
export function checkSpelling(token: string): void {
  const signature = token.slice(token.lastIndexOf('.') + 1)
  if (Buffer.from(signature, 'base64url').toString('base64url') === signature) return
  throw new Refusal(
    'MalformedCredentials',
    'the signature of the token is not spelled as an issuer does, in base64url without padding: send the token as it was issued',
  )
}

/** The claims of a signed JWT before its signature is verified; undefined if the token is not one (RFC 7519). */
export function unverifiedClaims(token: string): JWTPayload | undefined {
  if (token.endsWith('.')) return undefined
  try {
    decodeProtectedHeader(token)
    return decodeJwt(token)
  } catch {
    return undefined
  }
}
