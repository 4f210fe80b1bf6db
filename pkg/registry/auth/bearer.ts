import { decodeJwt, decodeProtectedHeader, type JWTPayload } from 'jose'
import { Refusal } from './refusal.ts'

/** Longer ones do not fit through most proxies either, and cost too much to look at. */
const maxHeaderCharacters = 48 * 1024

/**
 * What stands behind the scheme of an Authorization header, without the blanks around it: one token has one spelling.
 * Undefined where the scheme is another one, or the header too long; `refusedHeader` says which.
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
 * Makes sure that this can be a token (RFC 6750, section 2.1).
 *
 * @param presented of several headers joined by commas, as `fetch` does; that is refused, because a proxy on the way may
 *   have looked at another one than we would
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
 * Makes sure that a JWT is spelled as its issuer spelled it (RFC 7515, section 2): many texts decode to one signature, and
 * each of them would count as a token of its own.
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

/** The claims of a signed JWT before its signature is verified; undefined where the token is not one (RFC 7519). */
export function unverifiedClaims(token: string): JWTPayload | undefined {
  if (token.endsWith('.')) return undefined
  try {
    decodeProtectedHeader(token)
    return decodeJwt(token)
  } catch {
    return undefined
  }
}
