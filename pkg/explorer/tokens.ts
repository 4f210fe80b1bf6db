import type { TokenEndpointResponse, TokenEndpointResponseHelpers } from 'openid-client'
import type { Session } from './session.ts'

type Tokens = TokenEndpointResponse & TokenEndpointResponseHelpers

/**
 * What a session keeps of the tokens that the issuer gave: not the access token, which is not used.
 *
 * @param signedInAt milliseconds since 1970
 * @param before of the session that is refreshed: what the issuer does not give again stays
 */
export function sessionOf(tokens: Tokens, signedInAt: number, before?: Session): Session {
  const claims = tokens.claims()
  return {
    idToken: tokens.id_token ?? before?.idToken,
    refreshToken: tokens.refresh_token ?? before?.refreshToken,
    expiresAt: claims === undefined ? before?.expiresAt : claims.exp * 1000,
    devToken: before?.devToken,
    signedInAt,
  }
}
