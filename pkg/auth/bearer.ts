import { Refusal } from './refusal.ts'

/** Longer ones do not fit through most proxies either, and cost too much to look at. */
const maxTokenCharacters = 48 * 1024

/**
 * The token of an Authorization header (RFC 6750, section 2.1); undefined where there is no header.
 *
 * @param header several headers joined by commas, as `fetch` does; that is refused, because somebody on the way may have
 *   looked at another one than we would
 * @throws Refusal
 */
export function bearerTokenOf(header: string | undefined): string | undefined {
  if (header === undefined) return undefined
  const space = header.indexOf(' ')
  const scheme = space === -1 ? header : header.slice(0, space)
  if (scheme.length !== 6 || scheme.toLowerCase() !== 'bearer') {
    throw new Refusal(
      'malformed',
      'the Authorization header is not of the scheme Bearer: send "Authorization: Bearer TOKEN"',
    )
  }
  if (header.length > maxTokenCharacters) {
    throw new Refusal(
      'malformed',
      `the token is longer than ${maxTokenCharacters} characters: ask for one with fewer claims`,
    )
  }
  const token = header.slice(space + 1)
  if (!/^ *[\w.~+/-]+=* *$/.test(token)) {
    throw new Refusal(
      'malformed',
      header.includes(',')
        ? 'there is more than one Authorization header: send one, "Authorization: Bearer TOKEN"'
        : 'the Authorization header has no token of the usual characters: send "Authorization: Bearer TOKEN"',
    )
  }
  return token.trim()
}
